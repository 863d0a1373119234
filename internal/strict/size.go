package strict

import (
	"strconv"
	"strings"
)

// Size is a number of bytes, written as 1048576, 256KiB, 2MiB or 1GB.
type Size int64

// ParseSize reads a size. KiB, MiB and GiB are powers of 1024; kB, MB and GB
// powers of 1000; no unit means bytes.
func ParseSize(s string) (Size, error) {
	digits := strings.TrimRight(s, "KMGTkibB ")
	unit := strings.TrimSpace(s[len(digits):])
	factor := map[string]float64{
		"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9,
	}[unit]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || factor == 0 || n < 0 || n*factor > 1<<50 {
		return 0, strconv.ErrSyntax
	}
	return Size(n * factor), nil
}
