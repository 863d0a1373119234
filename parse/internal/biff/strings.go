package biff

import (
	"unicode/utf16"

	"golang.org/x/text/encoding"
)

// chars reads text that may go on in CONTINUE records: each of those begins
// with a byte that says anew whether characters have one byte or two.
type chars struct {
	parts [][]byte
	part  int
	at    int
}

func (c *chars) left() bool {
	for c.part < len(c.parts) && c.at >= len(c.parts[c.part]) {
		c.part, c.at = c.part+1, 0
	}
	return c.part < len(c.parts)
}

func (c *chars) byte() byte {
	if !c.left() {
		return 0
	}
	b := c.parts[c.part][c.at]
	c.at++
	return b
}

func (c *chars) u16() int { return int(c.byte()) | int(c.byte())<<8 }

func (c *chars) skip(n int) {
	for n > 0 && c.left() {
		step := min(n, len(c.parts[c.part])-c.at)
		c.at += step
		n -= step
	}
}

// text reads n characters; wide says whether they begin with two bytes each.
func (c *chars) text(n int, wide bool) string {
	units := make([]uint16, 0, min(n, 1<<15))
	for n > 0 {
		if c.part < len(c.parts) && c.at >= len(c.parts[c.part]) {
			if !c.left() {
				break
			}
			wide = c.byte()&1 != 0
		}
		if !c.left() {
			break
		}
		if wide {
			units = append(units, uint16(c.u16()))
		} else {
			units = append(units, uint16(c.byte()))
		}
		n--
	}
	return string(utf16.Decode(units))
}

// unicode reads an XLUnicodeRichExtendedString ([MS-XLS] 2.5.293).
func (c *chars) unicode() string {
	n := c.u16()
	flags := c.byte()
	runs, extra := 0, 0
	if flags&8 != 0 {
		runs = c.u16()
	}
	if flags&4 != 0 {
		extra = c.u16() | c.u16()<<16
	}
	s := c.text(n, flags&1 != 0)
	c.skip(4 * runs)
	c.skip(extra)
	return s
}

// text8 reads a string of BIFF8 whose length has been read.
func text8(data []byte, n int) string {
	if len(data) == 0 {
		return ""
	}
	c := chars{parts: [][]byte{data[1:]}}
	return c.text(n, data[0]&1 != 0)
}

// text5 reads a string of BIFF5 in the workbook's code page.
func text5(data []byte, n int, page encoding.Encoding) string {
	data = data[:min(max(n, 0), len(data))]
	s, err := page.NewDecoder().Bytes(data)
	if err != nil {
		return string(data)
	}
	return string(s)
}
