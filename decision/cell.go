package decision

import "strings"

// parseCell compiles a unary test (DMN 1.5 §7.3): "-" always holds; a
// comparison, range, list or value is held against the column; not(…) turns
// it round.
func parseCell(text, column string) (expr, error) {
	src := strings.TrimSpace(text)
	base := strings.Index(text, src)
	switch {
	case src == "":
		return nil, failAt(0, `the cell is empty; write "-" for any value`)
	case src == "-":
		return constant(true), nil
	case strings.HasPrefix(src, "not(") && strings.HasSuffix(src, ")"):
		inner, err := parseCell(src[len("not("):len(src)-1], column)
		if err != nil {
			return nil, shift(err, base+len("not("))
		}
		return negate(inner), nil
	case src[0] == '[' || src[0] == '(':
		return prefixed(column+" in ", src, column, base)
	}
	for _, op := range []string{">=", "<=", "!=", ">", "<", "="} {
		if strings.HasPrefix(src, op) {
			return prefixed(column+" ", src, column, base)
		}
	}
	return prefixed(column+" = ", src, column, base)
}

// prefixed compiles the cell as the expression it abbreviates; offsets stay
// those of the cell.
func prefixed(prefix, src, column string, base int) (expr, error) {
	return parseWith(prefix+src, column, base-len(prefix))
}
