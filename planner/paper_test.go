package planner_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// The source's section 4 through the engine: alpha 0.97, beta 0.3, cq 0.05, a
// deadline of 100 s, two nodes of four cores, all numbers by hand.
func TestEquations1To7OnAChainOfThreeStages(t *testing.T) {
	cfg := planner.Default()
	// As in the source: alpha for all stages, one after the other.
	cfg.Aim, cfg.Split = 0, dag.SplitPaper
	w := newWorldOf(t, cfg, "a", "b")
	w.put(chain("p"))
	r := registration("p", 100)
	reply := w.mustRegister(r)
	if reply.Verdict != api.VerdictFeasible || reply.Executors != 2 || !reply.Directive.Gated {
		t.Fatalf("registered with %+v", reply)
	}
	steps := []struct {
		at        units.Seconds
		event     api.Event
		deadline  float64
		cores     units.Cores
		work      float64
		lastStage bool
	}{
		// Eq 3: d = (20+10+30)/20 = 3; Eq 2: w = 0.3*3 + 0.7*3 = 3; gaps to come
		// 2+3, tail 1; Eq 1: (97-2-6)/3 = 29.667; Eq 6: 60/29.667 = 2.022; Eq 7:
		// ceil(1.011/0.05)*0.05 = 1.05.
		{2, ready(2, 10, "read", 3000, "1", "2"), 29.66667, 1.05, 30, false},
		// d = 4; w = 0.6 + 2.8 = 3.4; (97-33.6-4)/3.4 = 17.471; the parents wrote
		// 1200 records, the profile says 1000 at 100 per core-second: 12
		// core-seconds; 0.687/2 = 0.343 -> 0.35.
		{33.6, ready(33.6, 11, "map", 1200, "1", "2"), 17.47059, 0.35, 6, false},
		// w = 0.3 + 0.7 = 1; 97-55-1 = 41; 100/41/2 = 1.22 -> 1.25.
		{55, ready(55, 12, "sum", 2000, "1", "2"), 41, 1.25, 50, true},
	}
	for i, s := range steps {
		w.to(s.at)
		if i > 0 {
			w.tell(reply.AppID, r.Submission, done(s.at, 9+i, steps[i-1].at))
		}
		w.tell(reply.AppID, r.Submission, s.event)
		if got := w.targets(reply.AppID); len(got) != 2 {
			t.Fatalf("stage %d has targets %v", i, got)
		}
		for _, x := range []api.ExecutorID{"1", "2"} {
			got := w.target(reply.AppID, 10+i, x)
			if got == nil || !near(float64(got.Remaining), s.deadline, 1e-4) || !near(float64(got.InitCores), float64(s.cores), 1e-9) ||
				!near(float64(got.Work), s.work, 1e-9) || got.Last != s.lastStage || got.Weight != 4 || got.Tasks != 4 {
				t.Errorf("stage %d on executor %s: %+v, want %v s on %v cores", i, x, got, s.deadline, s.cores)
			}
		}
	}

	// Eq 4 and 5: the last stage takes 40 s of its 41, the application 96 of 100.
	w.to(96)
	w.tell(reply.AppID, r.Submission, done(95, 12, 55), end(96))
	d := w.app(reply.AppID)
	if d.ErrorPct == nil || !near(*d.ErrorPct, 4, 1e-9) {
		t.Errorf("eps_a = %v, want 4 %%", d.ErrorPct)
	}
	if pct := d.Stages[2].ErrorPct; pct == nil || !near(*pct, 1, 1e-6) {
		t.Errorf("eps_s = %v, want 1 %%", pct)
	}
}

