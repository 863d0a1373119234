package decision

// in parses what follows the word in: a range or a list.
func (p *parser) in(left expr) (expr, error) {
	open := p.next()
	if open.kind != tokOp || open.text != "[" && open.text != "(" {
		return nil, failAt(open.at, "want a range or list after in, got %q", open.text)
	}
	first, err := p.binary(3)
	if err != nil {
		return nil, err
	}
	if p.accept("..") {
		return p.span(left, open, first)
	}
	if open.text != "[" {
		return nil, failAt(open.at, "want .. or a list in square brackets")
	}
	items := []expr{first}
	for p.accept(",") {
		item, err := p.binary(3)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return member(left, items), p.expect("]")
}

func (p *parser) span(left expr, open token, low expr) (expr, error) {
	high, err := p.binary(3)
	if err != nil {
		return nil, err
	}
	end := p.next()
	if end.kind != tokOp || end.text != "]" && end.text != ")" {
		return nil, failAt(end.at, "want ] or ) at the end of the range, got %q", end.text)
	}
	above, below := ">=", "<="
	if open.text == "(" {
		above = ">"
	}
	if end.text == ")" {
		below = "<"
	}
	return combine("and", combine(above, left, low), combine(below, left, high)), nil
}

func member(left expr, items []expr) expr {
	return func(s scope) (any, error) {
		v, err := left(s)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			w, err := item(s)
			if err != nil {
				return nil, err
			}
			same, err := equal(v, w)
			if err != nil {
				return nil, err
			}
			if same {
				return true, nil
			}
		}
		return false, nil
	}
}
