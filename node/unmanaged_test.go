package node

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// unmanaged is planApp of an application in the given mode.
func unmanaged(mode api.Mode, targets ...api.StageTarget) api.PlanApp {
	p := planApp(appA, 2, ids("1"), targets...)
	p.Launch.Mode = mode
	return p
}

// written counts the actions that would change a group.
func written(actions []Action) int { return count(actions, ActSetQuota) + count(actions, ActSetWeight) }

func TestAnObservedExecutorIsControlledOnPaperOnly(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, unmanaged(api.ModeObserve))
	x := w.exec(Key{appA, "1"})
	stage := x.submit(0, 40, 1)
	start := w.now
	n := written(w.apply(plan(2, unmanaged(api.ModeObserve, target(0, "1", 40, 40, 30*time.Second, 1.35)))))
	var grants []units.Cores
	for range 60 {
		n += written(w.tick(t, w.e))
		for _, s := range w.status.Stages {
			for _, sample := range s.Samples {
				if sample.Grant >= 0 {
					grants = append(grants, sample.Grant)
				}
			}
		}
	}
	if n != 0 || w.writes != 0 || x.weight != sharing.Unset {
		t.Errorf("%d quotas and weights were written", n)
	}
	if took := stage.end.Sub(start); took > 21*time.Second {
		t.Errorf("the stage took %v on all cores", took)
	}
	if len(grants) == 0 || grants[0] > 1.5 || w.status.Stages[0].QuotaChanges == 0 {
		t.Errorf("what would have been granted: %v, %d quotas", grants, w.status.Stages[0].QuotaChanges)
	}
	if q := w.status.Executors[0].Quota; q != api.Unknown {
		t.Errorf("a quota of %v is said to be in force", q)
	}
	if written(w.e.Shutdown(w.now, Leave)) != 0 {
		t.Error("the end writes")
	}
}

func TestAnExecutorInModeOffIsLeftAlone(t *testing.T) {
	w := newWorld(t, testConfig(2))
	n := written(w.apply(plan(1, unmanaged(api.ModeOff))))
	for range 20 {
		n += written(w.tick(t, w.e))
	}
	if n += written(w.e.Shutdown(w.now, Leave)); n != 0 {
		t.Errorf("%d quotas and weights were written", n)
	}
}

func TestHandsStayOffAfterARestart(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, unmanaged(api.ModeObserve))
	w.exec(Key{appA, "1"}).submit(0, 40, 1)
	w.apply(plan(2, unmanaged(api.ModeObserve, target(0, "1", 40, 40, 30*time.Second, 1.35))))
	w.ticks(4)
	w.advance(time.Second)
	w.restart(testConfig(2))
	w.ticks(10)
	if w.writes != 0 {
		t.Errorf("%d quotas were written: %v", w.writes, w.log)
	}
	if w.sawEvent(EventQuotaTaken) {
		t.Error("a quota was taken over where none is")
	}
}

// Others get beside an observed application what it leaves, and half of the node at least;
// what it would be granted is worked out as if it were held back.
func TestWhatAnObservedApplicationUsesIsTakenOff(t *testing.T) {
	for _, c := range []struct{ slots, low, high units.Cores }{{1, 2.9, 3.1}, {4, 1.99, 2.2}} {
		w := newWorld(t, testConfig(4))
		a, b := unmanaged(api.ModeObserve), planApp(appB, 4, ids("2"))
		a.Launch.Cores = int(c.slots)
		w.ready(1, a, b)
		w.exec(Key{appA, "1"}).submit(0, 600, 1)
		w.exec(Key{appB, "2"}).submit(0, 600, 1)
		a.Stages = []api.StageTarget{target(0, "1", 600, 600, 1000*time.Second, 0.6)}
		b.Stages = []api.StageTarget{target(0, "2", 600, 600, 100*time.Second, 4)}
		w.apply(plan(2, a, b))
		w.ticks(30)
		if limit, _ := w.e.Capacity(); limit < c.low || limit > c.high {
			t.Errorf("%v tasks are left alone: the capacity is %v, want %v to %v", c.slots, limit, c.low, c.high)
		}
		if got := w.quota(appB, "2"); got > c.high {
			t.Errorf("a quota of %v beside them", got)
		}
		if n := w.e.roster.apps[0].controls[0]; n.grant > 1 {
			t.Errorf("the observed one would be granted %v", n.grant)
		}
		if len(w.e.Grants(nil)) != 1 {
			t.Errorf("grants %+v, want one", w.e.Grants(nil))
		}
	}
}
