package estimate_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// newcomer is one that is due after deadline, and has no executors yet.
func newcomer(c *ledgertest.Cluster, deadline units.Seconds) *ledger.App {
	return &ledger.App{ID: "app-9", Promise: ledger.Promise{Start: c.Now, Deadline: deadline, Mode: ledger.Paced}}
}

// The chain needs 170 core-seconds, at all cores in 66 s from its first stage on. Due after 120 s,
// it does about half of them in the 40 s after a deadline of 80 s: 0.85 times what it does in
// them at all cores. That leaves 1.1 cores until then in the place of 1.5 to the end.
func TestWhoIsDueLaterCatchesUp(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	b := c.App("app-1", "p", 120, "a", "b")
	nodes := []string{"a", "b"}
	steady := policy(estimate.BranchesTogether).Outlook(c.View()).Least(b)
	promises := func(deadline units.Seconds) []estimate.Promise {
		return policy(estimate.BranchesTogether).Outlook(c.View()).Promised(newcomer(c, deadline), nodes)
	}
	for _, deadline := range []units.Seconds{0, 120, 500} {
		if p := promises(deadline); len(p) != 1 || p[0].Cores != steady || p[0].From != 0 || p[0].Until != 120 {
			t.Errorf("one that is due after %v s finds %+v, want %v cores until 120", deadline, p, steady)
		}
	}
	p := promises(80)
	if len(p) != 2 || p[0].Until != 80 || p[1].From != 80 || p[1].Until != 120 {
		t.Fatalf("one that is due after 80 s finds %+v", p)
	}
	work, later := float64(steady)*120, float64(p[1].Cores)*40
	if want := 0.85 * work * 40 / 66; math.Abs(later-want) > 1e-6 {
		t.Errorf("%.1f core-seconds come later, want %.1f", later, want)
	}
	if all := float64(p[0].Cores)*80 + later; math.Abs(all-work) > 1e-6 {
		t.Errorf("%v core-seconds are promised, %v were", all, work)
	}
	c.Divides("b", "proportional")
	if p := promises(80); len(p) != 1 || p[0].Cores != steady {
		t.Errorf("by request it finds %+v, want %v cores", p, steady)
	}
}

// Whatever is put off is done after all, by then and with room: what was promised is promised,
// nobody has more cores before than without, and by any deadline after the newcomer's no more is put
// off than the nodes do from there.
func TestWhatIsPutOffHasRoom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		due := make(map[api.AppID]float64)
		for i := range rapid.IntRange(1, 4).Draw(rt, "others") {
			id := api.AppID([]string{"app-1", "app-2", "app-3", "app-4"}[i])
			deadline := rapid.IntRange(20, 400).Draw(rt, "due")
			due[id] = float64(deadline)
			c.App(id, "p", units.Seconds(deadline), "a", "b")
		}
		deadline := units.Seconds(rapid.IntRange(1, 400).Draw(rt, "deadline"))
		nodes := []string{"a", "b"}
		before := make(map[api.AppID]estimate.Promise)
		for _, p := range policy(estimate.BranchesTogether).Outlook(c.View()).Promised(newcomer(c, 0), nodes) {
			before[p.App] = p
		}
		work, later, late := make(map[api.AppID]float64), make(map[api.AppID]float64), 0.0
		for _, p := range policy(estimate.BranchesTogether).Outlook(c.View()).Promised(newcomer(c, deadline), nodes) {
			was := before[p.App]
			w := float64(p.Cores) * float64(p.Until-p.From)
			work[p.App] += w
			if p.From == 0 && p.Cores > was.Cores+1e-9 {
				rt.Fatalf("%s has %v cores before, %v without", p.App, p.Cores, was.Cores)
			}
			if p.From > 0 {
				later[p.App] += w
				late += float64(was.Cores) * float64(p.Until-p.From)
			}
		}
		for id, p := range before {
			if want := float64(p.Cores) * float64(p.Until); math.Abs(work[id]-want) > 1e-6*want {
				rt.Fatalf("%s has been promised %v core-seconds, has %v", id, want, work[id])
			}
		}
		for _, until := range due {
			sum, steady := 0.0, 0.0
			for id, w := range later {
				if due[id] <= until {
					sum += w
					steady += float64(before[id].Cores) * (due[id] - float64(deadline))
				}
			}
			if most := 0.85 * 8 * (until - float64(deadline)); sum > max(most, steady)+1e-6 && sum > most+steady+1e-6 {
				rt.Fatalf("%v core-seconds are put off until %v, of %v", sum, until, most)
			}
		}
	})
}
