package paper

import (
	"fmt"

	"github.com/sparkpacer/pacer/sim"
)

// beta is Figure 4 of the source: eps_a and eps_s against beta, for the four
// applications that it shows, at +20 %. The source gives no numbers for it.
func beta(o Options) ([]Cell, error) {
	var trials []trial
	for _, name := range []string{"aggr-by-key", "sort-by-key", "pagerank", "kmeans"} {
		w, err := FindWorkload(name)
		if err != nil {
			return nil, err
		}
		for _, b := range []float64{0, 0.2, 0.3, 0.4, 0.6, 0.8, 1} {
			trials = append(trials, trial{name: fmt.Sprintf("%s beta=%g", name, b), figure: fmt.Sprintf("sim.beta.LAW.%s.%g.error_pct", name, b),
				profiled: w, run: w, slack: 0.2, tune: func(c *sim.Config) { c.Planner.Beta = b }})
		}
	}
	return o.all(trials)
}

// alpha is Table 4 with alpha 0.95, with which the source saw none late.
func alpha(o Options) ([]Cell, error) {
	var trials []trial
	for _, w := range Workloads() {
		for _, slack := range []int{0, 20, 40} {
			trials = append(trials, trial{name: fmt.Sprintf("%s +%d%%", w.Name, slack),
				figure:   fmt.Sprintf("sim.alpha.LAW.%s.%d.error_pct", w.Name, slack),
				profiled: w, run: w, slack: float64(slack) / 100, tune: func(c *sim.Config) { c.Planner.Alpha = 0.95 }})
		}
	}
	return o.all(trials)
}
