package node

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// spoilt lets n ticks pass whose samples of the first executor are spoilt.
func (w *world) spoilt(n int, spoil func(*ExecutorSample)) (events []Event) {
	w.Helper()
	for range n {
		w.advance(w.e.roster.cfg.Interval)
		s := w.sample()
		page := &s.Executors[0].Page
		page.Stages, page.Tasks = append([]meter.Stage(nil), page.Stages...), append([]meter.Task(nil), page.Tasks...)
		spoil(&s.Executors[0])
		w.do(w, w.e.Step(w.now, s))
		events = append(events, w.e.Events()...)
	}
	return events
}

// controlled is a world whose executor is under control for five seconds.
func controlled(t tb, law string) *world {
	cfg := testConfig(2)
	cfg.Controller.Law = law
	w := newWorld(t, cfg)
	a := planApp(appA, 2, ids("1"))
	w.ready(1, a)
	w.exec(Key{appA, "1"}).submit(0, 40, 1)
	a.Stages = append(a.Stages, target(0, "1", 40, 40, 40*time.Second, 1))
	w.apply(plan(2, a))
	w.ticks(10)
	return w
}

// Samples that are no numbers, negative or from another
// time are refused, counted and said once; the last good output stands, and after
// Stale the executor has all cores. With the next good sample it is controlled again.
func TestBadSamplesAreRefused(t *testing.T) {
	nan := math.NaN()
	for name, spoil := range map[string]func(*ExecutorSample){
		"weight NaN":       func(s *ExecutorSample) { s.Page.Stages[0].Weight = nan },
		"records Inf":      func(s *ExecutorSample) { s.Page.Stages[0].RunningRecords = math.Inf(1) },
		"finished < 0":     func(s *ExecutorSample) { s.Page.Stages[0].Finished = -1 },
		"CPU of stage < 0": func(s *ExecutorSample) { s.Page.Stages[0].CPU = -3 },
		"large NaN":        func(s *ExecutorSample) { s.Page.Stages[0].LargeCPU = units.Work(nan) },
		"large < 0":        func(s *ExecutorSample) { s.Page.Stages[0].LargeReading = -1 },
		"heaviest Inf":     func(s *ExecutorSample) { s.Page.Stages[0].Heaviest = math.Inf(1) },
		"task NaN":         func(s *ExecutorSample) { s.Page.Tasks = append(s.Page.Tasks, meter.Task{CPU: units.Work(nan)}) },
		"task < 0":         func(s *ExecutorSample) { s.Page.Tasks = append(s.Page.Tasks, meter.Task{Weight: -1}) },
		"from the future":  func(s *ExecutorSample) { s.Page.At += units.Instant(time.Hour) },
		"from the past":    func(s *ExecutorSample) { s.Page.At -= units.Instant(10 * time.Second) },
		"group NaN":        func(s *ExecutorSample) { s.CPU = units.Work(nan) },
		"group Inf":        func(s *ExecutorSample) { s.CPU = units.Work(math.Inf(1)) },
		"group < 0":        func(s *ExecutorSample) { s.CPU = -1 },
		"quota NaN":        func(s *ExecutorSample) { s.Quota = units.Cores(nan) },
		"quota < 0":        func(s *ExecutorSample) { s.Quota = -1 },
		"not read":         func(s *ExecutorSample) { s.Measured = false },
	} {
		for _, law := range controller.Laws() {
			w := controlled(t, law)
			x := w.e.roster.index[Key{appA, "1"}]
			before, quota, progress := x.ctl.request, x.quota, x.ctl.meter.Done()
			state := x.ctl.law.State()
			events := w.spoilt(4, spoil)
			if x.ctl.request != before || x.quota != quota || !sameNumbers(x.ctl.law.State(), state) {
				t.Errorf("%s, %s: request %v, quota %v after bad samples, want %v and %v", name, law, x.ctl.request, x.quota, before, quota)
			}
			said, n := heard(events, EventSampleRefused), w.e.Counters().SamplesRefused
			if wantSaid, want := 1, uint64(4); name != "not read" && (said != wantSaid || n != want) || name == "not read" && (said != 0 || n != 0) {
				t.Errorf("%s, %s: said %d times, %d counted", name, law, said, n)
			}
			if !strings.HasPrefix(name, "group") && !strings.HasPrefix(name, "quota") && name != "not read" && x.ctl.meter.Done() != progress {
				t.Errorf("%s, %s: progress went from %v to %v", name, law, progress, x.ctl.meter.Done())
			}
			events = w.spoilt(2, spoil)
			if !x.quota.IsUnlimited() || heard(events, EventPageStale) != 1 {
				t.Errorf("%s, %s: quota %v after %v of bad samples, want none", name, law, x.quota, w.e.roster.cfg.Stale)
			}
			w.ticks(2)
			if x.quota.IsUnlimited() || !x.ctl.active {
				t.Errorf("%s, %s: not controlled again: quota %v", name, law, x.quota)
			}
			if w.exec(Key{appA, "1"}); math.Abs(float64(x.ctl.request-1)) > 0.6 {
				t.Errorf("%s, %s: goes on with %v cores, want about 1", name, law, x.ctl.request)
			}
		}
	}
}

// A counter that falls belongs to another group: one interval is lost, control
// goes on with the next.
func TestAFallingCounterIsRefusedOnce(t *testing.T) {
	w := controlled(t, controller.LawPacer)
	x := w.e.roster.index[Key{appA, "1"}]
	before := x.ctl.request
	lost := units.Work(3)
	events := w.spoilt(1, func(s *ExecutorSample) { s.CPU -= lost })
	if heard(events, EventSampleRefused) != 1 || x.ctl.request != before || x.seen.delta != 0 {
		t.Errorf("events %v, request %v, CPU time %v", events, x.ctl.request, x.seen.delta)
	}
	w.spoilt(10, func(s *ExecutorSample) { s.CPU -= lost })
	if n := w.e.Counters().SamplesRefused; n != 1 || math.Abs(float64(x.ctl.request-before)) > 0.3 {
		t.Errorf("%d refused, request %v, want about %v", n, x.ctl.request, before)
	}
}

