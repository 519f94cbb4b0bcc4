package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// ablated is the experiment that switches rules off, allRules its case in which none is.
const (
	ablated  = "sharing"
	allRules = "all rules"
)

// contended is a case in which applications run beside others: a benchmark of the source, or a
// scenario under that strategy, its own for "".
type contended struct {
	benchmark *composite
	scenario  string
	strategy  string
}

// contentions are all of them.
func contentions() []contended {
	var all []contended
	for _, name := range supervisor.Strategies() {
		all = append(all, contended{scenario: "strategy-" + name})
	}
	for _, name := range []string{"behind", "yields", "faults", "observed"} {
		all = append(all, contended{scenario: name})
	}
	benchmarks := composites()
	for _, strategy := range []string{supervisor.EDFPure, supervisor.Auto, supervisor.Proportional} {
		for i := range benchmarks {
			all = append(all, contended{benchmark: &benchmarks[i], strategy: strategy})
		}
		for _, name := range []string{"beside", "arrivals"} {
			all = append(all, contended{scenario: name, strategy: strategy})
		}
	}
	return all
}

// ablation runs all contentions with each rule of life beside others switched off that the simulator
// can show. The runs of a cell come seed by seed, in the same order in each.
func ablation(o setup) (all []attempt, err error) {
	rules := append([]Rule{{Name: allRules, Off: func(*sharing.Params) {}}}, Rules()...)
	rules = slices.DeleteFunc(rules, func(r Rule) bool {
		return r.Live != "" || r.Name != allRules && !strings.Contains(r.Name, o.Only)
	})
	if len(rules) == 1 {
		return nil, nil
	}
	for _, law := range o.laws() {
		for _, r := range rules {
			p := sharing.Default()
			r.Off(&p)
			figure := fmt.Sprintf("sim.sharing.%s.%s.mean_abs_error_pct", law, r.Name)
			all = append(all, attemptOf(Cell{Law: law, Case: r.Name, Figure: figure, several: true},
				func(seed int) (g gave, err error) {
					for _, c := range contentions() {
						runs, err := o.contend(law, c, uint64(seed), &p)
						if err != nil {
							return g, fmt.Errorf("%s: %w", c.scenario, err)
						}
						g.runs = append(g.runs, runs...)
					}
					return g, nil
				}))
		}
	}
	return all, nil
}

// contend runs a contention with one seed.
func (o setup) contend(law string, c contended, seed uint64, p *sharing.Params) ([]sim.Outcome, error) {
	if c.benchmark != nil {
		cfg, err := o.config(law)
		if err != nil {
			return nil, err
		}
		cfg.Seed, cfg.Node.Supervisor.Strategy, cfg.Planner.Sharing, cfg.Node.Sharing = 1000*(seed+1), c.strategy, p, p
		return c.benchmark.run(cfg)
	}
	s, err := sim.ContendedScenario(c.scenario, Workloads()...)
	if err != nil {
		return nil, err
	}
	if err := s.UseLaw(law); err != nil {
		return nil, err
	}
	s.Config.Seed += 1000 * seed
	s.Config.Stop, s.Config.Planner.Sharing, s.Config.Node.Sharing = o.Stop, p, p
	if c.strategy != "" {
		s.Config.Node.Supervisor.Strategy = c.strategy
	}
	report, err := s.Run(nil)
	return report.Outcomes, err
}

// Effect is what a rule is worth, over all seeds and runs, with all rules and without this one. It is how many
// deadlines are missed, the mean lateness in seconds and the mean of the core-seconds.
type Effect struct {
	Law           string
	Rule          Rule
	With, Without Score
	// Spread is twice the standard error of what the rule changes, by the differences between
	// runs of the same seed: of the deadlines, the lateness and the core-seconds.
	Spread [3]float64
}

// Changes are what switching the rule off adds.
func (e Effect) Changes() [3]float64 {
	with, without := e.With, e.Without
	return [3]float64{float64(without.Late - with.Late), without.Lateness - with.Lateness,
		without.CoreSeconds - with.CoreSeconds}
}

// Shown reports whether the simulator shows that the rule changes one of them.
func (e Effect) Shown() bool {
	for i, d := range e.Changes() {
		if math.Abs(d) > e.Spread[i] {
			return true
		}
	}
	return false
}

// Effects are what the rules are worth of which the cells of the experiment `sharing` are.
func Effects(cells []Cell, seeds int) []Effect {
	var effects []Effect
	for _, base := range cells {
		if base.Case != allRules {
			continue
		}
		for _, r := range Rules() {
			for _, c := range cells {
				if c.Law == base.Law && c.Case == r.Name {
					effects = append(effects, effect(r, base, c, seeds))
				}
			}
		}
	}
	return effects
}

func effect(r Rule, with, without Cell, seeds int) Effect {
	e := Effect{Law: with.Law, Rule: r, With: scored(with.Runs), Without: scored(without.Runs)}
	n, each := float64(seeds), len(with.Runs)/seeds
	var sum, squares [3]float64
	for seed := range seeds {
		a, b := scored(with.Runs[seed*each:(seed+1)*each]), scored(without.Runs[seed*each:(seed+1)*each])
		for i, d := range (Effect{With: a, Without: b}).Changes() {
			sum[i] += d
			squares[i] += d * d
		}
	}
	for i := range sum {
		variance := max(0, squares[i]-sum[i]*sum[i]/n) / max(1, n-1)
		e.Spread[i] = 2 * math.Sqrt(variance/n)
	}
	e.Spread[0] *= n // Deadlines are counted over all seeds.
	return e
}

// EffectRows are the effects of a table's cells as text, the heading first: a rule a row, with what is
// missed, late and used with it and without, and the spread of the difference. Rules that the simulator
// cannot show come last.
func EffectRows(cells []Cell, seeds int) [][]string {
	rows := [][]string{{"rule", "", "law", "deadlines missed", "mean lateness, s", "mean core-seconds", "shown"}}
	for _, e := range Effects(cells, seeds) {
		shown := "no"
		if e.Shown() {
			shown = "yes"
		}
		rows = append(rows, []string{e.Rule.Name, e.Rule.Says, e.Law,
			fmt.Sprintf("%d, %d (%.0f)", e.With.Late, e.Without.Late, e.Spread[0]),
			fmt.Sprintf("%.2f, %.2f (%.2f)", e.With.Lateness, e.Without.Lateness, e.Spread[1]),
			fmt.Sprintf("%.0f, %.0f (%.1f)", e.With.CoreSeconds, e.Without.CoreSeconds, e.Spread[2]), shown})
	}
	for _, r := range Rules() {
		if r.Live != "" {
			rows = append(rows, []string{r.Name, r.Says, "", "", "", "", "cannot be: " + r.Live})
		}
	}
	return rows
}
