package gate

import (
	"regexp"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxBacktrack caps the text that a pattern with lookaround or backreferences
// is tried on: those patterns backtrack, and a time limit would not be
// deterministic.
const maxBacktrack = 4096

// compileRegexp takes Go's linear engine where it can read the pattern, and
// an ECMAScript one where it cannot.
func compileRegexp(pattern string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return nil, err
	}
	return backtracking{re}, nil
}

type backtracking struct{ re *regexp2.Regexp }

func (b backtracking) String() string { return b.re.String() }

// MatchString reports false for a text over the cap: a gate refuses what it
// cannot judge.
func (b backtracking) MatchString(s string) bool {
	if len(s) > maxBacktrack {
		return false
	}
	ok, err := b.re.MatchString(s)
	return ok && err == nil
}
