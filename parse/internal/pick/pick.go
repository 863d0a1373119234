// Package pick chooses the pages or slides that a reader was asked for.
//
// In go the numbers asked for and how many there are; out come the numbers to
// read, or a fault that names what exists. It reads nothing itself.
package pick

import (
	"fmt"

	"github.com/holodeck-run/holodeck/fault"
)

// Pages returns asked in its order with its repeats, or all numbers from 1 to
// count if none is asked for. unit is what they number: "page" or "slide".
func Pages(asked []int, count int, unit string) ([]int, error) {
	if len(asked) == 0 {
		all := make([]int, count)
		for i := range all {
			all[i] = i + 1
		}
		return all, nil
	}
	for _, n := range asked {
		if n < 1 || n > count {
			return nil, fault.New(fault.ExtractionParam, "", "Ask for pages among these.",
				"%s %d of %d: the document has %s", unit, n, count, span(count, unit))
		}
	}
	return asked, nil
}

func span(count int, unit string) string {
	switch count {
	case 0:
		return "no " + unit + "s"
	case 1:
		return unit + " 1 only"
	}
	return fmt.Sprintf("%ss 1–%d", unit, count)
}