// With an aim the last stage gets all that is left until just before the
// deadline, whatever the stages before it took; these are planned by alpha, as far
// as the last one can use that reserve up.
func TestTheLastStageGetsWhatIsLeft(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.put(chain("p"))
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 10, "read", 3000, "1", "2"))
	// max(97, 99.6 - 0.3 - 0.03 - 0.25 x 40) = 97, a third of it.
	if got := w.target(id, 10, "1"); got == nil || !near(float64(got.Remaining), 89.0/3, 1e-4) {
		t.Errorf("first stage: %+v", got)
	}
	for _, late := range []units.Seconds{50, 55, 70} {
		w := newWorld(t, "a", "b")
		w.put(chain("p"))
		id := w.mustRegister(r).AppID
		w.to(late)
		w.tell(id, r.Submission, ready(2, 10, "read", 3000, "1", "2"), done(20, 10, 2), ready(22, 11, "map", 1200, "1", "2"),
			done(late-3, 11, 22), ready(late, 12, "sum", 2000, "1", "2"))
		// 99.6 - 0.3 - 3 % of the longest task's second - tail 1.
		if got := w.target(id, 12, "1"); got == nil || !got.Last || !near(float64(late+got.Remaining), 98.27, 1e-4) {
			t.Errorf("last stage from %v on: %+v", late, got)
		}
	}
}

// With an aim nothing makes up for what a short last stage lags behind, so it
// is not held back; one before it, or in the paper's system, is.
func TestAShortLastStageIsNotHeldBack(t *testing.T) {
	for _, c := range []struct {
		aim   float64
		at    units.Seconds
		stage string
		all   bool
	}{
		{0.996, 97, "sum", true}, {0.996, 95, "sum", false}, {0.996, 92, "map", false}, {0, 95, "sum", false},
	} {
		cfg := planner.Default()
		cfg.Aim = c.aim
		w := newWorldOf(t, cfg, "a", "b")
		w.put(chain("p"))
		r := registration("p", 100)
		id := w.mustRegister(r).AppID
		w.to(c.at)
		w.tell(id, r.Submission, ready(2, 10, "read", 3000, "1", "2"), done(20, 10, 2))
		last := 11
		if c.stage == "sum" {
			w.tell(id, r.Submission, ready(22, 11, "map", 1200, "1", "2"), done(c.at, 11, 22))
			last = 12
		}
		w.tell(id, r.Submission, ready(c.at, last, c.stage, 20, "1", "2"))
		if got := w.target(id, last, "1"); got == nil || got.Remaining <= 0 || (got.InitCores == 4) != c.all {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// Section 4: stages submitted together are planned in order of id, whatever the
// order in which they are told.
func TestStagesSubmittedTogetherInOrderOfID(t *testing.T) {
	cfg := planner.Default()
	cfg.Split = dag.SplitPaper
	w := newWorldOf(t, cfg, "a")
	w.put(diamond("p"))
	r := registration("p", 200)
	reply := w.mustRegister(r)
	if reply.Executors != 2 {
		t.Fatalf("pool of %d, want the width 2", reply.Executors)
	}
	w.to(2)
	w.tell(reply.AppID, r.Submission, ready(2, 8, "right", 1000, "2"), ready(2, 7, "left", 3000, "1"))
	// left: d = 60/20, w = 3; (194-2-3-1)/3. right: d = 40/10, w = 0.6+2.8.
	left, right := w.target(reply.AppID, 7, "1"), w.target(reply.AppID, 8, "2")
	if left == nil || !near(float64(left.Remaining), 188.0/3, 1e-6) {
		t.Errorf("left: %+v", left)
	}
	if right == nil || !near(float64(right.Remaining), 188.0/3.4, 1e-6) {
		t.Errorf("right: %+v", right)
	}
}

// Section 4: a null or negative stage deadline means all cores.
func TestAStageDeadlineThatHasPassedMeansAllCores(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	w.to(98)
	w.tell(id, r.Submission, ready(98, 1, "read", 3000, "1"))
	got := w.target(id, 1, "1")
	if got == nil || got.Remaining > 0 || got.InitCores != 4 {
		t.Errorf("target %+v, want no time left and the node's 4 cores", got)
	}
}
