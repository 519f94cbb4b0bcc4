package recording_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// A run leaves in its profile what was unforeseen in it, and by how much it ended after the aim of its last stage.
func TestARunLeavesItsResidual(t *testing.T) {
	c := ledgertest.New(t, "a")
	old := ledgertest.Chain("p")
	old.Cores = 4
	c.Know(ledger.ProfileSaved{Body: old})
	a := c.App("app-1", "p", 100, "a")
	to := func(s units.Seconds) { c.To(units.FromDuration(a.Instant(s).Sub(ledgertest.Start))) }
	run := func(id int, signature string, records int64, work, until units.Seconds, aim units.Seconds) {
		key := api.StageKey{Stage: id}
		c.Know(ledger.StageReady{App: a.ID, At: a.At(c.Now), Seq: uint64(id + 1), Ready: api.StageReady{StageKey: key, Job: id, Name: signature,
			Signature: signature, Tasks: 4, Records: records, Bindings: []api.Binding{{Executor: "1", Weight: 4, Tasks: 4}}}},
			ledger.StageMatched{App: a.ID, Stage: key})
		s := a.Stages[key]
		c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: ledger.Aim{Planned: true, DeadlineAt: a.Instant(aim)}, First: aim - s.ReadyAt})
		began := a.At(c.Now)
		to(until)
		c.Done(a, s, work, began)
	}
	to(2)
	run(1, "read", 3000, 60, 20, 22)
	run(2, "map", 1000, 10, 30, 32)
	run(3, "new", 500, 16, 36, 38)
	run(4, "sum", 2000, 100, 70, 69)
	c.Know(ledger.ContextStopped{App: a.ID, At: 71})
	p := learn(t, c, a, 1, recording.Merged)
	if len(p.Residuals) != 1 {
		t.Fatalf("residuals %+v", p.Residuals)
	}
	// 16 core-seconds on four cores, before the last of 170 core-seconds; the end at 72 s, aimed at 69 with a tail of 1.
	r := p.Residuals[0]
	if math.Abs(float64(r.Unforeseen[0])-4) > 1e-6 || math.Abs(float64(r.Unforeseen[3])-4) > 1e-6 || r.Unforeseen[4] != 0 || math.Abs(float64(r.End)-2) > 1e-6 {
		t.Errorf("%+v", r)
	}
}
