package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// setPolicy asks for a policy of the queue and returns the planner's line, or its refusal.
func (w *world) setPolicy(p *api.QueuePolicy) string {
	w.Helper()
	r := w.control(api.VerbPolicySet, api.ControlRequest{Policy: p})
	if r.Error != nil {
		return r.Error.Error()
	}
	return r.Message
}

// What an operator sets counts before the configuration, after a restart too, until it is taken back; what it
// leaves open is as configured.
func TestAPolicyIsSetLive(t *testing.T) {
	w := newWorld(t, "a")
	want := func(what, said string, policy api.QueuePolicy) {
		t.Helper()
		if is := w.cfg.PolicyIn(w.e.View()); is != policy || !strings.HasSuffix(said, "from now on") {
			t.Errorf("%s: %q, the queue is served by %+v, want %+v", what, said, is, policy)
		}
	}
	backfill := api.QueuePolicy{Rule: "backfill", Order: "edf", Size: "time", Admission: "open", Late: "share"}
	if is := w.cfg.PolicyIn(w.e.View()); is != backfill {
		t.Errorf("as configured: %+v", is)
	}
	want("set", w.setPolicy(&api.QueuePolicy{Rule: "backfill", Size: "time"}), backfill)
	set := w.e.View().QueuePolicy()
	w.restart()
	if now := w.e.View().QueuePolicy(); now == nil || *now != *set {
		t.Errorf("after a restart %+v, want %+v", now, set)
	}
	w.setPolicy(&api.QueuePolicy{Rule: "flexible", Order: "sjf"})
	some := api.QueuePolicy{Rule: "flexible", Order: "sjf", Size: "time", Admission: "open", Late: "refuse"}
	want("late alone", w.setPolicy(&api.QueuePolicy{Late: "refuse"}), some)
	some.Admission = "justice"
	want("admission alone", w.setPolicy(&api.QueuePolicy{Admission: "justice"}), some)
	some.Rule, some.Order = "rigid", "edf"
	want("a rule, with the order that is configured", w.setPolicy(&api.QueuePolicy{Rule: "rigid"}), some)
	some.Order = "hrrn"
	want("an order alone", w.setPolicy(&api.QueuePolicy{Order: "hrrn"}), some)
	w.restart()
	if is := w.cfg.PolicyIn(w.e.View()); is != some {
		t.Errorf("after a restart the queue is served by %+v, want %+v", is, some)
	}
	want("taken back", w.setPolicy(nil), backfill)
	w.restart()
	if now := w.e.View().QueuePolicy(); now != nil {
		t.Errorf("taken back, and a restart: %+v", now)
	}
}

func TestAPolicyThatIsNotKnownIsRefused(t *testing.T) {
	w := newWorld(t, "a")
	for want, p := range map[string]api.QueuePolicy{
		`rule is "luck", want one of backfill`: {Rule: "luck"}, `rule is "", want one of`: {}, `admission is "oracle", want one of open, pythia, justice`: {Admission: "oracle"},
		`late is "never", want one of share, refuse`: {Late: "never"},
		`order is "lifo", want one of edf`:           {Rule: "backfill", Order: "lifo"}, `size is "weight", want one of time`: {Rule: "backfill", Size: "weight"},
	} {
		if said := w.setPolicy(&p); !strings.Contains(said, want) {
			t.Errorf("%+v: %s, want %s", p, said, want)
		}
	}
	said := w.setPolicy(&api.QueuePolicy{Rule: "luck", Order: "lifo", Size: "weight"})
	for _, what := range []string{"luck", "lifo", "weight"} {
		if !strings.Contains(said, what) {
			t.Errorf("%s is not among the faults: %s", what, said)
		}
	}
	if w.e.View().QueuePolicy() != nil {
		t.Error("one of them counts")
	}
}

// policy asks how the queue is served.
func (w *world) policy() api.ControlReply {
	w.Helper()
	r := w.control(api.VerbPolicy, api.ControlRequest{})
	if r.Error != nil || r.Policy == nil {
		w.Fatalf("%+v", r)
	}
	return r
}

