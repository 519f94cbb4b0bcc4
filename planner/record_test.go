package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// used is a status that says what executor 1 used for a stage, and at all.
func (w *world) used(id api.AppID, stage int, cpu, all units.Work, state api.ExecutorState) {
	w.Helper()
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: state, CPU: all, Quota: api.Unknown}}
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: stage}, Executor: "1", CPU: cpu, QuotaChanges: stage,
		Samples: []api.StageSample{{Age: 0.25, SetPoint: 0.5, Progress: 0.4, Grant: 2, Used: 1.5}}}}
	w.step(planner.Status{Status: &s})
}

// read is a status that says in which part of their CPU time the large tasks of an
// executor's stage read.
func (w *world) read(id api.AppID, stage int, executor api.ExecutorID, reading, cpu units.Work) {
	w.Helper()
	s := w.status("a")
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: stage}, Executor: executor, LargeReading: reading, LargeCPU: cpu}}
	w.step(planner.Status{Status: &s})
}

// What executors say of their large tasks' reading comes into the profile, and from
// there into the targets of the next run.
func TestReadingGoesIntoTheProfileAndTheTargets(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	r.Profile = "q"
	id := w.run(r, "read", "map", "sum")
	w.read(id, 0, "1", 0.5, 0.9) // Too short to tell.
	w.read(id, 1, "1", 6, 8)
	w.read(id, 1, "2", 9, 12)
	w.read(id, 1, "1", 0, 0) // A restarted executor knows nothing.
	w.read(id, 2, "2", 1, 12)
	w.read(id, 2, "1", 6, 8) // Each counts as its tasks' CPU time.
	w.pass(2 * time.Second)
	p := w.stored("q")
	if p == nil || p.Stages[2].Reading != 0.35 || p.Stages[1].Reading != 0.75 || p.Stages[0].Reading != 0 {
		t.Fatalf("profile %+v", p)
	}
	r = registration("s", 100)
	r.Profile = "q"
	next := w.mustRegister(r).AppID
	w.used(next, 0, 0, 0, api.ExecutorRunning)
	for i, signature := range []string{"read", "map", "sum"} {
		w.tell(next, r.Submission, ready(5, i, signature, 1000, "1"))
		if got := w.targets(next); len(got) != 1 || got[fmt.Sprintf("%d.0@1", i)].Reading != p.Stages[i].Reading {
			t.Fatalf("stage %d: targets %+v", i, got)
		}
		w.tell(next, r.Submission, done(8, i, 5))
	}
}

// run registers an application and lets it go through the chain's stages in the
// given times.
func (w *world) run(r api.RegisterRequest, signatures ...string) api.AppID {
	w.Helper()
	start := w.now
	id := w.mustRegister(r).AppID
	at := func(s units.Seconds) { w.now = start.Add(s.Duration()) }
	at(3)
	w.used(id, 0, 0, 5, api.ExecutorRunning) // Start-up: before the first task.
	t := units.Seconds(4)
	for i, signature := range signatures {
		at(t)
		event := ready(t, i, signature, 1000, "1")
		if i > 0 {
			event.Stage.Parents = []int{i - 1}
		}
		w.tell(id, r.Submission, event)
		at(t + 5)
		w.used(id, i, 10, 10+10*units.Work(i), api.ExecutorRunning)
		w.tell(id, r.Submission, done(t+5, i, t))
		t += 6
	}
	at(t)
	w.tell(id, r.Submission, end(t))
	return id
}

func (w *world) stored(name string) *api.Profile {
	r := w.control(api.VerbProfile, api.ControlRequest{Profile: name})
	if r.Error != nil {
		return nil
	}
	return &r.Profiles[0]
}

