package planner_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
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
	backfill := api.QueuePolicy{Rule: "backfill", Order: "edf", Size: "time"}
	if is := w.cfg.PolicyIn(w.e.View()); is != backfill {
		t.Errorf("as configured: %+v", is)
	}
	want("set", w.setPolicy(&api.QueuePolicy{Rule: "backfill", Size: "time"}), backfill)
	set := w.e.View().QueuePolicy()
	w.restart()
	if now := w.e.View().QueuePolicy(); now == nil || *now != *set {
		t.Errorf("after a restart %+v, want %+v", now, set)
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
		`rule is "luck", want one of backfill`: {Rule: "luck"}, `rule is "", want one of`: {Order: "edf"},
		`order is "lifo", want one of edf`: {Rule: "backfill", Order: "lifo"}, `size is "weight", want one of time`: {Rule: "backfill", Size: "weight"},
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
