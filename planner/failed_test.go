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

// nights are runs of the chain under a deadline of 200 s, where all cores take 68: one each night, and a planner that
// is started anew before each.
type nights struct {
	*world
	number int
}

// night is one whose stages take so long, of which it fails in the last one unless it is the third.
func (n *nights) night(most units.Seconds, took ...units.Seconds) (api.RegisterReply, api.AppDetail, map[string]api.StageTarget) {
	n.Helper()
	n.restart()
	n.hello("a")
	n.hello("b")
	n.number++
	start, r := n.now, registration("p", 200)
	r.Submission, r.Watched, r.Launch.JobMost = fmt.Sprint("night ", n.number), true, most
	reply := n.mustRegister(r)
	at, first := units.Seconds(2), map[string]api.StageTarget(nil)
	to := func(s units.Seconds) { n.now = start.Add(s.Duration()) }
	for i, s := range took {
		to(at)
		n.tell(reply.AppID, r.Submission, ready(at, i, []string{"read", "map", "sum"}[i], []int64{3000, 1000, 2000}[i], "1", "2"))
		if i == 0 {
			first = n.targets(reply.AppID)
			if running := n.app(reply.AppID); reply.Directive.Gated == strings.Contains(running.Headline, "the last paced run failed") {
				n.Errorf("night %d: gated %v, headline %q", n.number, reply.Directive.Gated, running.Headline)
			}
		}
		if to(at + s); i == len(took)-1 && i < 2 {
			at += s
			break
		}
		n.tell(reply.AppID, r.Submission, done(at+s, i, at))
		at += s + units.Seconds(i+2)
	}
	code := 9
	if len(took) == 3 {
		code = 0
	}
	n.stopped(reply.AppID, r.Submission, end(at))
	to(at + 1)
	n.report(r.Submission, code, at+1)
	n.pass(3 * time.Second)
	return reply, n.app(reply.AppID), first
}

// A paced run fails in a job that its program does not wait for so long, the next one runs at all cores and ends well,
// and pacing goes on with no job slower than that.
func TestAProgramThatFailsWhenItIsPaced(t *testing.T) {
	n := &nights{world: newWorld(t, "a", "b")}
	n.putChain()
	reply, app, first := n.night(0, 108)
	if !reply.Directive.Gated || len(first) == 0 || app.State != api.AppFailed || !strings.Contains(app.Headline, "exit code 9; it was held back, so its next run has all cores") {
		t.Fatalf("the first night: gated %v, %q", reply.Directive.Gated, app.Headline)
	}
	want := 108.0 / 65
	if p := n.stored("p"); !near(p.Habit.Suspected, want, 1e-6) || p.Habit.FailedAt != 0 || p.Runs != 1 {
		t.Fatalf("suspected %v, failed at %v, want %v", p.Habit.Suspected, p.Habit.FailedAt, want)
	}
	const says = "the last paced run failed, so this one has all cores"
	plan := func() api.PlanReply {
		return n.step(planner.PlanQuery{To: 1, Request: api.PlanRequest{V: api.Version, Profile: "p", Deadline: 200}}).(api.PlanReply)
	}
	if p := plan(); p.Verdict != api.VerdictFeasible || !strings.Contains(p.Reason, says) {
		t.Errorf("plan: %s, %q", p.Verdict, p.Reason)
	}
	reply, app, first = n.night(0, 20, 10, 30)
	if reply.Verdict != api.VerdictFeasible || reply.Directive.Gated || len(first) > 0 || !strings.Contains(reply.Reason, says) || app.Pacing != "released" {
		t.Fatalf("the second night: %s, gated %v, targets %v, %q, %s", reply.Verdict, reply.Directive.Gated, first, reply.Reason, app.Pacing)
	}
	if p := n.stored("p"); p.Habit.Suspected != 0 || !near(p.Habit.FailedAt, want, 1e-6) || p.Runs != 2 ||
		!strings.Contains(app.Headline, "held back it failed: from now on no job takes longer than 1.7 times what it takes at all cores") {
		t.Fatalf("after the second night: suspected %v, failed at %v, %q", p.Habit.Suspected, p.Habit.FailedAt, app.Headline)
	}
	if p := plan(); !strings.Contains(p.Reason, "no job takes longer than 1.7 times") {
		t.Errorf("plan: %q", p.Reason)
	}
	reply, app, first = n.night(0, 26, 13, 40)
	if !reply.Directive.Gated || len(first) == 0 || app.State != api.AppFinished || !strings.Contains(reply.Reason, "no job takes longer than 1.7 times") {
		t.Fatalf("the third night: gated %v, %q, %s", reply.Directive.Gated, reply.Reason, app.State)
	}
	if got := float64(app.Stages[0].Deadline); got < 20 || got > want*20 {
		t.Errorf("the first stage of 20 s at all cores has %v", got)
	}
}