// After a restart the quota in force is taken over, whatever else of a sample is refused: an
// executor of which nothing can be believed has all cores, and not a quota that nobody knows of.
func TestAQuotaIsTakenOverFromASampleThatIsRefused(t *testing.T) {
	w := controlled(t, controller.LawPacer)
	if w.quota(appA, "1").IsUnlimited() {
		t.Fatal("the executor has no quota")
	}
	w.restart(testConfig(2))
	w.spoilt(1, func(s *ExecutorSample) { s.CPU, s.Page.At = -1, 0 })
	if q := w.quota(appA, "1"); !q.IsUnlimited() {
		t.Errorf("it has a quota of %v", q)
	}
	if x := w.e.roster.index[Key{appA, "1"}]; !x.quotaKnown || !x.quota.IsUnlimited() {
		t.Errorf("the engine takes it to be %v", x.quota)
	}
}

// An input that only the law refuses: the last output stands, then all cores.
func TestInputsThatTheLawRefusesReleaseTheStage(t *testing.T) {
	w := controlled(t, controller.LawPI)
	x := w.e.roster.index[Key{appA, "1"}]
	x.ctl.at = -math.MaxInt64 // An interval that no Duration holds.
	quota := x.quota
	for range 4 {
		x.ctl.at = -math.MaxInt64
		w.ticks(1)
	}
	if w.e.Counters().ControlErrors == 0 || x.quota != quota {
		t.Fatalf("%d errors, quota %v, want %v", w.e.Counters().ControlErrors, x.quota, quota)
	}
	for range 3 {
		x.ctl.at = -math.MaxInt64
		w.ticks(1)
	}
	if !x.quota.IsUnlimited() {
		t.Errorf("quota %v, want none", x.quota)
	}
}

func heard(events []Event, kind EventKind) (n int) {
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// sameNumbers compares states; the grant may have been told again.
func sameNumbers(a, b controller.State) bool {
	a.Granted, a.XC = b.Granted, b.XC
	return a == b
}

// A planner that dies in the middle of a step response leaves no stage held: the hold
// ends by itself, also if the node controller is started anew in between.
func TestAHoldEndsWithItsTime(t *testing.T) {
	for _, law := range controller.Laws() {
		for _, restart := range []bool{false, true} {
			w := controlled(t, law)
			t1 := w.e.roster.plan.Apps[0].Stages[0]
			t1.Hold, t1.HoldFor = 0.4, 4
			w.apply(plan(w.e.roster.plan.Epoch+1, planApp(appA, 2, ids("1"), t1)))
			w.ticks(2)
			if restart {
				w.restart(w.e.roster.cfg)
			}
			w.ticks(4)
			x := w.e.roster.index[Key{appA, "1"}]
			if x.ctl.request != 0.4 {
				t.Errorf("%s: request %v after 3 s of 4, want the hold", law, x.ctl.request)
			}
			for !w.exec(Key{appA, "1"}).idle() {
				w.ticks(1)
			}
			if end := w.exec(Key{appA, "1"}).stages[0].end; end > x.ctl.deadline.Add(time.Second) {
				t.Errorf("%s, restart %v: ended %v after its deadline", law, restart, end.Sub(x.ctl.deadline))
			}
		}
	}
}

// A hold overrides the law within the usual bounds, without a new Rev, and the law
// goes on from it without a jump when it is lifted.
func TestAHoldOverridesTheLaw(t *testing.T) {
	for _, law := range controller.Laws() {
		w := controlled(t, law)
		x := w.e.roster.index[Key{appA, "1"}]
		hold := func(cores units.Cores) {
			t := w.e.roster.plan.Apps[0].Stages[0]
			t.Hold, t.HoldFor = cores, 10
			w.apply(plan(w.e.roster.plan.Epoch+1, planApp(appA, 2, ids("1"), t)))
		}
		for _, cores := range []units.Cores{0.4, 5, 0.6} {
			hold(cores)
			w.ticks(4)
			if want := min(cores, 2); x.ctl.request != want || x.ctl.grant != want {
				t.Errorf("%s: held at %v: request %v, grant %v", law, cores, x.ctl.request, x.ctl.grant)
			}
		}
		hold(0)
		for !w.exec(Key{appA, "1"}).idle() {
			w.ticks(1)
		}
		if end := w.exec(Key{appA, "1"}).stages[0].end; end > x.ctl.deadline.Add(time.Second) {
			t.Errorf("%s: ended %v after its deadline", law, end.Sub(x.ctl.deadline))
		}
	}
}

// A target whose work is next to nothing has no rate that could be saved: it counts as one of
// which the work is not known.
func TestATargetOfHardlyAnyWorkIsSaved(t *testing.T) {
	for _, law := range controller.Laws() {
		for _, work := range []float64{1e-300, 9.3e-307, 1e-307, 5e-324} {
			for _, d := range []time.Duration{0, time.Second} {
				cfg := testConfig(2)
				cfg.Controller.Law = law
				w := newWorld(t, cfg)
				a := planApp(appA, 2, ids("1"))
				w.ready(1, a)
				w.exec(Key{appA, "1"}).submit(0, 1, 1.75)
				a.Stages = []api.StageTarget{target(0, "1", 1, work, d, 1)}
				w.apply(plan(2, a))
				for range 4 {
					w.ticks(1)
					w.restart(cfg)
				}
			}
		}
	}
}