// Who was promised a profile is told at the end of the run that there is none, and why.
func TestAPromisedProfileThatThereIsNot(t *testing.T) {
	for _, c := range []struct {
		name         string
		deadline     units.Seconds
		exit         api.ControlRequest
		said, reason string
	}{
		{"recorded", 0, api.ControlRequest{Elapsed: 23}, "; recorded profile p; 23 s or more would be a feasible deadline", ""},
		{"suspended", 0, api.ControlRequest{Elapsed: 3623, Suspended: 3600},
			`this run is not recorded as profile "p": its machine was suspended for 1h0m0s while it ran`, "its machine was suspended for 1h0m0s while it ran"},
		{"with a deadline", 7200, api.ControlRequest{Elapsed: 3623, Suspended: 3600},
			`; this run is not recorded as profile "p": its machine was suspended for 1h0m0s while it ran`, "its machine was suspended for 1h0m0s while it ran"},
		{"failed", 60, api.ControlRequest{Elapsed: 23, ExitCode: 3}, "failed after 23 s: spark-submit ended with exit code 3", "it failed"},
	} {
		w := newWorld(t, "a")
		r := registration("p", c.deadline)
		r.Watched = true
		id := w.run(r, "read", "map", "sum")
		c.exit.Submission = r.Submission
		reply := w.control(api.VerbExit, c.exit)
		for range 2 { // As the planner expects it, and as it is.
			d := w.app(id)
			if reply.Message != d.Headline && d.Unrecorded != "" || !strings.HasSuffix(reply.Message, c.said) {
				t.Errorf("%s: told %q, then %q", c.name, reply.Message, d.Headline)
			}
			w.pass(3 * time.Second)
		}
		if d := w.app(id); d.Unrecorded != c.reason || (c.reason == "") != (w.stored("p") != nil) {
			t.Errorf("%s: %q, profile %v", c.name, d.Unrecorded, w.stored("p"))
		}
	}
}

// A user who is told that a run is recorded finds it at once, wherever it looks.
func TestWhatIsToldAsRecordedIsThere(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	r.Profile, r.Watched = "q", true
	w.run(r, "read", "map", "sum")
	reply := w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 23})
	if !strings.Contains(reply.Message, "recorded profile q") {
		t.Fatalf("told %q", reply.Message)
	}
	for range 2 { // Before and after the nodes' last figures.
		if p := w.stored("q"); p == nil || p.Runs != 1 || len(p.Stages) != 3 {
			t.Errorf("the profile is %+v", p)
		}
		if list := w.control(api.VerbProfiles, api.ControlRequest{}).Listed; len(list) != 1 || list[0].Name != "q" {
			t.Errorf("the list is %+v", list)
		}
		if rows := w.control(api.VerbReport, api.ControlRequest{}).Report.Rows; len(rows) != 1 || rows[0].Runs != 1 {
			t.Errorf("the report is %+v", rows)
		}
		if plan := w.step(planner.PlanQuery{To: 1, Request: api.PlanRequest{V: api.Version, Profile: "q", Deadline: 60}}).(api.PlanReply); plan.Error != nil || plan.Verdict != api.VerdictFeasible {
			t.Errorf("the plan is %+v", plan)
		}
		w.pass(3 * time.Second)
	}
}

// A profile that a user puts or removes after a run stays as the user wants it, though the nodes' last figures come later.
func TestAPutProfileIsNotTaughtByARunBefore(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	r.Profile, r.Watched = "q", true
	w.run(r, "read", "map", "sum")
	w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 23})
	put := *w.stored("q")
	if reply := w.control(api.VerbProfileRm, api.ControlRequest{Profile: "q"}); reply.Error != nil {
		t.Fatalf("a profile that is shown is not removed: %v", reply.Error)
	}
	w.pass(3 * time.Second)
	if p := w.stored("q"); p != nil {
		t.Fatalf("the removed profile is there again: %+v", p)
	}
	r = registration("p", 100)
	r.Profile, r.Watched, r.Submission = "q", true, "the next"
	w.run(r, "read", "map", "sum")
	w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 23})
	put.Runs = 7
	w.control(api.VerbProfilePut, api.ControlRequest{Body: &put})
	w.pass(3 * time.Second)
	if p := w.stored("q"); p == nil || p.Runs != 7 {
		t.Errorf("the profile that was put is %+v", p)
	}
}