// It is shown which policy is in force and who has said so, live, and who waits in which order.
func TestAPolicyIsShown(t *testing.T) {
	w := newWorld(t, "a")
	want := func(what, rule, order, setBy string) {
		t.Helper()
		if p := w.policy().Policy; p.Rule != rule || p.Order != order || p.Size != "time" || p.SetBy != setBy {
			t.Errorf("%s: %+v", what, p)
		}
	}
	want("at first", "backfill", "edf", "")
	next := w.cfg
	next.Queue.Rule, next.Queue.Order = "malleable", "fifo"
	if r := w.step(planner.Configure{To: 1, Config: next}).(api.ControlReply); r.Error != nil {
		t.Fatal(r.Error)
	}
	w.cfg = next
	want("configured anew", "malleable", "fifo", "")
	w.setPolicy(&api.QueuePolicy{Rule: "rigid"})
	want("set", "rigid", "fifo", "operator")
	w.restart()
	w.hello("a")
	want("set, and a restart", "rigid", "fifo", "operator")
	w.setPolicy(nil)
	want("taken back", "malleable", "fifo", "")

	one := w.mustRegister(large("one")).AppID
	var ids []api.AppID
	for _, name := range []string{"two", "three"} {
		ids = append(ids, w.mustRegister(large(name)).AppID)
	}
	r := w.policy()
	for i, a := range r.Apps {
		if a.Queue == nil || a.Queue.Place != i+1 || !slices.Contains(ids, a.ID) || a.ID == one {
			t.Errorf("place %d: %+v", i+1, a)
		}
	}
	if len(r.Apps) != len(ids) {
		t.Errorf("%d wait, want %d", len(r.Apps), len(ids))
	}
}

// How even applications are served is the mean of what each minute has shown.
func TestEvennessIsThatOfMinutes(t *testing.T) {
	w := newWorld(t, "a")
	if s := w.policy().Policy.Scores; s.Fairness != nil || s.Equality != nil {
		t.Errorf("of nobody: %+v", s)
	}
	first, second := large("first"), large("second")
	one := w.mustRegister(first).AppID
	w.tell(one, first.Submission, up("1"))
	minute := func() float64 {
		t.Helper()
		for range 30 {
			w.pass(2 * time.Second)
			w.tell(one, first.Submission)
			w.says("a", api.ExecutorRunning, one)
		}
		s := w.policy().Policy.Scores
		if s.Fairness == nil || s.Equality == nil || *s.Fairness != *s.Equality {
			t.Fatalf("%+v", s)
		}
		return *s.Fairness
	}
	if is := minute(); is != 1 {
		t.Errorf("one that has all: %v", is)
	}
	w.mustRegister(second)
	if is := minute(); is != 0.75 {
		t.Errorf("a minute of 1 and one of a half: %v", is)
	}
}

// While an executor leaves for one that waits, it is shown who gives which node to whom.
func TestAGiftIsShown(t *testing.T) {
	w, batch, shell := shared(t, assign.FlexiblePreemptive)
	want := []api.Gift{{From: batch, Node: "b", To: shell}}
	if gifts := w.policy().Policy.Gifts; !slices.Equal(gifts, want) {
		t.Errorf("%+v, want %+v", gifts, want)
	}
	w.restart()
	w.hello("a")
	w.hello("b")
	if gifts := w.policy().Policy.Gifts; !slices.Equal(gifts, want) {
		t.Errorf("after a restart %+v, want %+v", gifts, want)
	}
	w.tell(batch, "submission of batch", gone(36, "2"))
	w.live(time.Second, batch, shell)
	if r := w.policy(); len(r.Policy.Gifts)+len(r.Apps) != 0 {
		t.Errorf("it has started: %+v", r)
	}
}

// Executors that run no tasks while somebody waits are told to who asks and to who waits, through a restart, and until
// they have tasks.
func TestIdleMemoryIsShown(t *testing.T) {
	w := newWorld(t, "a")
	first, second := large("first"), large("second")
	one := w.mustRegister(first).AppID
	two := w.mustRegister(second).AppID
	minutes := func(stages ...api.StageStatus) {
		t.Helper()
		for range 65 {
			w.pass(2 * time.Second)
			w.tell(one, first.Submission)
			w.tell(two, second.Submission)
			s := w.status("a")
			s.Executors = []api.ExecutorStatus{{App: one, ID: "1", State: api.ExecutorRunning}}
			s.Stages = stages
			w.step(planner.Status{Status: &s})
		}
	}
	want := func(what string, idle ...api.IdleMemory) {
		t.Helper()
		if is := w.policy().Policy.Idle; !slices.Equal(is, idle) {
			t.Errorf("%s: %v is idle, want %v", what, is, idle)
		}
		told := w.directives[two].Queued
		if told == nil || strings.Contains(told.Why, "has run no task there for a minute") != (len(idle) > 0) {
			t.Errorf("%s: it is told %+v", what, told)
		}
	}
	idle := api.IdleMemory{App: one, Node: "a", Memory: 11 * units.GiB}
	want("at first")
	minutes()
	want("without tasks", idle)
	w.restart()
	w.hello("a")
	minutes()
	want("without tasks, and a restart", idle)
	minutes(api.StageStatus{App: one, Executor: "1", StageKey: api.StageKey{Stage: 1}})
	want("with tasks")
}
