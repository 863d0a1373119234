package gate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// MaxFaults is how many faults are listed before the rest is only counted.
const MaxFaults = 20

// Fault is one way in which a value fails a schema.
type Fault struct {
	Path    string `json:"path"`    // where in the value, "$.income.net"
	Keyword string `json:"keyword"` // the schema's keyword that failed
	Message string `json:"message"`
}

// Faults is every fault of a value, sorted by path, keyword and message.
type Faults []Fault

// Error lists up to MaxFaults faults, then how many more there are.
func (fs Faults) Error() string {
	var parts []string
	for i, f := range fs {
		if i == MaxFaults {
			parts = append(parts, fmt.Sprintf("and %d more", len(fs)-MaxFaults))
			break
		}
		parts = append(parts, f.Path+": "+f.Message)
	}
	return strings.Join(parts, "; ")
}

// collect flattens the library's tree to its leaves. doc finds out which path
// steps are array indices.
func collect(v *jsonschema.ValidationError, doc any) Faults {
	var faults Faults
	printer := message.NewPrinter(language.English)
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) > 0 {
			for _, c := range e.Causes {
				walk(c)
			}
			return
		}
		keyword := ""
		if p := e.ErrorKind.KeywordPath(); len(p) > 0 {
			keyword = p[0]
		}
		faults = append(faults, Fault{jsonPath(e.InstanceLocation, doc), keyword, e.ErrorKind.LocalizedString(printer)})
	}
	walk(v)
	slices.SortFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(faults)
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func jsonPath(steps []string, doc any) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, step := range steps {
		switch parent := doc.(type) {
		case []any:
			b.WriteString("[" + step + "]")
			doc = nil
			if i, err := strconv.Atoi(step); err == nil && i < len(parent) {
				doc = parent[i]
			}
			continue
		case map[string]any:
			doc = parent[step]
		}
		if plainName.MatchString(step) {
			b.WriteString("." + step)
		} else {
			b.WriteString("[" + strconv.Quote(step) + "]")
		}
	}
	return b.String()
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}
