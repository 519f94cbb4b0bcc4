package node

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// A driver that the node runs is weighed by its application's band beside all executors together, not as one of them: these
// have the weight that they would have with the driver elsewhere.
func TestADriverIsWeighedBesideExecutors(t *testing.T) {
	for band, want := range map[api.Band]Weight{api.BandPromised: rules.Weights.DriverFirst, api.BandShared: rules.Weights.DriverBehind} {
		of := func(driver bool) (all []Weight, w *world) {
			w = newWorld(t, testConfig(2))
			a := planApp(appA, 2, ids("1"))
			if a.Band = band; driver {
				a.Executors = ids("1", api.DriverName)
				a.Component = &api.Component{Name: api.DriverName, Class: api.ComponentCore, Cores: 1, Memory: units.GiB}
			}
			take := func(actions []Action) {
				for _, act := range actions {
					if act.Kind == ActSetWeight && act.Key == (Key{}) {
						all = append(all, act.Weight)
					}
				}
			}
			take(w.apply(plan(1, a)))
			for range 6 {
				take(w.tick(t, w.e))
			}
			w.exec(Key{appA, "1"}).submit(0, 1000, 1)
			for range 12 {
				take(w.tick(t, w.e))
			}
			return all, w
		}
		alone, _ := of(false)
		beside, w := of(true)
		if !slices.Equal(alone, beside) || len(beside) == 0 {
			t.Errorf("band %q: beside a driver executors weigh %v together, without one %v", band, beside, alone)
		}
		if got := w.exec(Key{appA, api.DriverName}).weight; got != want {
			t.Errorf("band %q: the driver weighs %v, want %v", band, got, want)
		}
	}
}

// A node controller that is killed has one driver after its restart: that which runs, or one that it starts when its planner
// says so again. How one has ended meanwhile it tells.
func TestANodeControllerIsKilledBesideADriver(t *testing.T) {
	driver := Key{appA, api.DriverName}
	for _, killed := range []string{"before the start", "while it runs", "and it ends"} {
		w := newWorld(t, testConfig(2))
		a := planApp(appA, 2, ids(api.DriverName))
		a.Component = &api.Component{Name: api.DriverName, Class: api.ComponentCore, Cores: 1, Memory: units.GiB}
		w.ready(1, a)
		if killed == "before the start" {
			w.execs, w.starts = nil, nil
		}
		w.restart(testConfig(2))
		if killed == "and it ends" {
			w.exec(driver).exited = true
		}
		w.ticks(3)
		w.apply(plan(1, a))
		w.ticks(3)
		if !slices.Equal(w.starts, []Key{driver}) || len(w.stops) > 0 {
			t.Errorf("killed %s: starts of %v, stops of %v", killed, w.starts, w.stops)
		}
		if got := w.status.Executors; len(got) != 1 || got[0].ID != api.DriverName || (got[0].State == api.ExecutorExited) != (killed == "and it ends") {
			t.Errorf("killed %s: it tells %+v", killed, got)
		}
	}
}
