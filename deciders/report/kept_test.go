package report_test

import (
	"testing"

	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// A prediction is kept until an event of its application, or for two seconds. The driver is 10 s
// late here, so that each second makes the end a second later.
func TestPredictionsAreKept(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 0, "a", "b")
	p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	c.To(2)
	read := c.Ready(a, 1, "read", 3000, "1", "2")
	c.To(22)
	c.Done(a, read, 60, 2)
	var k report.Kept
	anew := func() units.Seconds { return report.Summary(c.View(), p, a).Predicted }
	kept := func() units.Seconds { return k.Summary(c.View().Snapshot(), p, a).Predicted }
	c.To(34)
	first := anew()
	if got := kept(); got != first {
		t.Fatalf("at first %v, want %v", got, first)
	}
	c.To(35)
	if got := kept(); got != first || anew() == first {
		t.Errorf("a second later %v, want %v as before; anew it is %v", got, first, anew())
	}
	c.Know(ledger.EventTaken{App: a.ID, Seq: a.Marks.AckedSeq + 1})
	if got, want := kept(), anew(); got != want || got == first {
		t.Errorf("after an event %v, want %v", got, want)
	}
	c.To(38)
	if got, want := kept(), anew(); got != want {
		t.Errorf("three seconds later %v, want %v", got, want)
	}
}
