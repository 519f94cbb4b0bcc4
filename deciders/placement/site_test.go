package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
	"pgregory.net/rapid"
)

func chosen(sites []Site, most int) []string {
	names := []string{}
	for _, i := range picked(sites, most, leastCommitted) {
		names = append(names, sites[i].Name)
	}
	return names
}

// TestLeastCommitted is placement's worked table: memory that fits,
// then cores for each application, then memory left, then names.
func TestLeastCommitted(t *testing.T) {
	const gib = units.GiB
	idle := Site{Name: "idle4", Offered: 4, Free: 16 * gib, Needed: gib}
	shared := Site{Name: "shared16", Offered: 16, Apps: 1, Free: 16 * gib, Needed: gib}
	crowded := Site{Name: "crowded16", Offered: 16, Apps: 4, Free: 16 * gib, Needed: gib}
	full := Site{Name: "full64", Offered: 64, Free: gib / 2, Needed: gib}
	roomy := Site{Name: "roomy4", Offered: 4, Free: 17 * gib, Needed: gib}
	twin := Site{Name: "idle3", Offered: 4, Free: 16 * gib, Needed: gib}
	all := []Site{idle, shared, crowded, full, roomy, twin}
	for _, c := range []struct {
		most int
		want []string
	}{
		{0, []string{"idle4", "shared16", "crowded16", "full64", "roomy4", "idle3"}},
		{1, []string{"shared16"}}, // 8 cores for each of two, where an idle node has 4.
		{2, []string{"shared16", "roomy4"}},
		{3, []string{"shared16", "roomy4", "idle3"}},
		{4, []string{"idle4", "shared16", "roomy4", "idle3"}},
		{5, []string{"idle4", "shared16", "crowded16", "roomy4", "idle3"}}, // Full memory comes last, however many cores.
		{6, []string{"idle4", "shared16", "crowded16", "full64", "roomy4", "idle3"}},
		{7, []string{"idle4", "shared16", "crowded16", "full64", "roomy4", "idle3"}},
	} {
		if diff := cmp.Diff(c.want, chosen(all, c.most)); diff != "" {
			t.Errorf("most %d (-want +got):\n%s", c.most, diff)
		}
	}
}

// better is the oracle's own reading of the rule: by cross products, in whole
// numbers.
func better(a, b Site) bool {
	aFits, bFits := a.Free-a.Needed >= 0, b.Free-b.Needed >= 0
	left, right := int(a.Offered)*(b.Apps+1), int(b.Offered)*(a.Apps+1)
	switch {
	case aFits != bFits:
		return aFits
	case left != right:
		return left > right
	case a.Free-a.Needed != b.Free-b.Needed:
		return a.Free-a.Needed > b.Free-b.Needed
	}
	return a.Name < b.Name
}

func drawSites(t *rapid.T) []Site {
	var sites []Site
	for i := range rapid.IntRange(0, 12).Draw(t, "sites") {
		sites = append(sites, Site{Name: fmt.Sprintf("n%02d", i), Offered: units.Cores(rapid.IntRange(1, 4).Draw(t, "cores") * 4),
			Apps: rapid.IntRange(0, 5).Draw(t, "apps"), Free: units.Bytes(rapid.IntRange(-2, 3).Draw(t, "free")), Needed: units.Bytes(rapid.IntRange(0, 2).Draw(t, "needed")),
			Norm: float64(rapid.IntRange(0, 2).Draw(t, "norm")), Packs: rapid.Bool().Draw(t, "packs"), Dot: float64(rapid.IntRange(0, 2).Draw(t, "dot"))})
	}
	return sites
}

// TestLeastCommittedOracle: a node is chosen if and only if fewer than most others
// are better, whatever the order in which they are given.
func TestLeastCommittedOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites := drawSites(t)
		most := rapid.IntRange(0, 14).Draw(t, "most")
		want := []string{}
		for _, s := range sites {
			ahead := 0
			for _, o := range sites {
				if better(o, s) {
					ahead++
				}
			}
			if most == 0 || ahead < most {
				want = append(want, s.Name)
			}
		}
		if diff := cmp.Diff(want, chosen(sites, most)); diff != "" {
			t.Fatalf("chosen (-want +got):\n%s", diff)
		}
		shuffled := chosen(rapid.Permutation(sites).Draw(t, "order"), most)
		slices.Sort(shuffled)
		if diff := cmp.Diff(want, shuffled); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	})
}

