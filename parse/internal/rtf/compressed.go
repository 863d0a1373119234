package rtf

import (
	"encoding/binary"
	"errors"
)

// dictionary is what every compressed text begins by repeating ([MS-OXRTFCP]
// 2.1.3.1.1).
const dictionary = `{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor ` +
	`MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` + "\r\n" + `\par \pard\plain\f0\fs20\b\i\u\tab\tx`

// maxText bounds what a compressed text may unpack to.
const maxText = 64 << 20

var errCompressed = errors.New("its compressed text is damaged")

// Decompress unpacks the rich text of a mail ([MS-OXRTFCP]).
func Decompress(data []byte) ([]byte, error) {
	if len(data) < 16 {
		return nil, errCompressed
	}
	size := int(binary.LittleEndian.Uint32(data[4:]))
	if size > maxText {
		return nil, errCompressed
	}
	switch binary.LittleEndian.Uint32(data[8:]) {
	case 0x414C454D: // "MELA": not compressed
		return data[16:min(len(data), 16+size)], nil
	case 0x75465A4C: // "LZFu"
	default:
		return nil, errCompressed
	}
	var window [4096]byte
	at := copy(window[:], dictionary)
	out := make([]byte, 0, min(size, 1<<20))
	put := func(b byte) {
		window[at] = b
		at = (at + 1) % len(window)
		out = append(out, b)
	}
	in := data[16:]
	for len(in) > 0 {
		flags := in[0]
		in = in[1:]
		for bit := 0; bit < 8 && len(in) > 0; bit++ {
			if flags>>bit&1 == 0 {
				put(in[0])
				in = in[1:]
				continue
			}
			if len(in) < 2 {
				return out, nil
			}
			ref := int(in[0])<<8 | int(in[1])
			in = in[2:]
			from, n := ref>>4, ref&15+2
			if from == at {
				return out, nil // the mark of the end
			}
			for i := range n {
				put(window[(from+i)%len(window)])
			}
			if len(out) > maxText {
				return nil, errCompressed
			}
		}
	}
	return out, nil
}
