package registry

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// Each number that a source prints has a claim of its own or a reason why nothing tries it; each claim has a section and
// is of one number that is listed. Claims are listed without a run: that those of runs are the same is the next test.
func TestEveryNumberOfASourceIsListed(t *testing.T) {
	for _, s := range Sources() {
		prints, err := s.Prints()
		if err != nil || len(prints) == 0 {
			t.Fatalf("%s: %d lines, %v", s.Name, len(prints), err)
		}
		claims, err := s.Claims(experiment.Options{Workers: []int{20}, Listed: true}, nil)
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

// told leaves out what a run has measured.
var told = cmpopts.IgnoreFields(experiment.Claim{}, "Ours", "Seeds", "Least", "Most", "Holds", "Why")

// A run tries what is listed without one. Sources of whole clusters on the engines are tried by their packages.
func TestClaimsOfARunAreThoseListed(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	for _, s := range Sources("000", "001", "002", "004") {
		for _, e := range s.Experiments {
			if e.Name == "zoe" {
				continue
			}
			o := experiment.Options{Seeds: 1, Jobs: 20, Workers: []int{20}}
			tried, err := e.Tried(o)
			if err != nil {
				t.Fatal(err)
			}
			o.Listed = true
			listed, err := e.Tried(o)
			if d := cmp.Diff(tried, listed, told); err != nil || d != "" {
				t.Errorf("%s: tried and listed: %v %s", e.Name, err, d)
			}
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
