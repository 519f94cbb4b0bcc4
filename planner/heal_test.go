package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Of an application that has changed the second run with a deadline knows all stages, whether little has
// changed or all of it: then it turns out to be of the variant that the first run has founded.
func TestTheSecondRunKnowsWhatTheFirstOneShowed(t *testing.T) {
	for name, stages := range map[string][]string{
		"one more":       {"read", "map", "sort", "more", "join", "sum"},
		"one less":       {"read", "map", "join", "sum"},
		"other ones":     {"read", "other", "and", "another"},
		"all other ones": {"other", "and", "another"},
	} {
		w := newWorld(t, "a")
		w.putLong()
		first := w.run(registration("p", 400), stages...)
		w.pass(2 * time.Second)
		added := len(w.heard("stage added"))
		r := registration("p", 400)
		r.Submission = "the next"
		second := w.run(r, stages...)
		if d := w.app(second); d.Pacing != "paced" || len(w.heard("stage added")) != added {
			t.Errorf("%s: %s, %v", name, d.Pacing, w.heard("stage added")[added:])
		}
		for _, s := range w.e.View().App(second).Order {
			if s.Annotation == ledger.Unmatched || s.First == 0 {
				t.Errorf("%s: stage %v has the annotation %d", name, s.Key(), s.Annotation)
			}
		}
		if w.app(first).State != api.AppFinished {
			t.Errorf("%s: the first run: %+v", name, w.app(first))
		}
	}
}

// A run turns out to be of another variant: its stages are planned for that, a planner that starts again
// goes on with it. It does not turn back for little.
func TestARunTurnsOutToBeOfAnotherVariant(t *testing.T) {
	w := newWorld(t, "a")
	p, other := chain("p"), chain("p")
	for i, signature := range []string{"read", "filter", "write"} {
		other.Stages[i].Name, other.Stages[i].Signature = signature, signature
	}
	other.Stages[2].Duration, other.Stages[2].CoreSeconds, other.Stages[2].NominalRate = 90, 300, 2000.0/300
	p.Share, other.Share, p.Variants = 0.7, 0.3, []api.Profile{other}
	w.put(p)
	r := registration("p", 200)
	reply := w.mustRegister(r)
	id := reply.AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 1, "read", 3000, "1"))
	w.to(40)
	notice := w.tell(id, r.Submission, done(40, 1, 2), reads(ready(40, 2, "filter", 1000, "1"), 0, 1)).Directive.Notice
	if !strings.Contains(notice, `stage 2 (filter) shows another variant of profile "p"`) {
		t.Errorf("told %q", notice)
	}
	// A tenth of what the two stages of the variant take is the first one's.
	if s, target := w.stage(id, 2), w.target(id, 2, "1"); s.Estimated() || s.Annotation != 1 || target == nil || !near(float64(target.Remaining), 15, 1) {
		t.Errorf("%+v, target %+v", s.StageRecord, target)
	}
	w.restart()
	w.hello("a")
	w.to(60)
	w.tell(id, r.Submission, done(60, 2, 40), reads(ready(60, 3, "write", 2000, "1"), 0, 2))
	if s := w.stage(id, 3); s.Estimated() || s.Annotation != 2 || w.target(id, 3, "1") == nil || len(w.heard("variant taken")) != 1 {
		t.Errorf("%+v, %v", s.StageRecord, w.said)
	}
	w.to(150)
	at := units.Seconds(150)
	w.tell(id, r.Submission, done(at, 3, 60), reads(ready(at, 4, "map", 1000, "1"), 0, 1), reads(ready(at, 5, "sum", 1000, "1"), 0, 4))
	if a := w.e.View().App(id); len(w.heard("variant taken")) != 1 || !slices.ContainsFunc(a.Order, (*ledger.Stage).Estimated) {
		t.Errorf("it turned back for two stages of five: %v", w.said)
	}
}
