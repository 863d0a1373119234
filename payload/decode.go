package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
)

// Faults is everything wrong with a value that does not decode, in the order
// of the type's fields.
type Faults []string

// Error joins the faults with semicolons.
func (f Faults) Error() string { return strings.Join(f, "; ") }

// Decode reads one JSON value into the struct that v points to, and refuses
// what encoding/json lets pass: unknown keys, keys in another case, trailing
// data, null for the value itself, and a missing or null field tagged
// `payload:"required"`. A raw field tagged `payload:"object"` must hold an
// object. All faults are reported at once as [Faults].
func Decode(data []byte, v any) error {
	if !json.Valid(data) {
		var any any
		return Faults{fmt.Sprintf("not JSON: %v", json.Unmarshal(data, &any))}
	}
	if k := kindOf(data); k != "an object" {
		return Faults{"must be an object, got " + k}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return Faults{err.Error()}
	}
	target := reflect.ValueOf(v).Elem()
	known := fieldNames(target.Type())
	var faults Faults
	for i := range target.NumField() {
		faults = append(faults, decodeField(target, i, members)...)
	}
	for _, name := range sortedKeys(members) {
		if !slices.Contains(known, name) {
			faults = append(faults, fmt.Sprintf("%s is not a field. %s", name, fault.DidYouMean(name, known)))
		}
	}
	if faults != nil {
		return faults
	}
	return nil
}

func decodeField(target reflect.Value, i int, members map[string]json.RawMessage) Faults {
	field := target.Type().Field(i)
	name, tag := field.Tag.Get("json"), field.Tag.Get("payload")
	raw, present := members[name]
	if !present || bytes.Equal(raw, []byte("null")) {
		if tag != "required" {
			return nil
		}
		if present {
			return Faults{name + " is null; it is required"}
		}
		return Faults{name + " is missing; it is required"}
	}
	if tag == "object" && kindOf(raw) != "an object" {
		return Faults{name + " must be an object, got " + kindOf(raw)}
	}
	err := json.Unmarshal(raw, target.Field(i).Addr().Interface())
	switch err := err.(type) {
	case nil:
		return nil
	case Faults:
		out := make(Faults, len(err))
		for i, f := range err {
			out[i] = name + ": " + f
		}
		return out
	case *json.UnmarshalTypeError:
		return Faults{fmt.Sprintf("%s must be %s, got %s", name, describe(err.Type), kindOf(raw))}
	default:
		return Faults{fmt.Sprintf("%s: %v", name, err)}
	}
}

func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	default:
		return "an object"
	}
}

// kindOf names the JSON kind of a valid value.
func kindOf(data []byte) string {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return "nothing"
	}
	switch data[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("json")
	}
	return names
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
