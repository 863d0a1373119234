// Package drawing reads the charts and diagrams that office documents hold.
//
// In go a package and the name of the part; out come blocks: a chart as the
// table of its data, a diagram (SmartArt) as the list of its texts. It draws
// nothing, and it reads what the document stored of the data, not the workbook
// that the data came from.
package drawing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/numeral"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// maxPoints bounds the rows of a chart.
const maxPoints = 20_000

// chart is what a chart part holds (ECMA-376 part 1, 21.2).
type chart struct {
	title  string
	axes   []string // titles of the axes, the categories' first
	series []series
}

// series is one row of bars or one line.
type series struct {
	name       string
	categories points // or x values
	values     points // or y values
	sizes      points // of bubbles
	scattered  bool   // each point has its own x
}

// points are values by their place; what is left out has none.
type points struct {
	at     map[int]string
	format numeral.Format
	length int
}

// Chart returns the blocks of a chart: its title, and a table with a row a
// category and a column a series.
func Chart(p *pack.Package, part string) ([]block.Block, error) {
	var c chart
	err := p.Scan(part, func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "ser":
			one, err := readSeries(s)
			c.series = append(c.series, one)
			return err
		case "title":
			own := s.Depth() == 3 // chartSpace, chart, title
			text, err := texts(s)
			switch {
			case own:
				c.title = text
			case text != "":
				c.axes = append(c.axes, text)
			}
			return err
		case "Fallback":
			return s.Skip()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.blocks(), nil
}

// texts joins the texts of a title, be they written or taken from a cell.
func texts(s *xmlscan.Scanner) (string, error) {
	var b strings.Builder
	err := s.Each(func() error {
		switch s.Name() {
		case "t", "v":
			t, err := s.Content()
			b.WriteString(t)
			return err
		case "p":
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
		}
		return nil
	})
	return strings.Join(strings.Fields(b.String()), " "), err
}

func readSeries(s *xmlscan.Scanner) (series, error) {
	var one series
	err := s.Each(func() (err error) {
		switch s.Name() {
		case "tx":
			one.name, err = texts(s)
		case "cat":
			one.categories, err = readPoints(s)
		case "xVal":
			one.scattered = true
			one.categories, err = readPoints(s)
		case "val", "yVal":
			one.values, err = readPoints(s)
		case "bubbleSize":
			one.sizes, err = readPoints(s)
		case "dLbls", "trendline", "errBars", "extLst", "spPr":
			err = s.Skip()
		}
		return err
	})
	return one, err
}

// readPoints reads stored values. Categories of several levels are joined, the
// outermost first; the file has them the other way round.
func readPoints(s *xmlscan.Scanner) (points, error) {
	var levels []points
	current := points{at: map[int]string{}}
	multi := false
	err := s.Each(func() error {
		switch s.Name() {
		case "lvl":
			if multi {
				levels = append(levels, current)
				current = points{at: map[int]string{}, length: current.length}
			}
			multi = true
		case "formatCode":
			code, err := s.Content()
			current.format = numeral.Parse(code)
			return err
		case "ptCount":
			n, _ := strconv.Atoi(s.Attr("val"))
			current.length = min(max(n, 0), maxPoints)
		case "pt":
			return current.read(s)
		case "f", "extLst":
			return s.Skip()
		}
		return nil
	})
	for _, outer := range levels {
		current = nest(outer, current)
	}
	return current, err
}

func (p *points) read(s *xmlscan.Scanner) error {
	at, err := strconv.Atoi(s.Attr("idx"))
	if err != nil || at < 0 || at >= maxPoints {
		return s.Skip()
	}
	text, err := texts(s)
	p.at[at] = text
	p.length = max(p.length, at+1)
	return err
}

// nest puts the outer level before the inner one; an outer value holds until
// the next.
func nest(inner, outer points) points {
	out := points{at: map[int]string{}, length: max(inner.length, outer.length)}
	last := ""
	for i := range out.length {
		if v, ok := outer.at[i]; ok {
			last = v
		}
		out.at[i] = strings.Trim(last+" / "+inner.at[i], " /")
	}
	return out
}

func (p points) show(i int) string {
	v, ok := p.at[i]
	if !ok {
		return ""
	}
	if _, err := strconv.ParseFloat(v, 64); err != nil {
		return v
	}
	return p.format.Number(v, false)
}

func (c *chart) blocks() []block.Block {
	var out []block.Block
	if c.title != "" {
		out = append(out, block.Paragraph{Text: block.Text{{Text: c.title, Style: block.Bold}}})
	}
	c.series = slices.DeleteFunc(c.series, func(s series) bool { return s.values.length == 0 && s.name == "" })
	if len(c.series) == 0 {
		return out
	}
	out = append(out, block.TableStart{})
	for _, row := range c.rows() {
		cells := make([]block.Cell, len(row))
		for i, text := range row {
			cells[i] = block.Cell{Plain: text}
		}
		out = append(out, block.TableRow{Cells: cells})
	}
	return append(out, block.TableEnd{})
}

// rows returns the table: series that share their categories stand side by
// side, others below each other.
func (c *chart) rows() [][]string {
	axis := func(i int) string {
		if i < len(c.axes) {
			return c.axes[i]
		}
		return ""
	}
	shared := true
	for _, s := range c.series {
		shared = shared && len(s.sizes.at) == 0 && (!s.scattered || same(s.categories, c.series[0].categories))
	}
	if !shared {
		return c.apart(axis)
	}
	header, length := []string{axis(0)}, 0
	categories := points{}
	for i, s := range c.series {
		name := s.name
		if name == "" && len(c.series) == 1 {
			name = axis(1)
		}
		if name == "" {
			name = "Series " + strconv.Itoa(i+1)
		}
		header = append(header, name)
		length = max(length, s.values.length, s.categories.length)
		if len(categories.at) < len(s.categories.at) {
			categories = s.categories
		}
	}
	rows := [][]string{header}
	for i := range length {
		row := []string{categories.show(i)}
		if len(categories.at) == 0 {
			row[0] = strconv.Itoa(i + 1)
		}
		for _, s := range c.series {
			row = append(row, s.values.show(i))
		}
		rows = append(rows, row)
	}
	return rows
}

// apart writes each point on a row of its own.
func (c *chart) apart(axis func(int) string) [][]string {
	named := func(name, otherwise string) string {
		if name != "" {
			return name
		}
		return otherwise
	}
	header := []string{"Series", named(axis(0), "X"), named(axis(1), "Y")}
	sized := slices.ContainsFunc(c.series, func(s series) bool { return len(s.sizes.at) > 0 })
	if sized {
		header = append(header, "Size")
	}
	rows := [][]string{header}
	for _, s := range c.series {
		for i := range s.values.length {
			row := []string{s.name, s.categories.show(i), s.values.show(i)}
			if sized {
				row = append(row, s.sizes.show(i))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func same(a, b points) bool {
	if len(a.at) != len(b.at) {
		return false
	}
	for i, v := range a.at {
		if b.at[i] != v {
			return false
		}
	}
	return true
}
