package profiles

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

func TestOrdinaryExit(t *testing.T) {
	for _, c := range []struct {
		name  string
		exits []units.Seconds
		want  units.Seconds
	}{
		{"one", []units.Seconds{0.8}, 0.8},
		{"the only one, however long", []units.Seconds{600}, 600},
		{"a hang among others", []units.Seconds{0.8, 600, 0.9}, 0.9},
		{"a hang that came first", []units.Seconds{600, 0.8, 0.7}, 0.8},
		{"work after each stop", []units.Seconds{60, 62}, 62},
		{"the longer of two", []units.Seconds{0.5, 13}, 13},
		{"work after every other stop", []units.Seconds{0.5, 13, 0.4, 13}, 13},
		{"the median", []units.Seconds{1, 1.5, 1.1, 1.2, 1.3}, 1.2},
		{"a loaded machine once", []units.Seconds{1, 1, 1, 1, 2.8}, 1},
	} {
		if got := ordinaryExit(c.exits); got != c.want {
			t.Errorf("%s: %v of %v, want %v", c.name, got, c.exits, c.want)
		}
	}
}

func TestMergeKeepsTheNewestExits(t *testing.T) {
	p := WithExit(api.Profile{Duration: 40}, 0.5)
	if p.Exit != 0.5 || len(p.Exits) != 1 || p.Duration != 0.5 {
		t.Errorf("profile %+v", p)
	}
	p.Exits, p.Exit = nil, 2 // By hand.
	for i := range 2 * keptExits {
		run := WithExit(api.Profile{Duration: 40}, 1+0.01*units.Seconds(i))
		merged := Merge(p, run, Terms{})
		if i == 0 && (len(merged.Exits) != 2 || merged.Exits[0] != 2) {
			t.Errorf("what was written by hand is forgotten: %v", merged.Exits)
		}
		p = merged
	}
	if len(p.Exits) != keptExits || p.Exits[keptExits-1] != 1.13 || p.Exit != 1.1 {
		t.Errorf("exits %v, %v", p.Exits, p.Exit)
	}
}

// What is reckoned with has been seen, and is never beyond what is ordinary.
func TestOrdinaryExitHasBeenSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exits := rapid.SliceOfN(rapid.Float64Range(0, 1000), 1, keptExits).Draw(t, "exits")
		var seen []units.Seconds
		for _, v := range exits {
			seen = append(seen, units.Seconds(v))
		}
		got := ordinaryExit(seen)
		sorted := slices.Sorted(slices.Values(seen))
		if !slices.Contains(seen, got) || got > 2*sorted[len(sorted)/2]+1 || len(seen) < 3 && got != sorted[len(sorted)-1] {
			t.Fatalf("%v of %v", got, seen)
		}
	})
}
