package verdict_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// A verdict says what is kept for what nobody foresees, from how many runs; a deadline in which that does not fit is
// tight, and of one nothing is kept whose user asks for an even chance.
func TestAVerdictSaysWhatIsKept(t *testing.T) {
	differing := ledgertest.Chain("p") // 65 s of stages and gaps on eight cores.
	for range 8 {
		differing.Residuals = append(differing.Residuals, api.Residual{Unforeseen: [api.ReservePlaces]units.Seconds{13, 13, 6}})
	}
	large := differing
	large.Residuals = []api.Residual{{Unforeseen: [api.ReservePlaces]units.Seconds{600, 600}}}
	for _, c := range []struct {
		name      string
		profile   api.Profile
		deadline  units.Seconds
		certainty units.Fraction
		verdict   api.Verdict
		says      string
		keeps     units.Seconds
	}{
		{"no run says", ledgertest.Chain("p"), 200, 0.95, api.VerdictFeasible, "how much its runs differ is not known: it is aimed 3.2s before", 3.25},
		{"runs differed", differing, 200, 0.95, api.VerdictFeasible, "earlier runs had up to 20 % more than foreseen: it is aimed 13s before", 13},
		{"it does not fit", differing, 80, 0.95, api.VerdictTight, "aimed 13s before", 13},
		{"it is bounded", large, 200, 0.95, api.VerdictFeasible, "aimed 50s before", 50},
		{"an even chance", differing, 200, 0.5, api.VerdictFeasible, "", 0},
	} {
		cluster := ledgertest.New(t, "a", "b")
		cluster.Know(ledger.ProfileSaved{Body: c.profile})
		a := cluster.App("app-1", "p", c.deadline, "a", "b")
		a.Tenant.Launch.Certainty = c.certainty
		p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
		p.Equations.Split = dag.SplitCriticalPath
		o := p.Outlook(cluster.View())
		f, said := verdict.Forecast(cluster.View(), o.With(a, nil, dag.Supply{Cores: 8, Slots: 8}), o.Turns(a.Profile.Graph, 1), cluster.View().Now())
		if f.Verdict != c.verdict || !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "aimed") {
			t.Errorf("%s: %s, %q", c.name, f.Verdict, said)
		}
		if r, _ := estimate.ReserveOf(a, o); r.Keep[0] != c.keeps {
			t.Errorf("%s: %v is kept, want %v", c.name, r.Keep[0], c.keeps)
		}
		if q := o.Of(a); c.keeps > 0 && (q.Reserve[0] != c.keeps || q.Aim != 1) || c.keeps == 0 && q != o.Turns(a.Profile.Graph, 1) {
			t.Errorf("%s: parameters %+v", c.name, q)
		}
	}
}

// What nobody has seen of a profile is believed to be as with the user's other ones.
func TestAReserveBeginsWithTheUsersOtherProfiles(t *testing.T) {
	cluster := ledgertest.New(t, "a", "b")
	other := ledgertest.Chain("other")
	other.Residuals = []api.Residual{{Unforeseen: [api.ReservePlaces]units.Seconds{6.5}}}
	cluster.Know(ledger.ProfileSaved{Body: other}, ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := cluster.App("app-1", "p", 200, "a", "b")
	a.Tenant.Launch.Certainty = api.UsualCertainty
	p := estimate.Policy{Equations: dag.Default()}
	if r, keeps := estimate.ReserveOf(a, p.Outlook(cluster.View())); !keeps || r.Keep[0] < 6.4 || r.Keep[0] > 6.6 {
		t.Errorf("%v is kept, want a tenth of 65 s", r.Keep[0])
	}
}

// Of an application that runs the verdict is tight where what it still keeps does not fit.
func TestAReserveThatDoesNotFitIsTight(t *testing.T) {
	for certainty, want := range map[units.Fraction]api.Verdict{0.95: api.VerdictTight, 0.5: api.VerdictFeasible} {
		c := ledgertest.New(t, "a", "b")
		body := ledgertest.Chain("p")
		body.Residuals = []api.Residual{{Unforeseen: [api.ReservePlaces]units.Seconds{13, 13, 13, 13, 13, 13, 13, 13, 13}}}
		c.Know(ledger.ProfileSaved{Body: body})
		a := c.App("app-1", "p", 80, "a", "b")
		a.Tenant.Launch.Certainty = certainty
		p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
		p.Equations.Split = dag.SplitCriticalPath
		if v := (verdict.Policy{}).Again(p.Outlook(c.View()), a, ledger.Gate{}); v.Verdict != want {
			t.Errorf("certainty %v: %s, %q, want %s", float64(certainty), v.Verdict, v.Reason, want)
		}
	}
}
