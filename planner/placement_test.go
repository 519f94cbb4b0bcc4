package planner

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sparkpacer/pacer/units"
	"pgregory.net/rapid"
)

func chosen(sites []site, most int) []string {
	names := []string{}
	for _, i := range leastCommitted(sites, most) {
		names = append(names, sites[i].name)
	}
	return names
}

// TestLeastCommitted is placement's worked table (doc.go, Pool): memory that fits,
// then cores for each application, then memory left, then names.
func TestLeastCommitted(t *testing.T) {
	const gib = units.GiB
	idle := site{name: "idle4", offered: 4, free: 16 * gib, needed: gib}
	shared := site{name: "shared16", offered: 16, apps: 1, free: 16 * gib, needed: gib}
	crowded := site{name: "crowded16", offered: 16, apps: 4, free: 16 * gib, needed: gib}
	full := site{name: "full64", offered: 64, free: gib / 2, needed: gib}
	roomy := site{name: "roomy4", offered: 4, free: 17 * gib, needed: gib}
	twin := site{name: "idle3", offered: 4, free: 16 * gib, needed: gib}
	all := []site{idle, shared, crowded, full, roomy, twin}
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
func better(a, b site) bool {
	aFits, bFits := a.free-a.needed >= 0, b.free-b.needed >= 0
	left, right := int(a.offered)*(b.apps+1), int(b.offered)*(a.apps+1)
	switch {
	case aFits != bFits:
		return aFits
	case left != right:
		return left > right
	case a.free-a.needed != b.free-b.needed:
		return a.free-a.needed > b.free-b.needed
	}
	return a.name < b.name
}

func drawSites(t *rapid.T) []site {
	var sites []site
	for i := range rapid.IntRange(0, 12).Draw(t, "sites") {
		sites = append(sites, site{name: fmt.Sprintf("n%02d", i), offered: units.Cores(rapid.IntRange(1, 4).Draw(t, "cores") * 4),
			apps: rapid.IntRange(0, 5).Draw(t, "apps"), free: units.Bytes(rapid.IntRange(-2, 3).Draw(t, "free")), needed: units.Bytes(rapid.IntRange(0, 2).Draw(t, "needed"))})
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
				want = append(want, s.name)
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
		sites := make([]site, rapid.IntRange(1, 20).Draw(t, "nodes"))
		for i := range sites {
			sites[i] = site{name: fmt.Sprintf("n%02d", i), offered: 16, free: 1000, needed: 1}
		}
		for range rapid.IntRange(1, 40).Draw(t, "applications") {
			for _, i := range leastCommitted(sites, rapid.IntRange(1, len(sites)).Draw(t, "most")) {
				sites[i].apps++
				sites[i].free -= sites[i].needed
			}
			counts := func(a, b site) int { return a.apps - b.apps }
			if least, most := slices.MinFunc(sites, counts), slices.MaxFunc(sites, counts); most.apps > least.apps+1 {
				t.Fatalf("%d applications on %s, %d on %s", most.apps, most.name, least.apps, least.name)
			}
		}
	})
}