// A program that fails at all cores, too, does not fail by pacing, which goes on as before.
func TestAProgramThatFailsAtAllCoresToo(t *testing.T) {
	n := &nights{world: newWorld(t, "a", "b")}
	n.putChain()
	n.night(0, 108)
	reply, app, _ := n.night(0, 20, 10)
	if p := n.stored("p"); reply.Directive.Gated || p.Habit.Suspected != 0 || p.Habit.FailedAt != 0 || !strings.Contains(app.Headline, "pacing is not why") {
		t.Fatalf("gated %v, suspected %v, failed at %v, %q", reply.Directive.Gated, p.Habit.Suspected, p.Habit.FailedAt, app.Headline)
	}
	if reply, app, _ = n.night(0, 60, 20, 60); !reply.Directive.Gated || strings.Contains(reply.Reason, "no job") || app.State != api.AppFinished || app.Stages[0].Deadline < 40 {
		t.Errorf("gated %v, %q, %s, a first stage of %v s", reply.Directive.Gated, reply.Reason, app.State, app.Stages[0].Deadline)
	}
}

// One that is let go for that stays so when it gets another deadline, or its driver comes again.
func TestWhatIsSuspectedIsNotHeldBackInTheSameRun(t *testing.T) {
	w := newWorld(t, "a", "b")
	p := chain("p")
	p.Habit.Suspected = 2
	w.put(p)
	r := registration("p", 200)
	id := w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 0, "read", 3000, "1", "2"))
	if reply := w.control(api.VerbDeadline, api.ControlRequest{App: id, Deadline: 300}); reply.Error != nil {
		t.Fatal(reply.Error)
	}
	w.live(6*time.Second, id)
	app := w.app(id)
	if app.Deadline != 300 || app.Pacing != "released" || len(w.targets(id)) > 0 || !strings.Contains(app.Reason, "the last paced run failed") {
		t.Errorf("deadline %v, %s, targets %v, %q", app.Deadline, app.Pacing, w.targets(id), app.Reason)
	}
	w.to(301)
	w.step(planner.Tick{})
	if app = w.app(id); !strings.Contains(fmt.Sprint(app.Notices), "the deadline of 5m0s has passed") {
		t.Errorf("it is late, and says %q", app.Notices)
	}
}

// spark.pacer.job.most bounds jobs from the first paced run on.
func TestAUserSaysHowLongAJobMayTake(t *testing.T) {
	n := &nights{world: newWorld(t, "a", "b")}
	n.putChain()
	reply, app, _ := n.night(108, 26, 13, 40)
	if !reply.Directive.Gated || !strings.Contains(reply.Reason, "no job takes longer than 1m48s") {
		t.Fatalf("gated %v, %q", reply.Directive.Gated, reply.Reason)
	}
	if got := float64(app.Stages[0].Deadline); !near(got, (108-5-5.4-5)/3, 1e-6) {
		t.Errorf("the first stage of 20 s of 60 has %v s", got)
	}
}
