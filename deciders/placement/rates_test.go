package placement

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Prophet's worked table: memory that fits, the least norm, most memory left, then names.
func TestProphet(t *testing.T) {
	const gib = units.GiB
	sites := []Site{
		{Name: "full", Free: gib, Needed: 2 * gib, Norm: 0},
		{Name: "busy", Free: 64 * gib, Needed: gib, Norm: 9},
		{Name: "quiet", Free: 8 * gib, Needed: gib, Norm: 2},
		{Name: "roomy", Free: 9 * gib, Needed: gib, Norm: 2},
		{Name: "other", Free: 8 * gib, Needed: gib, Norm: 2},
	}
	for most, want := range map[int][]int{1: {3}, 2: {3, 4}, 3: {2, 3, 4}, 4: {1, 2, 3, 4}} {
		if got := picked(sites, most, prophet); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", most, got, want)
		}
	}
}

// Tetris' worked table: memory that fits, peaks that fit by the greatest dot product, most memory left, then names.
func TestTetris(t *testing.T) {
	const gib = units.GiB
	sites := []Site{
		{Name: "full", Free: gib, Needed: 2 * gib, Packs: true, Dot: 9},
		{Name: "over", Free: 64 * gib, Needed: gib, Dot: 8},
		{Name: "snug", Free: 8 * gib, Needed: gib, Packs: true, Dot: 1},
		{Name: "best", Free: 8 * gib, Needed: gib, Packs: true, Dot: 3},
		{Name: "past", Free: 32 * gib, Needed: gib, Dot: 1},
	}
	for most, want := range map[int][]int{1: {3}, 2: {2, 3}, 3: {1, 2, 3}, 4: {1, 2, 3, 4}} {
		if got := picked(sites, most, tetris); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", most, got, want)
		}
	}
	if !Fits([]float64{0.5, 0.2}, []float64{0.5, 1}) || Fits([]float64{0.5, 0.2}, []float64{1, 0.1}) {
		t.Error("needs fit where each is at most what is left")
	}
	if dot := Dot([]float64{0.5, 0.2}, []float64{0.4, 1}); dot != 0.4 {
		t.Errorf("a dot product of %g", dot)
	}
}

// moving is the chain, of which the first stage reads so many MiB from other hosts.
func moving(name string, mib int64) api.Profile {
	p := ledgertest.Chain(name)
	p.Stages[0].Bytes = mib << 20
	p.Habit.Stages = map[int]api.StageHabit{0: {BytesRemote: new(mib << 20)}, 1: {BytesRemote: new(int64(0))},
		2: {BytesRemote: new(int64(0))}}
	return p
}

// comer is an application that comes, by a profile of that name.
func comer(c *ledgertest.Cluster, profile string, deadline units.Seconds) *ledger.App {
	return &ledger.App{ID: "app-9", Tenant: ledger.Tenant{Launch: api.Launch{Heap: units.GiB, OffHeapFixed: true}},
		Promise: ledger.Promise{Profile: profile, Start: c.Now, Deadline: deadline, Mode: ledger.Paced},
		Outcome: ledger.Outcome{State: api.AppRunning}, Profile: c.View().Judged("", profile)}
}

func seated(t *testing.T, c *ledgertest.Cluster, order string, a *ledger.App) string {
	t.Helper()
	o := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}.Outlook(c.View())
	s, err := Policy{Order: order, MaxNodes: 1}.Seats(o, a, c.View().Free)
	if err != nil {
		t.Fatal(err)
	}
	return s.Nodes()[0]
}

// Two nodes alike, one with an application that reads over the network. Another reader goes to the other one and
// whoever computes beside it, by prophet; least-committed, which sees applications alone, sends both to the other one.
func TestWhoReadsIsPutBesideWhoComputes(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	for _, node := range []string{"a", "b"} {
		c.Rates(node, 100*units.MiB, 10*units.MiB)
	}
	c.Know(ledger.ProfileSaved{Body: moving("reads", 900)}, ledger.ProfileSaved{Body: moving("computes", 0)})
	c.App("app-1", "reads", 130, "a")
	for _, w := range []struct{ order, profile, want string }{
		{Prophet, "reads", "b"}, {Prophet, "computes", "a"}, {Tetris, "reads", "b"}, {LeastCommitted, "computes", "b"},
	} {
		if got := seated(t, c, w.order, comer(c, w.profile, 130)); got != w.want {
			t.Errorf("%s puts what %s on %s, want %s", w.order, w.profile, got, w.want)
		}
	}
	// A run of which nobody knows what it reads goes by memory, whatever runs there.
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("unknown")})
	if got := seated(t, c, Prophet, comer(c, "unknown", 130)); got != "b" {
		t.Errorf("what is not known is put on %s, want b, which has more memory left", got)
	}
}

// A demand above every node's rate is placed by memory, for alone it fills each of them.
func TestADemandAboveEveryRateIsPlacedByMemory(t *testing.T) {
	for _, order := range []string{Prophet, Tetris} {
		c := ledgertest.New(t, "a", "b")
		c.Rates("a", 0, 10*units.MiB)
		c.Rates("b", 0, 20*units.MiB)
		says := ledgertest.Status("b", 3)
		says.Rates, says.Memory = api.NodeRates{Network: 20 * units.MiB}, 32*units.GiB
		c.Know(ledger.NodeSaid{Status: says}, ledger.ProfileSaved{Body: moving("reads", 1<<20)})
		if got := seated(t, c, order, comer(c, "reads", 130)); got != "b" {
			t.Errorf("%s puts it on %s, want b, which has more memory", order, got)
		}
	}
}

// Whatever runs where, each order takes the same nodes in whichever order they are given, and none twice.
func TestOrdersByRatesDoNotDependOnTheOrderOfNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites := drawSites(t)
		most := rapid.IntRange(1, 14).Draw(t, "most")
		shuffled := rapid.Permutation(sites).Draw(t, "order")
		for _, name := range []string{Prophet, Tetris} {
			names := func(sites []Site) (names []string) {
				for _, i := range picked(sites, most, order(name).order) {
					names = append(names, sites[i].Name)
				}
				slices.Sort(names)
				return names
			}
			is, other := names(sites), names(shuffled)
			if !slices.Equal(is, other) || len(slices.Compact(is)) != min(most, len(sites)) {
				t.Fatalf("%s takes %v, and %v in another order", name, is, other)
			}
		}
	})
}
