package node

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// An application's executors on a node get no more than its cap together, with targets or
// without; without a cap what no target holds has no quota.
func TestACapBoundsAnApplication(t *testing.T) {
	w := newWorld(t, testConfig(4))
	a, b := planApp(appA, 4, ids("1", "2")), shared(appB, "")
	b.Executors = ids("1", "2")
	b.Launch.Cores = 4
	w.ready(1, a, b)
	for _, key := range []Key{{appA, "1"}, {appA, "2"}, {appB, "1"}, {appB, "2"}} {
		w.exec(key).submit(0, 1000, 1)
	}
	a.Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Second, 4), target(0, "2", 1000, 1000, time.Second, 4)}
	quotas := func() (of [2]units.Cores) {
		for i, app := range []api.AppID{appA, appB} {
			of[i] = w.quota(app, "1") + w.quota(app, "2")
		}
		return of
	}
	a.Cap, b.Cap = 1.5, 0.5
	w.apply(plan(2, a, b))
	w.ticks(6)
	if got := quotas(); got[0] > 1.5+1e-9 || got[0] < 1.4 || got[1] > 0.5+1e-9 || got[1] < 0.4 {
		t.Errorf("the quotas are %v, the caps 1.5 and 0.5", got)
	}
	a.Cap, b.Cap = 0, 0
	w.apply(plan(3, a, b))
	w.ticks(6)
	if got := quotas(); got[0] < 2 || !got[1].IsUnlimited() {
		t.Errorf("without caps the quotas are %v", got)
	}
}

// A cap bounds an executor whatever its mode is and whatever it does: as it starts, at work, idle,
// when its page stands still, after a restart, and after another one has lifted its quota.
func TestACapHoldsInEveryMode(t *testing.T) {
	for _, mode := range []api.Mode{api.ModeControl, api.ModeObserve, api.ModeOff} {
		w := newWorld(t, testConfig(4))
		a := unmanaged(mode)
		a.Cap = 1.5
		w.apply(plan(1, a))
		w.ticks(2)
		x := w.exec(Key{appA, "1"})
		holds := func(when string) {
			t.Helper()
			if x.quota > 1.5+drift || x.quota < 1.4 {
				t.Errorf("mode %s, %s: a quota of %v, the cap is 1.5", mode, when, x.quota)
			}
		}
		holds("it starts")
		x.submit(0, 1000, 1)
		w.ticks(4)
		holds("it works")
		if got := w.status.Executors[0].Quota; got != x.quota {
			t.Errorf("mode %s: a quota of %v is told, %v is in force", mode, got, x.quota)
		}
		if mode != api.ModeOff {
			a.Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Second, 4)}
			w.apply(plan(2, a))
			w.ticks(4)
			holds("it is late")
		}
		x.frozen = true
		w.ticks(20)
		holds("its page stands still")
		x.quota = units.Unlimited
		w.ticks(4)
		holds("another one has lifted it")
		w.restart(testConfig(4))
		x.quota = units.Unlimited
		w.ticks(4)
		holds("the node controller has restarted")
		x.frozen, x.queue, x.running = false, nil, nil
		w.ticks(8)
		holds("it is idle")
		a.Cap, a.Stages = 0, nil
		w.apply(plan(3, a))
		w.ticks(2)
		if !x.quota.IsUnlimited() {
			t.Errorf("mode %s: without its cap it has a quota of %v", mode, x.quota)
		}
		a.Cap = 1.5
		w.apply(plan(4, a))
		w.ticks(2)
		holds("it has a cap once more")
		if mode != api.ModeControl && x.weight != sharing.Unset {
			t.Errorf("mode %s: the weight is %v", mode, x.weight)
		}
	}
}
