package sim

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// A group of a session is over just before its deadline, which counts from its first job: its first run has taught what
// it takes. Jobs of the session before and after it are no part of that.
func TestAPartOfASessionEndsAtItsDeadline(t *testing.T) {
	for seed := range uint64(5) {
		c := Default()
		c.Nodes, c.Seed = c.Nodes[:1], 100+seed
		w := must(t, c)
		app := plant.App{Name: "notebook", Profile: "daily", Mode: api.ModeEndless, Deadline: 1e4, Head: 40, Tail: 20, Exit: 3, Driver: 1, Stages: []plant.Stage{
			{Name: "read", Tasks: 120, Work: 240, Records: 1e6, Gap: 0.1}, {Name: "join", Tasks: 80, Work: 160, Records: 1e5, Gap: 0.2, Parents: []int{0}},
			{Name: "sum", Tasks: 16, Work: 40, Records: 1e4, Gap: 0.1, Job: 1}}}
		const between = 400
		for i, deadline := range []units.Seconds{1e4, 190, 190} {
			app.Deadline = deadline
			if _, err := w.Submit(units.Seconds(i)*between, app); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Run(); err != nil {
			t.Fatal(err)
		}
		runs := 0
		for _, a := range w.Apps() {
			if a.Name != "daily" {
				if a.Pacing != "unpaced" || a.Deadline != 0 {
					t.Errorf("seed %d: the session is %s with a deadline of %v", seed, a.Pacing, a.Deadline)
				}
				continue
			}
			if runs++; a.ErrorPct == nil {
				t.Fatalf("seed %d: run %d: %+v", seed, runs, a)
			}
			t.Logf("group.exit_error_pct %.2f of %v", *a.ErrorPct, a.Deadline)
			if runs > 1 && (*a.ErrorPct < 0 || *a.ErrorPct > 8) {
				t.Errorf("seed %d: run %d ends %.2f %% before its deadline, want 0 to 8", seed, runs, *a.ErrorPct)
			}
		}
		if p, ok := w.Profile("daily"); runs != 3 || !ok || p.Runs != 3 || p.Head > 1 {
			t.Errorf("seed %d: %d runs, profile %+v", seed, runs, p)
		}
	}
}