func TestAFirstRunIsRecordedAsItsProfile(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	r.Profile = "q"
	id := w.run(r, "read", "map", "sum")
	if d := w.app(id); d.State != api.AppFinished || d.Pacing != "recording" || w.stored("q") != nil {
		t.Fatalf("before the final figures: %+v", d)
	}
	w.pass(2 * time.Second)
	p := w.stored("q")
	if p == nil || len(p.Stages) != 3 || p.Runs != 1 || p.Head != 4 || p.Tail != 1 || p.Duration != 22 || p.Cores != 4 {
		t.Fatalf("profile %+v", p)
	}
	s := p.Stages[1]
	if s.Duration != 5 || s.Gap != 1 || s.CoreSeconds != 10 || s.NominalRate != 100 || s.Records != 1000 || s.Signature != "map" {
		t.Errorf("stage %+v", s)
	}
	// Core-seconds: from the first launch at 4 s, when a sixth of the time from
	// 3 to 9 s had passed, to the last task's end at 21 s.
	d := w.app(id)
	first := 5 + 5.0/6
	if !near(float64(d.CoreSeconds), 30-first, 1e-6) || !near(float64(d.MeanCores), (30-first)/17, 1e-6) {
		t.Errorf("%v core-seconds, mean %v", float64(d.CoreSeconds), float64(d.MeanCores))
	}
	if d.QuotaChanges != 3 || d.FirstLaunch != 4 || len(d.Stages) != 3 {
		t.Errorf("detail %+v", d)
	}
	if x := d.Stages[1]; len(x.Samples) != 1 || x.Samples[0].At != 14.75 || x.Samples[0].Grant != 2 || x.CoreSeconds != 10 || x.State != "done" {
		t.Errorf("stage %+v", x)
	}
}

func TestWhichRunsChangeAProfile(t *testing.T) {
	for _, c := range []struct {
		name     string
		deadline units.Seconds
		stages   []string
		fail     bool
		before   func(w *world)
		runs     int // 0: none is stored.
		stagesIn int
		variants int // Besides the first one.
	}{
		{"a failed first run", 0, []string{"read"}, true, nil, 0, 0, 0},
		{"a first run without a stage", 0, nil, false, nil, 0, 0, 0},
		{"a first run with a deadline", 60, []string{"read", "map"}, false, nil, 1, 2, 0},
		{"a run at all cores is merged", 0, []string{"read", "map", "sum"}, false, (*world).putChain, 2, 3, 0},
		{"a run of other stages is a variant", 0, []string{"read", "other"}, false, (*world).putChain, 1, 3, 1},
		{"a run of few stages is a variant", 0, []string{"read"}, false, (*world).putChain, 1, 3, 1},
		{"so is one with a deadline", 400, []string{"read", "other"}, false, (*world).putChain, 1, 3, 1},
		{"a new stage enters", 0, []string{"read", "map", "sort", "join", "sum", "more"}, false, (*world).putLong, 2, 6, 0},
		{"a new stage enters with a deadline", 400, []string{"read", "map", "sort", "join", "more", "sum"}, false, (*world).putLong, 2, 6, 0},
		{"a new stage enters where the deadline is infeasible", 20, []string{"read", "map", "sort", "join", "more", "sum"}, false, (*world).putLong, 2, 6, 0},
		{"a stage that is missed stays", 400, []string{"read", "sort", "join", "sum"}, false, (*world).putLong, 2, 5, 0},
		{"an infeasible one ran at all cores", 20, []string{"read", "map", "sum"}, false, (*world).putChain, 2, 3, 0},
		{"a paced run of other sizes merges its work", 400, []string{"read", "map", "sum"}, false, (*world).putChain, 2, 3, 0},
		{"a paced run merges its work", 400, []string{"read", "map", "sum"}, false, (*world).putSmall, 2, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "a")
			if c.before != nil {
				c.before(w)
			}
			r := registration("p", c.deadline)
			if c.fail {
				id := w.mustRegister(r).AppID
				w.tell(id, r.Submission, ready(2, 1, "read", 1, "1"), done(3, 1, 2), api.Event{Type: api.EventEnd, At: 5, Failed: true, Reason: "no"})
				if d := w.app(id); d.State != api.AppFailed {
					t.Errorf("state %s", d.State)
				}
			} else {
				w.run(r, c.stages...)
			}
			w.pass(2 * time.Second)
			p := w.stored("p")
			if c.runs == 0 {
				if p != nil {
					t.Errorf("recorded %+v", p)
				}
				return
			}
			if p == nil || p.Runs != c.runs || len(p.Stages) != c.stagesIn || len(p.Variants) != c.variants {
				t.Errorf("profile %+v; %v", p, w.said)
			}
		})
	}
}

