package fault

import "strings"

// Nearest returns the known name that name was most likely meant to be, or ""
// if none is close: at most a third of the letters may differ, case apart.
// Ties go to the earlier of known.
func Nearest(name string, known []string) string {
	best, bestDistance := "", len(name)/3+1
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d < bestDistance || (best == "" && d == bestDistance && d < len(k)) {
			best, bestDistance = k, d
		}
	}
	return best
}

// DidYouMean returns `did you mean "x"?` for the nearest known name, else
// the list of what is known, as the end of a hint.
func DidYouMean(name string, known []string) string {
	return NearestOr(name, known, "Known: "+strings.Join(known, ", ")+".")
}

// NearestOr returns a hint that asks for the nearest known name, else
// otherwise: for lists that are too long to show.
func NearestOr(name string, known []string, otherwise string) string {
	if n := Nearest(name, known); n != "" {
		return "Did you mean " + n + "?"
	}
	return otherwise
}

// distance is the optimal string alignment distance: edits of one letter and
// swaps of two neighbours count one each.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before, last []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row = last, row, make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
