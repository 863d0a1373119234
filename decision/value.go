package decision

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

// A value is nil, bool, string, *big.Rat, date, list or map[string]any (raw
// facts below a name).

// date is a calendar day.
type date struct{ time.Time }

func parseDate(s string) (date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return date{}, fmt.Errorf("%q is no date; write it as 2006-01-31", s)
	}
	return date{t}, nil
}

// fromJSON turns a decoded JSON value (numbers as json.Number) into a value.
func fromJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok {
			return r
		}
		return string(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fromJSON(v[i])
		}
		return out
	default:
		return v
	}
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case *big.Rat:
		return "number"
	case date:
		return "date"
	case []any:
		return "list"
	default:
		return "object"
	}
}

// equal compares values of one type; null equals only null.
func equal(a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	switch a := a.(type) {
	case bool:
		if b, ok := b.(bool); ok {
			return a == b, nil
		}
	case string:
		switch b := b.(type) {
		case string:
			return a == b, nil
		case date:
			d, err := parseDate(a)
			return err == nil && d.Equal(b.Time), err
		}
	case *big.Rat:
		if b, ok := b.(*big.Rat); ok {
			return a.Cmp(b) == 0, nil
		}
	case date:
		if b, ok := b.(date); ok {
			return a.Equal(b.Time), nil
		}
		if s, ok := b.(string); ok {
			return equal(s, a)
		}
	}
	return false, fmt.Errorf("compare %s with %s", typeName(a), typeName(b))
}

// compare orders two numbers, strings or dates: -1, 0 or 1.
func compare(a, b any) (int, error) {
	switch x := a.(type) {
	case *big.Rat:
		if y, ok := b.(*big.Rat); ok {
			return x.Cmp(y), nil
		}
	case string:
		switch y := b.(type) {
		case string:
			switch {
			case x < y:
				return -1, nil
			case x > y:
				return 1, nil
			}
			return 0, nil
		case date:
			d, err := parseDate(x)
			if err != nil {
				return 0, err
			}
			return d.Compare(y.Time), nil
		}
	case date:
		switch y := b.(type) {
		case date:
			return x.Compare(y.Time), nil
		case string:
			c, err := compare(y, x)
			return -c, err
		}
	}
	return 0, fmt.Errorf("order %s and %s", typeName(a), typeName(b))
}

func arithmetic(op string, a, b any) (any, error) {
	x, okx := a.(*big.Rat)
	y, oky := b.(*big.Rat)
	if okx && oky {
		out := new(big.Rat)
		switch op {
		case "+":
			return out.Add(x, y), nil
		case "-":
			return out.Sub(x, y), nil
		case "*":
			return out.Mul(x, y), nil
		}
		if y.Sign() == 0 {
			return nil, fmt.Errorf("divide by zero")
		}
		return out.Quo(x, y), nil
	}
	if s, ok := a.(string); ok && op == "+" {
		if t, ok := b.(string); ok {
			return s + t, nil
		}
	}
	if d, ok := a.(date); ok && op == "-" {
		if e, ok := b.(date); ok {
			return new(big.Rat).SetInt64(int64(d.Sub(e.Time) / (24 * time.Hour))), nil
		}
	}
	return nil, fmt.Errorf("compute %s %s %s", typeName(a), op, typeName(b))
}
