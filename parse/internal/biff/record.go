package biff

import (
	"encoding/binary"
	"errors"
)

// The record types that are read, by their names in [MS-XLS] 2.3.1.
const (
	recFormula    = 0x0006
	recEOF        = 0x000A
	recDateMode   = 0x0022
	recFilePass   = 0x002F
	recContinue   = 0x003C
	recCodePage   = 0x0042
	recColInfo    = 0x007D
	recBoundSheet = 0x0085
	recMulRK      = 0x00BD
	recRString    = 0x00D6
	recXF         = 0x00E0
	recSST        = 0x00FC
	recLabelSST   = 0x00FD
	recNumber     = 0x0203
	recLabel      = 0x0204
	recBoolErr    = 0x0205
	recString     = 0x0207
	recRow        = 0x0208
	recFormat8    = 0x041E
	recRK         = 0x027E
	recBOF        = 0x0809
	recOldFormat  = 0x001E
	recOldBOF2    = 0x0009
	recOldBOF3    = 0x0209
	recOldBOF4    = 0x0409
)

// record is one record of the stream; at is where its data begins.
type record struct {
	kind int
	data []byte
	at   int
}

// u16 and u32 read numbers of a record; what lies past its end is zero.
func (r record) u16(i int) int {
	if i < 0 || i+2 > len(r.data) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(r.data[i:]))
}

func (r record) u32(i int) uint32 {
	if i < 0 || i+4 > len(r.data) {
		return 0
	}
	return binary.LittleEndian.Uint32(r.data[i:])
}

func (r record) u64(i int) uint64 { return uint64(r.u32(i)) | uint64(r.u32(i+4))<<32 }

func (r record) u8(i int) byte {
	if i < 0 || i >= len(r.data) {
		return 0
	}
	return r.data[i]
}

var errTruncated = errors.New("its workbook stream ends too early")

// records reads records from at on.
type records struct {
	stream []byte
	at     int
}

// next returns the next record; ok is false at the end of the stream. A last
// record that is cut is given as far as it goes.
func (s *records) next() (r record, ok bool) {
	if s.at < 0 || s.at+4 > len(s.stream) {
		return record{}, false
	}
	kind := int(binary.LittleEndian.Uint16(s.stream[s.at:]))
	size := int(binary.LittleEndian.Uint16(s.stream[s.at+2:]))
	from := s.at + 4
	to := min(from+size, len(s.stream))
	s.at = from + size
	return record{kind, s.stream[from:to], from}, true
}

// peek returns the kind of the next record, 0 at the end.
func (s *records) peek() int {
	if s.at+4 > len(s.stream) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(s.stream[s.at:]))
}
