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
func strategies(o Options) ([]Cell, error) {
	cells, err := benchmarks(o)
	if err != nil {
		return nil, err
	}
	for _, law := range o.laws() {
		for i, shown := range supervisor.Strategies() {
			for _, strategy := range supervisor.Strategies() {
				for gamma := range 2 {
					name := fmt.Sprintf("overload-%s %s g=%d", shown, strategy, gamma)
					if !strings.Contains(name, o.Only) {
						continue
					}
					figure := fmt.Sprintf("sim.strategies.%s.%s.%s.%d.mean_abs_error_pct", law, shown, strategy, gamma)
					cell, err := o.overload(Cell{Law: law, Case: name, Figure: figure, several: true}, shown, uint64(i),
						strategy, gamma)
					if err != nil {
						return cells, err
					}
					cells = append(cells, cell)
				}
			}
		}
	}
	return cells, nil
}

// overload runs the scenario that shows a strategy under another one, with all seeds, which
// begin so far after its own.
func (o Options) overload(cell Cell, shown string, after uint64, strategy string, gamma int) (Cell, error) {
	s, err := sim.StrategyScenario(shown)
	if err != nil {
		return cell, err
	}
	first := s.Config.Seed + after
	if err := s.UseLaw(cell.Law); err != nil {
		return cell, err
	}
	s.Config.Stop, s.Config.Node.Supervisor.Strategy, s.Config.Node.Supervisor.Gamma = o.common().Stop, strategy,
		float64(gamma)
	for seed := range o.seeds() {
		s.Config.Seed = first + 1000*uint64(seed)
		report, err := s.Run(nil)
		if err != nil {
			return cell, fmt.Errorf("%s under %s, seed %d: %w", cell.Case, cell.Law, s.Config.Seed, err)
		}
		for _, out := range report.Outcomes {
			cell.add(out, 0)
			cell.Error += math.Abs(out.Error) - out.Error
		}
	}
	cell.conclude()
	return cell, nil
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
