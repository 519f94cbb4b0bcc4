package node

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// Tasks that say, or whose profile says, that they use eight cores each may have them: two of them 16,
// and of 16 slots no more run side by side.
func TestTasksThatSayHowManyCoresTheyUse(t *testing.T) {
	for name, change := range map[string]func(*api.Launch, *api.StageTarget){
		"declared": func(l *api.Launch, _ *api.StageTarget) { l.TaskCPUs = 8 },
		"profiled": func(_ *api.Launch, s *api.StageTarget) { s.TaskCores = 8 },
	} {
		w := newWorld(t, testConfig(16))
		w.ready(1, planApp(appA, 16, ids("1")))
		x := w.exec(Key{appA, "1"})
		x.overhead = 7
		x.submit(0, 2, 10)
		app := planApp(appA, 16, ids("1"), target(0, "1", 2, 160, 11*time.Second, 14.6))
		change(app.Launch, &app.Stages[0])
		w.apply(plan(2, app))
		w.ticks(12)
		c := w.e.roster.index[Key{appA, "1"}].ctl
		if _, most := w.e.roster.bounds(c, 16); most != 16 || w.quota(appA, "1") < 12 {
			t.Errorf("%s: at most %v, the quota is %v", name, most, w.quota(appA, "1"))
		}
		if n := c.x.room.atOnce; (n == 2) != (name == "declared") {
			t.Errorf("%s: %d tasks at a time", name, n)
		}
	}
}

// What native threads use besides nobody declares: with what the planner gives the stage it is seen, and
// the stage is in time.
func TestThreadsThatNobodyDeclaredAreSeen(t *testing.T) {
	for _, law := range controller.Laws() {
		for _, threads := range []float64{1, 3, 6} {
			cfg := testConfig(12)
			cfg.Controller.Law, cfg.Meter.Progress = law, meter.Work
			w := newWorld(t, cfg)
			w.ready(1, planApp(appA, 12, ids("1")))
			x := w.exec(Key{appA, "1"})
			x.overhead = threads - 1
			s := x.submit(0, 2, 20)
			start := w.now
			work := 40 * threads
			w.apply(plan(2, planApp(appA, 12, ids("1"), target(0, "1", 2, work, 26*time.Second, units.Cores(work/26)))))
			w.ticks(80)
			took, c := s.end.Sub(start).Seconds(), w.e.roster.index[Key{appA, "1"}].ctl
			if s.finished != 2 || took > 26.5 {
				t.Errorf("%s, %v threads: %d tasks in %.1f s, want 2 in 26", law, threads, s.finished, took)
			}
			if most := float64(c.width.Most); threads == 1 && most != 1 || most > 1.3*threads {
				t.Errorf("%s: tasks of %v threads may use %v cores", law, threads, most)
			}
		}
	}
}

// What was seen is an executor's own only as far as its tasks show it: bursts of one reading count for
// nothing, a quota that holds tasks back hides what they would use, and what shows no more fades.
func TestWhatIsSeenOfATasksWidth(t *testing.T) {
	var w width
	w.expect(0)
	see := func(used, quota units.Cores, running, ended int) { w.observe(used, quota, running, ended, 4) }
	see(2, 8, 2, 0)
	see(7, 8, 2, 0) // A collection of garbage.
	see(2, 8, 2, 0)
	if w.Most != 1 || w.Now != 1 {
		t.Errorf("after a burst: %+v", w)
	}
	see(8, 8, 2, 4) // Of six tasks, four at a time.
	see(8, 8, 2, 8)
	if math.Abs(float64(w.Now)-2*widthRoom) > 1e-9 {
		t.Errorf("held back at two cores each: %+v", w)
	}
	for range 40 {
		see(2, 8, 2, 8)
	}
	if w.Now > 1.01 || w.Most != 2*widthRoom {
		t.Errorf("when it uses one core each again: %+v", w)
	}
	see(6, 8, 2, 8)
	see(6, 8, 2, 8)
	before := w.Now
	for range 100 {
		see(1, 1, 2, 8)
	}
	if before != 3 || w.Now > 1.1 {
		t.Errorf("%v was seen, and after a long time with a small quota %v is left", before, w.Now)
	}
}
