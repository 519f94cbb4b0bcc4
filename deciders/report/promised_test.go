package report_test

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
)

// Who has a deadline that can be kept is promised the least cores with which it is, until then; the first due is the first.
// One without a deadline is promised nothing.
func TestWhatIsPromisedFromNowOn(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	o := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}.Outlook(c.View())
	if got := report.Promised(o); got == nil || len(got) != 0 {
		t.Errorf("nobody is promised %v", got)
	}
	late := c.App("app-1", "p", 300, "a", "b")
	early := c.App("app-2", "p", 200, "a")
	c.App("app-3", "p", 0, "b")
	c.To(10)
	got := report.Promised(o)
	if len(got) != 2 || got[0].App != early.ID || got[1].App != late.ID {
		t.Fatalf("%+v", got)
	}
	for i, a := range []*ledger.App{early, late} {
		if want := (api.PromisedCores{App: a.ID, Cores: o.Least(a), Until: time.Unix(0, int64(a.Instant(a.Promise.Deadline))).UTC()}); got[i] != want {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
}
