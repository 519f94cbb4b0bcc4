package paper

import (
	"os"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/supervisor"
)

// Over Benchmarks 1 to 3 and the scenarios of all strategies auto is behind none of them, with
// gamma 0: of four seeds, and with PACER_TEST_ALL of the 12 of the table in docs/simulator.md.
// What gamma 1 gives is in docs/decisions/026.
func TestAutoIsBehindNoOtherStrategy(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	o := experiment.Options{Laws: []string{controller.Default().Law}, Seeds: 4, Only: " g=0"}
	if os.Getenv("PACER_TEST_ALL") != "" {
		o.Seeds = 12
	}
	cells, err := Run("strategies", o)
	if err != nil {
		t.Fatal(err)
	}
	auto := ScoreOf(cells, supervisor.Auto, 0)
	for _, name := range supervisor.Strategies() {
		other := ScoreOf(cells, name, 0)
		t.Logf("%-12s %+v", name, other)
		if other.Runs != auto.Runs || other.Runs < 100 {
			t.Errorf("%s has %d runs, auto %d", name, other.Runs, auto.Runs)
		}
		if other.Compare(auto) < 0 {
			t.Errorf("%s is ahead of auto", name)
		}
	}
}

// A score counts the runs of its strategy and gamma alone; who misses fewer deadlines is ahead,
// however late.
func TestScores(t *testing.T) {
	cells := []Cell{
		{Case: "bench1 auto g=0", Runs: []sim.Outcome{{Deadline: 100, Error: -10, CoreSeconds: 30}, {Deadline: 50, Error: 2, CoreSeconds: 10}}},
		{Case: "bench1 auto g=1", Runs: []sim.Outcome{{Deadline: 100, Error: 40}}},
		{Case: "overload-auto speed g=0", Runs: []sim.Outcome{{Deadline: 100, Error: -1}, {Deadline: 100, Error: -1}}},
	}
	auto, speed := ScoreOf(cells, "auto", 0), ScoreOf(cells, "speed", 0)
	if want := (Score{Runs: 2, Late: 1, Lateness: 5, Error: 6, CoreSeconds: 20}); auto != want {
		t.Errorf("%+v, want %+v", auto, want)
	}
	if auto.Compare(speed) >= 0 || speed.Compare(auto) <= 0 || auto.Compare(auto) != 0 {
		t.Errorf("%+v is not ahead of %+v", auto, speed)
	}
}
