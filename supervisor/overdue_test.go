package supervisor

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Under auto one whose deadline has passed keeps its place while those behind it are in time
// all the same, with a tenth to spare; else, and where nobody knows what it needs, it comes
// after them.
func TestWhoseDeadlineHasPassedKeepsItsPlace(t *testing.T) {
	for _, c := range []struct {
		why  string
		left units.Work
		want units.Cores // Of the four that it asks for.
	}{
		{"it is nearly done", 20, 4}, {"it needs what the other one needs", 40, 1}, {"nobody knows", 0, 1},
	} {
		cfg := Default()
		cfg.Strategy, cfg.Floor = Auto, 0
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		stage := []Stage{{Request: 4, Runnable: 4}}
		other := []Stage{{Request: 3, Runnable: 4}}
		apps := []App{
			{ID: "app-late", HasDeadline: true, TTC: -1, Left: c.left, Stages: stage},
			{ID: api.AppID("app-on-time"), HasDeadline: true, TTC: 20, Least: 2.5, Stages: other},
		}
		if got := s.Divide(4, apps, nil); got[0] != c.want {
			t.Errorf("%s: %v cores, want %v", c.why, got[0], c.want)
		}
	}
}

// InOrder is a strategy's own word, and that of the default for no name.
func TestWhichStrategiesServeInOrder(t *testing.T) {
	for _, name := range append(Strategies(), "") {
		cfg := Default()
		if name != "" {
			cfg.Strategy = name
		}
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if InOrder(name) != s.InOrder() {
			t.Errorf("%q: %v", name, InOrder(name))
		}
	}
	if InOrder("no such strategy") {
		t.Error("an unknown strategy serves in order")
	}
}
