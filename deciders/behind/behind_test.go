package behind_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/behind"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

var policy = estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}

// four are a cluster of one node of four cores with a large application of 170 core-seconds, due first, and three small
// ones of 42.5, due one second after the other.
func four(t *testing.T, strategy string, due units.Seconds) *ledgertest.Cluster {
	c := ledgertest.New(t, "a")
	c.Divides("a", strategy)
	small := ledgertest.Chain("small")
	for i := range small.Stages {
		small.Stages[i].CoreSeconds /= 4
		small.Stages[i].NominalRate *= 4
	}
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("large")}, ledger.ProfileSaved{Body: small})
	c.App("app-1", "large", due, "a")
	for i, id := range []api.AppID{"app-2", "app-3", "app-4"} {
		c.App(id, "small", due+units.Seconds(i+1), "a")
	}
	return c
}

// choice is one with what its asker keeps for it.
type choice struct {
	behind.Choice
	better units.Instant
}

// decide carries out what is decided, and says who is put behind, or taken forward, and the bands of the last Plan.
func decide(c *ledgertest.Cluster, of *choice) (said []string, bands map[api.AppID]api.Band) {
	bands = map[api.AppID]api.Band{}
	for _, lever := range of.Decide(policy.Outlook(c.View()), &of.better) {
		f := lever.(ledger.PutBehind)
		said = append(said, string(f.App)+" "+f.Why)
		for _, p := range c.Know(f).Plans {
			for _, a := range p.Apps {
				bands[a.ID] = a.Band
			}
		}
	}
	return said, bands
}

// wait lets time pass until something is decided, and says after how long.
func wait(c *ledgertest.Cluster, of *choice) (passed time.Duration, said []string, bands map[api.AppID]api.Band) {
	for passed < 20*time.Second && len(said) == 0 {
		c.Pass(behind.Every)
		passed += behind.Every
		said, bands = decide(c, of)
	}
	return passed, said, bands
}

// Without the large one the others are in time: after five seconds it is put behind them, which its node is told. It
// stays there, and has its place again five seconds after nothing is gained by that any more.
func TestWhoIsBehind(t *testing.T) {
	c := four(t, supervisor.Auto, 60)
	var choice choice
	if said, _ := decide(c, &choice); len(said) > 0 {
		t.Fatalf("at once: %q", said)
	}
	after, said, bands := wait(c, &choice)
	if after != 5*time.Second || len(said) != 1 || !strings.HasPrefix(said[0], "app-1 not all there can be in time") ||
		!strings.Contains(said[0], "170 core-seconds in 49 s") {
		t.Fatalf("after %v: %q", after, said)
	}
	large := c.View().App("app-1")
	if len(bands) != 4 || bands[large.ID] != api.BandBehind || bands["app-2"] != api.BandPromised || large.Band() != api.BandPromised {
		t.Errorf("bands %v", bands)
	}
	for range 32 {
		c.Pass(250 * time.Millisecond)
		if said, _ := decide(c, &choice); len(said) > 0 {
			t.Fatalf("it does not stay: %q", said)
		}
	}
	c.Know(ledger.DeadlineGiven{App: large.ID, Deadline: 400})
	if after, said, _ := wait(c, &choice); after != 6*time.Second || len(said) != 1 || said[0] != "app-1 " || large.Marks.Behind {
		t.Errorf("with time enough after %v: %q", after, said)
	}
}

// What is better for a moment changes nothing, such as executors of another application that start.
func TestAMomentChangesNothing(t *testing.T) {
	c := four(t, supervisor.Auto, 100)
	var choice choice
	for i := range 8 {
		says := ledgertest.Status("a", uint64(i+3))
		says.Division.Strategy, says.Others = supervisor.Auto, units.Cores(1.5*float64((i+1)%2))
		c.Know(ledger.NodeSaid{Status: says})
		for range 12 {
			c.Pass(250 * time.Millisecond)
			if said, _ := decide(c, &choice); len(said) > 0 {
				t.Fatalf("in turn %d: %q", i, said)
			}
		}
	}
}

// An application that comes, or ends, is no noise: what is better then holds at once.
func TestAnEventIsHeededAtOnce(t *testing.T) {
	c := four(t, supervisor.Auto, 110)
	var choice choice
	for range 8 {
		c.Pass(250 * time.Millisecond)
		if said, _ := decide(c, &choice); len(said) > 0 {
			t.Fatalf("with time enough: %q", said)
		}
	}
	c.App("app-5", "large", 100, "a")
	c.Pass(time.Second)
	said, _ := decide(c, &choice)
	if len(said) != 1 || !strings.HasPrefix(said[0], "app-") {
		t.Fatalf("with one more: %q", said)
	}
	for range 32 {
		c.Pass(250 * time.Millisecond)
		if said, _ := decide(c, &choice); len(said) > 0 {
			t.Fatalf("it does not stay: %q", said)
		}
	}
}

// None is behind where all can be in time, and where nodes go by another strategy.
func TestWhoIsNotBehind(t *testing.T) {
	for name, c := range map[string]*ledgertest.Cluster{
		"there is time": four(t, supervisor.Auto, 120), "edf-pure": four(t, supervisor.EDFPure, 60),
	} {
		var choice choice
		if after, said, _ := wait(c, &choice); len(said) > 0 {
			t.Errorf("%s: %q after %v", name, said, after)
		}
	}
}
