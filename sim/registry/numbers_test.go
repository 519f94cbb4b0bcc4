package registry

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// Each number that a source prints has a claim of its own or a reason why nothing tries it; each claim has a section and
// is of one number that is listed.
func TestEveryNumberOfASourceIsListed(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	for _, s := range Sources() {
		prints, err := s.Prints()
		if err != nil || len(prints) == 0 {
			t.Fatalf("%s: %d lines, %v", s.Name, len(prints), err)
		}
		claims, err := s.Claims(experiment.Options{Seeds: 1, Jobs: 200, Workers: []int{20}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		count := make([]int, len(prints))
		for _, c := range claims {
			tried := 0
			for i, p := range prints {
				if p.Tries(c) {
					tried++
					count[i]++
				}
			}
			if tried != 1 || !strings.ContainsAny(c.Table, "0123456789") || c.Case == "" || c.Measure == "" || c.Band.Reason == "" {
				t.Errorf("%s: a claim of %d of the numbers that are listed: %+v", s.Name, tried, c)
			}
		}
		for i, p := range prints {
			if p.Reason == "" && count[i] != p.Count {
				t.Errorf("%s: %s, %s: %d claims, want %d", s.Name, p.Where, p.Says, count[i], p.Count)
			}
		}
		if listed, all := Listed(prints, claims); listed != all {
			t.Errorf("%s: %d of %d numbers are listed", s.Name, listed, all)
		}
		if listed, all := Listed(prints, nil); listed >= all {
			t.Errorf("%s: without claims %d of %d numbers are listed", s.Name, listed, all)
		}
	}
}

// A line without a section, a number or a way to try it is refused.
func TestALineOfNumbersIsWhole(t *testing.T) {
	for line, ok := range map[string]bool{
		"000 | Sec 1 | 2 | turnaround | it is not said": true, "000 | Sec 1 | 2 | turnaround | = Table 1; *; x": true,
		"000 | Sec 1 | 2 | turnaround": false, "000 | Sec 1 | none | turnaround | it is not said": false,
		"000 | the text | 2 | turnaround | it is not said": false, "000 | Sec 1 | 2 | turnaround | = Table 1": false,
	} {
		if _, _, err := parsePrinted(line); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
	for pattern, texts := range map[string][2][]string{"*": {{"", "a"}, nil}, "a*b": {{"ab", "a b"}, {"a", "abc", "b"}},
		"a": {{"a"}, {"ab"}}, "* 20%*": {{"x 20%", "x 20%, y"}, {"20%", "x 200%"}}} {
		for i, of := range texts {
			for _, text := range of {
				if matches(pattern, text) != (i == 0) {
					t.Errorf("%q and %q", pattern, text)
				}
			}
		}
	}
}
