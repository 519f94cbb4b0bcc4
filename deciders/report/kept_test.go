package report_test

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// A prediction is kept until an event of its application, or for five seconds. The driver is late
// here, so that each second makes the end a second later.
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
	kept()
	changed, before := []int{}, kept()
	for at := 35; at <= 54; at++ {
		c.To(units.Seconds(at))
		if now := kept(); now != before {
			if before = now; now != anew() {
				t.Errorf("at %d: %v, want %v", at, now, anew())
			}
			changed = append(changed, at)
		}
	}
	if len(changed) != 4 || changed[1] != changed[0]+5 || changed[3] != changed[0]+15 {
		t.Errorf("it is predicted anew at %v, want each 5 s", changed)
	}
	c.To(units.Seconds(changed[3] + 6))
	kept()
	c.To(units.Seconds(changed[3] + 7))
	if got := kept(); got == anew() {
		t.Fatalf("a second later it is %v already", got)
	}
	c.Know(ledger.EventTaken{App: a.ID, Seq: a.Marks.AckedSeq + 1})
	if got, want := kept(), anew(); got != want {
		t.Errorf("after an event %v, want %v", got, want)
	}
}

// However many events there are and however many look, of 1,000 applications at most 250 are predicted in a second, and
// none is told for longer than five seconds.
func TestFewPredictionsAreMade(t *testing.T) {
	const apps = 1000
	nodes := make([]string, 100)
	for i := range nodes {
		nodes[i] = fmt.Sprint("n", i)
	}
	c := ledgertest.New(t, nodes...)
	all := make([]*ledger.App, apps)
	for i := range all {
		all[i] = c.App(api.AppID(fmt.Sprintf("app-%04d", i)), "", 0, nodes[i%100])
	}
	var k report.Kept
	look := func() {
		for _, a := range c.View().Apps() {
			k.Summary(c.View(), estimate.Policy{}, a)
		}
	}
	c.To(100)
	if look(); k.Made() != apps {
		t.Fatalf("%d at first", k.Made())
	}
	const seconds = 60
	before, most := k.Made(), 0
	for s := range seconds {
		for _, a := range all {
			c.Know(ledger.EventTaken{App: a.ID, Seq: a.Marks.AckedSeq + 1})
		}
		last := k.Made()
		for tick := range 4 {
			c.To(units.Seconds(100+s) + units.Seconds(tick+1)/4)
			look()
			look()
		}
		most = max(most, k.Made()-last)
	}
	if n := k.Made() - before; n > 250*seconds || n < apps/5*seconds || most > 285 {
		t.Errorf("%d in %d s, %d in one", n, seconds, most)
	}
	c.To(1000)
	last := k.Made()
	if look(); k.Made()-last != apps {
		t.Errorf("%d of %d are predicted after a long time", k.Made()-last, apps)
	}
}
