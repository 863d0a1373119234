package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FileInput names one file, by path or by URL, and what of it is wanted. The
// bytes it names never cross history.
type FileInput struct {
	Path        string // on the worker's disk, under its roots
	URL         string // http or https
	Type        string // one of [Types]; empty: told from the content
	Description string
	Pages       Pages  // 1-based, order and repeats kept; empty: all
	Sheet       string // name or 1-based number; empty: all
	Range       string // A1:C9, A:C, 2:10 or a defined name; empty: all
	Cache       *bool  // false: bypass the cache; nil: the default
}

// Types returns the document types a FileInput may declare.
func Types() []string {
	return []string{
		"image", "pdf", "text", "excel", "word", "powerpoint", "csv",
		"html", "json", "xml", "email", "notebook", "epub", "opendocument",
	}
}

// Pages is a list of 1-based page numbers. On the wire whole numbers in any
// spelling are accepted, as Pydantic does: 2, 2.0 and "2".
type Pages []int

// UnmarshalJSON decodes a list of whole numbers, or null.
func (p *Pages) UnmarshalJSON(data []byte) error {
	var raw []any
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("must be a list of whole numbers, got %s", kindOf(data))
	}
	if raw == nil {
		*p = nil
		return nil
	}
	out := make(Pages, len(raw))
	for i, v := range raw {
		n, ok := wholeNumber(v)
		if !ok {
			return fmt.Errorf("item %d must be a whole number, got %v", i+1, v)
		}
		out[i] = n
	}
	*p = out
	return nil
}

func wholeNumber(v any) (int, bool) {
	switch v := v.(type) {
	case float64:
		n := int(v)
		return n, float64(n) == v
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil
	default:
		return 0, false
	}
}

type fileInputWire struct {
	Path        *string `json:"path"`
	URL         *string `json:"url"`
	Type        *string `json:"type"`
	Description *string `json:"description"`
	Pages       Pages   `json:"pages"`
	Sheet       *string `json:"sheet"`
	Range       *string `json:"range"`
	Cache       *bool   `json:"cache"`
}

// MarshalJSON writes all eight fields, null where unset.
func (f FileInput) MarshalJSON() ([]byte, error) {
	return Marshal(fileInputWire{
		null(f.Path), null(f.URL), null(f.Type), null(f.Description), f.Pages, null(f.Sheet), null(f.Range), f.Cache,
	})
}

// UnmarshalJSON decodes strictly (see [Decode]) and does not validate.
func (f *FileInput) UnmarshalJSON(data []byte) error {
	var w fileInputWire
	if err := Decode(data, &w); err != nil {
		return err
	}
	*f = FileInput{value(w.Path), value(w.URL), value(w.Type), value(w.Description), w.Pages, value(w.Sheet), value(w.Range), w.Cache}
	return nil
}

// Faults returns everything wrong with f, one sentence each; nil if nothing.
// It judges the reference alone: whether the file is there is the worker's.
func (f FileInput) Faults() []string {
	var faults []string
	switch {
	case f.Path == "" && f.URL == "":
		faults = append(faults, "path and url are both empty; give exactly one")
	case f.Path != "" && f.URL != "":
		faults = append(faults, "path and url are both set; give exactly one")
	}
	if strings.ContainsRune(f.Path, 0) {
		faults = append(faults, "path holds a NUL byte")
	}
	if f.Type != "" && !slices.Contains(Types(), f.Type) {
		faults = append(faults, fmt.Sprintf("type %q is unknown; use one of %s", f.Type, strings.Join(Types(), ", ")))
	}
	for _, p := range f.Pages {
		if p < 1 {
			faults = append(faults, fmt.Sprintf("page %d: pages count from 1", p))
		}
	}
	return faults
}

// Name returns what to call the file in a message: its path or URL.
func (f FileInput) Name() string {
	if f.Path != "" {
		return f.Path
	}
	return f.URL
}

func null(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
