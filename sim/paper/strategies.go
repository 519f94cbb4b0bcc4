package paper

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/supervisor"
)

// strategies runs Benchmarks 1 to 3 and the scenarios of all strategies under each strategy,
// with gamma 0 and 1: the cases that strategies are compared by (Score). The scenarios differ
// in their seeds, too: most of them show the same overload.
func strategies(o setup) ([]attempt, error) {
	all, err := benchmarks(o)
	for _, law := range o.laws() {
		for i, shown := range supervisor.Strategies() {
			for _, strategy := range supervisor.Strategies() {
				for gamma := range 2 {
					name := fmt.Sprintf("overload-%s %s g=%d", shown, strategy, gamma)
					figure := fmt.Sprintf("sim.strategies.%s.%s.%s.%d.mean_abs_error_pct", law, shown, strategy, gamma)
					all = append(all, attemptOf(Cell{Law: law, Case: name, Figure: figure, several: true},
						func(seed int) (gave, error) { return o.overload(law, shown, uint64(i+1000*seed), strategy, gamma) }))
				}
			}
		}
	}
	return all, err
}

// overload runs the scenario that shows a strategy under another one, with a seed that is so far after its own.
func (o setup) overload(law, shown string, after uint64, strategy string, gamma int) (gave, error) {
	s, err := sim.StrategyScenario(shown)
	if err != nil {
		return gave{}, err
	}
	if err := s.UseLaw(law); err != nil {
		return gave{}, err
	}
	s.Config.Node.Supervisor.Strategy, s.Config.Node.Supervisor.Gamma = strategy, float64(gamma)
	s.Config.Stop, s.Config.Seed = o.Stop, s.Config.Seed+after
	report, err := s.Run(nil)
	return gave{runs: report.Outcomes}, err
}

// Score is what strategies are ordered by. All but Runs and Late are means over the runs.
type Score struct {
	Runs, Late int
	// Lateness is in seconds, 0 for a run that is in time; Error is |eps_a| in per cent.
	Lateness, Error, CoreSeconds float64
}

// ScoreOf is the score of a strategy over cells of the experiment `strategies`, of all laws
// in them.
func ScoreOf(cells []Cell, strategy string, gamma int) Score {
	var runs []sim.Outcome
	for _, c := range cells {
		if strings.HasSuffix(c.Case, fmt.Sprintf(" %s g=%d", strategy, gamma)) {
			runs = append(runs, c.Runs...)
		}
	}
	return scored(runs)
}

// scored is the score of runs.
func scored(runs []sim.Outcome) (s Score) {
	for _, o := range runs {
		s.Runs++
		if o.Error < 0 {
			s.Late++
			s.Lateness -= o.Error / 100 * float64(o.Deadline)
		}
		s.Error += math.Abs(o.Error)
		s.CoreSeconds += o.CoreSeconds
	}
	n := float64(max(1, s.Runs))
	s.Lateness, s.Error, s.CoreSeconds = s.Lateness/n, s.Error/n, s.CoreSeconds/n
	return s
}

// Compare orders scores of as many runs, the best one first: by deadlines missed, lateness,
// error and core-seconds.
func (s Score) Compare(t Score) int {
	return cmp.Or(cmp.Compare(s.Late, t.Late), cmp.Compare(s.Lateness, t.Lateness),
		cmp.Compare(s.Error, t.Error), cmp.Compare(s.CoreSeconds, t.CoreSeconds))
}
