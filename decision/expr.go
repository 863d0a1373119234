package decision

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// expr is a compiled expression: immutable, evaluated on a scope.
type expr func(s scope) (any, error)

// scope holds the facts, and in a cell the value of its column.
type scope struct {
	facts map[string]any
	cell  any
}

// parser is a Pratt parser over one expression. column is the name that a
// cell may use for its own value; empty in an input expression.
type parser struct {
	tokens []token
	pos    int
	column string
}

// parseExpression compiles an input expression.
func parseExpression(src string) (expr, error) { return parseWith(src, "", 0) }

func parseWith(src, column string, base int) (expr, error) {
	tokens, err := lex(src)
	if err != nil {
		return nil, shift(err, base)
	}
	p := &parser{tokens: tokens, column: column}
	e, err := p.binary(0)
	if err == nil && p.peek().kind != tokEnd {
		err = failAt(p.peek().at, "unexpected %q", p.peek().text)
	}
	return e, shift(err, base)
}

func shift(err error, base int) error {
	if e, ok := err.(*syntaxError); ok && e != nil {
		return &syntaxError{e.at + base, e.text}
	}
	return err
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

func (p *parser) accept(op string) bool {
	if t := p.peek(); (t.kind == tokOp || t.kind == tokName) && t.text == op {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(op string) error {
	if p.accept(op) {
		return nil
	}
	return failAt(p.peek().at, "want %q, got %q", op, p.peek().text)
}

// levels of binary operators, loosest first (DMN 1.5 §10.3.1.2).
var levels = [][]string{{"or"}, {"and"}, {"=", "!=", "<", "<=", ">", ">=", "in"}, {"+", "-"}, {"*", "/"}}

func (p *parser) binary(level int) (expr, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		t := p.peek()
		if t.kind != tokOp && t.kind != tokName || !slices.Contains(levels[level], t.text) {
			return left, nil
		}
		p.next()
		if t.text == "in" {
			left, err = p.in(left)
			continue
		}
		var right expr
		if right, err = p.binary(level + 1); err == nil {
			left = combine(t.text, left, right)
		}
	}
	return nil, err
}

func combine(op string, left, right expr) expr {
	return func(s scope) (any, error) {
		a, err := left(s)
		if err != nil {
			return nil, err
		}
		if op == "and" || op == "or" {
			return logic(op, a, right, s)
		}
		b, err := right(s)
		if err != nil {
			return nil, err
		}
		return apply(op, a, b)
	}
}

func logic(op string, a any, right expr, s scope) (any, error) {
	x, ok := a.(bool)
	if !ok {
		return nil, fmt.Errorf("%s needs true or false, got %s", op, typeName(a))
	}
	if x == (op == "or") {
		return x, nil
	}
	b, err := right(s)
	if err != nil {
		return nil, err
	}
	if y, ok := b.(bool); ok {
		return y, nil
	}
	return nil, fmt.Errorf("%s needs true or false, got %s", op, typeName(b))
}

func apply(op string, a, b any) (any, error) {
	switch op {
	case "=", "!=":
		same, err := equal(a, b)
		return same == (op == "="), err
	case "<", "<=", ">", ">=":
		c, err := compare(a, b)
		return op == "<" && c < 0 || op == "<=" && c <= 0 || op == ">" && c > 0 || op == ">=" && c >= 0, err
	default:
		return arithmetic(op, a, b)
	}
}

func (p *parser) unary() (expr, error) {
	if p.accept("-") {
		e, err := p.unary()
		if err != nil {
			return nil, err
		}
		zero := func(scope) (any, error) { return new(big.Rat), nil }
		return combine("-", zero, e), nil
	}
	return p.primary()
}

func (p *parser) primary() (expr, error) {
	t := p.next()
	switch t.kind {
	case tokNumber:
		r, ok := new(big.Rat).SetString(t.text)
		if !ok {
			return nil, failAt(t.at, "%q is no number", t.text)
		}
		return constant(r), nil
	case tokString:
		return constant(t.text), nil
	case tokName:
		return p.name(t)
	case tokOp:
		if t.text == "(" {
			e, err := p.binary(0)
			if err != nil {
				return nil, err
			}
			return e, p.expect(")")
		}
	}
	if t.kind == tokEnd {
		return nil, failAt(t.at, "the expression ends where a value is wanted")
	}
	return nil, failAt(t.at, "unexpected %q", t.text)
}

func constant(v any) expr { return func(scope) (any, error) { return v, nil } }

func (p *parser) name(t token) (expr, error) {
	switch t.text {
	case "true", "false":
		return constant(t.text == "true"), nil
	case "null":
		return constant(nil), nil
	}
	if p.accept("(") {
		return p.call(t)
	}
	path := []string{t.text}
	for p.accept(".") {
		step := p.next()
		if step.kind != tokName {
			return nil, failAt(step.at, "want a name after the dot, got %q", step.text)
		}
		path = append(path, step.text)
	}
	if p.column != "" {
		if len(path) == 1 && path[0] == p.column {
			return func(s scope) (any, error) { return s.cell, nil }, nil
		}
		return nil, failAt(t.at, "a cell may name its own column only, not %s", strings.Join(path, "."))
	}
	if path[0] == "provenance" {
		return nil, failAt(t.at, "provenance may not decide anything")
	}
	return lookup(path), nil
}

func lookup(path []string) expr {
	return func(s scope) (any, error) {
		var v any = s.facts
		for i, step := range path {
			m, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s is %s, not an object with %s", strings.Join(path[:i], "."), typeName(fromJSON(v)), step)
			}
			if v, ok = m[step]; !ok {
				return nil, fmt.Errorf("the facts have no %s", strings.Join(path[:i+1], "."))
			}
		}
		return fromJSON(v), nil
	}
}

func (p *parser) call(t token) (expr, error) {
	switch t.text {
	case "date":
		arg := p.next()
		if arg.kind != tokString {
			return nil, failAt(arg.at, `date takes a literal such as "2026-01-31"`)
		}
		d, err := parseDate(arg.text)
		if err != nil {
			return nil, failAt(arg.at, "%v", err)
		}
		return constant(d), p.expect(")")
	case "not":
		e, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		return negate(e), p.expect(")")
	default:
		return nil, failAt(t.at, "the function %s is not available; there are date and not", t.text)
	}
}

func negate(e expr) expr {
	return func(s scope) (any, error) {
		v, err := e(s)
		if err != nil {
			return nil, err
		}
		if b, ok := v.(bool); ok {
			return !b, nil
		}
		return nil, fmt.Errorf("not needs true or false, got %s", typeName(v))
	}
}
