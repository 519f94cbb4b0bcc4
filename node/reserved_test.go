package node

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// reserved is planApp of an application that has no profile and so many cores of the node reserved.
func reserved(id api.AppID, cores units.Cores, due units.Seconds) api.PlanApp {
	p := planApp(id, 4, ids("1"))
	p.HasDeadline, p.Remaining, p.Least, p.Reserved = true, due, cores, true
	return p
}

// What is reserved is a floor and no cap: an executor that no target holds gets it beside a stage that is held to its
// deadline, which keeps that, and beside one that shares, and has no quota; what is over it may use, too.
func TestReservedCoresAreAFloor(t *testing.T) {
	for _, c := range []struct {
		why        string
		due        units.Seconds
		hog, paced bool
		least      float64 // Of what is used by it, in cores.
		most       float64
	}{
		{"beside all", 100, true, true, 1, 1.6},
		{"due before the stage", 30, true, true, 1, 1.6},
		{"beside the stage", 100, false, true, 1, 2.1},
		{"beside one that shares", 100, true, false, 1, 4},
		{"alone", 100, false, false, 3.9, 4.01},
	} {
		cfg := testConfig(4)
		cfg.Controller = controller.Default()
		w := newWorld(t, cfg)
		apps := []api.PlanApp{reserved("app-r", 1, c.due)}
		if c.paced {
			apps = append(apps, planApp(appA, 4, ids("1")))
		}
		if c.hog {
			apps = append(apps, shared("app-z", ""))
		}
		if c.paced {
			apps[0], apps[1] = apps[1], apps[0] // In order of id.
		}
		w.ready(1, apps...)
		for _, p := range apps {
			if p.ID != appA {
				w.exec(Key{p.ID, "1"}).submit(0, 1000, 1)
			}
		}
		var stage *simStage
		if c.paced {
			stage = w.exec(Key{appA, "1"}).submit(0, 250, 0.2)
			apps[0].Stages = []api.StageTarget{target(0, "1", 250, 50, 20*time.Second, 2.5)}
			apps[0].Least = 2.5
		}
		start := w.now
		w.apply(plan(2, apps...))
		w.ticks(36)
		x := w.exec(Key{"app-r", "1"})
		if got := x.cpu / 18; got < c.least*0.97 || got > c.most || !x.quota.IsUnlimited() {
			t.Errorf("%s: %.2f cores and a quota of %v, want %v to %v and none", c.why, got, x.quota, c.least, c.most)
		}
		w.ticks(6)
		if c.paced && (stage.end == 0 || stage.end.Sub(start) > 20200*time.Millisecond) {
			t.Errorf("%s: the stage took %v, want 20 s", c.why, stage.end.Sub(start))
		}
	}
}

// Of two reservations each has its own, however short cores are: their weights are as what is reserved.
func TestEachReservationHasItsOwn(t *testing.T) {
	w := newWorld(t, testConfig(4))
	apps := []api.PlanApp{reserved("app-1", 0.5, 100), reserved("app-2", 3, 90), shared("app-z", "")}
	w.ready(1, apps...)
	for _, p := range apps {
		w.exec(Key{p.ID, "1"}).submit(0, 1000, 1)
	}
	w.apply(plan(2, apps...))
	w.ticks(20)
	for i, least := range []float64{0.5, 3} {
		if got := w.exec(Key{apps[i].ID, "1"}).cpu / 10; got < least*0.95 {
			t.Errorf("%s: %.2f of the %v cores that are reserved", apps[i].ID, got, least)
		}
	}
}