// TestLeastCommittedBalances: applications that come one after the other to equal
// nodes and stay leave no node with two more of them than another.
func TestLeastCommittedBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites := make([]Site, rapid.IntRange(1, 20).Draw(t, "nodes"))
		for i := range sites {
			sites[i] = Site{Name: fmt.Sprintf("n%02d", i), Offered: 16, Free: 1000, Needed: 1}
		}
		for range rapid.IntRange(1, 40).Draw(t, "applications") {
			for _, i := range picked(sites, rapid.IntRange(1, len(sites)).Draw(t, "most"), leastCommitted) {
				sites[i].Apps++
				sites[i].Free -= sites[i].Needed
			}
			counts := func(a, b Site) int { return a.Apps - b.Apps }
			if least, most := slices.MinFunc(sites, counts), slices.MaxFunc(sites, counts); most.Apps > least.Apps+1 {
				t.Fatalf("%d applications on %s, %d on %s", most.Apps, most.Name, least.Apps, least.Name)
			}
		}
	})
}

// TestMostMemory: memory left decides, whatever the cores; cores for each application
// between equals.
func TestMostMemory(t *testing.T) {
	const gib = units.GiB
	sites := []Site{
		{Name: "small", Offered: 64, Free: 4 * gib, Needed: gib},
		{Name: "large", Offered: 2, Apps: 3, Free: 32 * gib, Needed: gib},
		{Name: "shared", Offered: 8, Apps: 1, Free: 16 * gib, Needed: gib},
		{Name: "idle", Offered: 8, Free: 16 * gib, Needed: gib},
	}
	for most, want := range map[int][]int{1: {1}, 2: {1, 3}, 3: {1, 2, 3}} {
		if got := picked(sites, most, mostMemory); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", most, got, want)
		}
	}
}

// Every order is total, and every name of Orders is one.
func TestOrdersAreTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites := drawSites(t)
		for _, name := range Orders() {
			o := order(name).order
			for i := range sites {
				for j := range sites {
					a, b := o(&sites[i], &sites[j]), o(&sites[j], &sites[i])
					if (a < 0) != (b > 0) || (a == 0) != (i == j) {
						t.Fatalf("%s: %+v and %+v are %d and %d", name, sites[i], sites[j], a, b)
					}
				}
			}
		}
	})
}

// Of many sites those are chosen that a sort of all puts first, and each but the best is looked at once.
func TestTheBestOfManySitesAreChosenInOneLook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites := make([]Site, 2000)
		kinds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Site {
			return Site{Offered: units.Cores(rapid.IntRange(1, 4).Draw(t, "cores")), Apps: rapid.IntRange(0, 3).Draw(t, "apps"),
				Free: units.Bytes(rapid.IntRange(0, 8).Draw(t, "free")), Needed: 4}
		}), 1, 9).Draw(t, "kinds")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for i := range sites {
			sites[i] = kinds[r.IntN(len(kinds))]
			sites[i].Name = fmt.Sprintf("n%05d", r.IntN(1<<40))
		}
		most, looks := rapid.IntRange(1, 40).Draw(t, "most"), 0
		got := picked(sites, most, func(a, b *Site) int { looks++; return leastCommitted(a, b) })
		want := make([]int, len(sites))
		for i := range want {
			want[i] = i
		}
		slices.SortFunc(want, func(i, k int) int { return leastCommitted(&sites[i], &sites[k]) })
		want = want[:most]
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%v are chosen, want %v", got, want)
		}
		if looks > 3*len(sites) {
			t.Fatalf("%d looks at %d sites", looks, len(sites))
		}
	})
}

// picked chooses among sites that are there; 0 is all of them.
func picked(sites []Site, most int, order Order) []int {
	if most == 0 {
		most = len(sites)
	}
	return choose(len(sites), most, func(i int) Site { return sites[i] }, order)
}