func (w *world) putChain() { w.put(chain("p")) }

// putLong puts a chain of five stages that use what run uses.
func (w *world) putLong() {
	p := chain("p")
	for i, signature := range []string{"read", "map", "sort", "join", "sum"} {
		s := p.Stages[0]
		if s.ID, s.Name, s.Signature = i, signature, signature; i > 0 {
			s.Parents = []int{i - 1}
		}
		s.CoreSeconds, s.Records, s.NominalRate = 10, 1000, 100
		p.Stages = append(p.Stages[:i:i], s)
	}
	w.put(p)
}

// putSmall puts a chain that uses what run uses, in other times.
func (w *world) putSmall() {
	p := chain("p")
	for i := range p.Stages {
		p.Stages[i].CoreSeconds, p.Stages[i].Records, p.Stages[i].NominalRate = 11, 1000, 1000.0/11
	}
	w.put(p)
}

func TestAPacedRunKeepsTheDurationsOfAllCores(t *testing.T) {
	w := newWorld(t, "a")
	w.putSmall()
	w.run(registration("p", 400), "read", "map", "sum")
	w.pass(2 * time.Second)
	s := w.stored("p").Stages[0]
	if s.Duration != 20 || !near(float64(s.CoreSeconds), 10.5, 1e-9) {
		t.Errorf("stage %+v, want the duration of all cores and half of the new work", s)
	}
}

func TestTheNextRunFindsTheProfileAtOnce(t *testing.T) {
	w := newWorld(t, "a")
	w.run(registration("p", 0), "read", "map", "sum")
	r := registration("p", 100)
	r.Submission = "the next"
	if reply := w.register(r); reply.Verdict != api.VerdictFeasible {
		t.Errorf("registered with %+v", reply)
	}
}

func TestTheEndDoesNotWaitForFiguresThatHaveCome(t *testing.T) {
	w := newWorld(t, "a")
	id := w.run(registration("p", 0), "read")
	w.used(id, 0, 10, 11, api.ExecutorExited)
	w.step(planner.Tick{})
	if w.stored("p") == nil {
		t.Error("not recorded although every executor has exited")
	}
}

func TestPredictedFinishHoldsStillWhenAllGoesAsPlanned(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	want := 99.27 // Aim D less the margin and 3 % of the longest task; the tail included.
	check := func(when string) {
		t.Helper()
		if got := w.app(id).Predicted; !near(float64(got), want, 0.01) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	check("at the start")
	at, gaps := units.Seconds(2), []units.Seconds{2, 3, 0}
	for i, signature := range []string{"read", "map", "sum"} {
		w.to(at)
		w.tell(id, r.Submission, ready(at, i, signature, 0, "1"))
		check(signature + " is ready")
		length := w.target(id, i, "1").Remaining
		for _, part := range []units.Seconds{0.1, 0.5, 0.9} {
			w.to(at + part*length)
			s := w.status("a")
			s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: i}, Executor: "1", Progress: units.Fraction(part)}}
			w.step(planner.Status{Status: &s})
			check(signature + " is on its way")
		}
		at += length
		w.to(at)
		w.tell(id, r.Submission, done(at, i, at-length))
		check(signature + " is done")
		at += gaps[i]
	}
}

func TestPredictedFinishMovesWithAStageThatLags(t *testing.T) {
	w := newWorld(t, "a")
	p := chain("p")
	p.Stages = p.Stages[:1]
	w.put(p)
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 1, "read", 3000, "1"))
	w.to(49) // Half of its 96.27 s has passed, a quarter is done.
	s := w.status("a")
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: 1}, Executor: "1", Progress: 0.25}}
	w.step(planner.Status{Status: &s})
	if got := w.app(id).Predicted; !near(float64(got), 49+0.75*96.27+1, 0.01) {
		t.Errorf("predicted %v", got)
	}
}

func TestPredictedFinishAtAllCores(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.put(chain("p"))
	id := w.mustRegister(registration("p", 0)).AppID
	if got := w.app(id).Predicted; got != 68 {
		t.Errorf("predicted %v, want what the profile took", got)
	}
	unknown := registration("new", 0)
	if got := w.app(w.mustRegister(unknown).AppID).Predicted; got != 0 {
		t.Errorf("predicted %v without a profile", got)
	}
}
