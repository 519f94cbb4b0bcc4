package registry

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/sim/experiment"
)

//go:embed numbers.txt
var numbers string

// Printed is what a source prints in numbers for a system that Pacer has.
type Printed struct {
	Where string `json:"where"`
	// Count is how many numbers it is, Says what they are of.
	Count int    `json:"count"`
	Says  string `json:"says"`
	// Reason says why nothing tries them; of those that claims try it is "", and pattern is theirs.
	Reason  string `json:"reason,omitempty"`
	pattern []string
}

// Prints are the numbers of the source, in the order of its text.
func (s Source) Prints() (all []Printed, err error) {
	for i, line := range strings.Split(numbers, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p, source, err := parsePrinted(line)
		if err != nil {
			return nil, fmt.Errorf("numbers.txt:%d: %w", i+1, err)
		}
		if source == s.Name {
			all = append(all, p)
		}
	}
	return all, nil
}

// parsePrinted reads a line.
func parsePrinted(line string) (p Printed, source string, err error) {
	f := strings.SplitN(line, " | ", 5)
	if len(f) != 5 {
		return p, "", fmt.Errorf("%q, want SOURCE | WHERE | HOW MANY | WHAT | HOW", line)
	}
	p.Where, p.Says, p.Reason = f[1], f[3], f[4]
	if p.Count, err = strconv.Atoi(f[2]); err != nil || p.Count < 1 || !strings.ContainsAny(p.Where, "0123456789") {
		return p, "", fmt.Errorf("%q, want a section or a table, and how many numbers", line)
	}
	if pattern, ok := strings.CutPrefix(p.Reason, "= "); ok {
		if p.Reason, p.pattern = "", strings.Split(pattern, "; "); len(p.pattern) != 3 {
			return p, "", fmt.Errorf("%q, want = TABLE; CASE; MEASURE", line)
		}
	}
	return p, f[0], nil
}

// Tries reports whether the claim is of these numbers.
func (p Printed) Tries(c experiment.Claim) bool {
	if p.pattern == nil {
		return false
	}
	for i, text := range []string{c.Table, c.Case, c.Measure} {
		if !matches(p.pattern[i], text) {
			return false
		}
	}
	return true
}

// matches reports whether text is as the pattern, in which a * stands for anything.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:] {
		_, after, found := strings.Cut(rest, part)
		if ok, rest = ok && found, after; part == "" {
			rest = ""
		}
	}
	return ok && rest == ""
}

// Listed counts the numbers of a source that are listed, which have a claim each or a reason, and all that it prints.
func Listed(prints []Printed, claims []experiment.Claim) (listed, all int) {
	for _, p := range prints {
		n := p.Count
		if p.Reason == "" {
			n = len(slices.DeleteFunc(slices.Clone(claims), func(c experiment.Claim) bool { return !p.Tries(c) }))
		}
		listed, all = listed+min(n, p.Count), all+p.Count
	}
	return listed, all
}
