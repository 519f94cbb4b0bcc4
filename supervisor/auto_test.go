package supervisor

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// Those that are put behind come after the others, each kind in order of deadline; under the other strategies nothing
// comes of it.
func TestThoseBehindComeLast(t *testing.T) {
	app := func(id string, ttc units.Seconds, behind bool) App {
		return App{ID: api.AppID("app-" + id), HasDeadline: true, TTC: ttc, Behind: behind,
			Stages: []Stage{{Request: 3, Runnable: 8}}}
	}
	apps := []App{app("a", 10, true), app("b", 20, false), app("c", 30, true), app("d", 40, false)}
	for strategy, want := range map[string][]float64{Auto: {2, 3, 0, 3}, EDFPure: {3, 3, 2, 0}} {
		s := supervisor(t, Config{Strategy: strategy})
		compare(t, strategy, s.Divide(8, apps, nil), want, 1e-9)
		for i, a := range apps {
			if s.GaveUp(i) != (a.Behind && strategy == Auto) {
				t.Errorf("%s: %s is given up: %v", strategy, a.ID, s.GaveUp(i))
			}
		}
	}
}

// An application is given up where it is behind others, not all have what they ask for, and it does not share.
func TestWhoIsGivenUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps := genConfig(t), genShared(t)
		capacity := rapid.Float64Range(0, 40).Draw(t, "capacity")
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.Divide(units.Cores(capacity), apps, nil)
		_, wants := sums(cfg, apps)
		for i, a := range apps {
			may := cfg.Strategy == Auto && a.Behind && !a.Shares
			if s.GaveUp(i) && (!may || wants <= capacity && cfg.Eq21 != Eq21Printed) {
				t.Fatalf("%+v is given up by %s, %v of %v cores are asked for", a, cfg.Strategy, wants, capacity)
			}
		}
	})
}
