package sim

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/planner"
)

// Laws are the names that WithLaw takes: those of package controller.
func Laws() []string { return controller.Laws() }

// WithLaw returns c for a control law by name. "pi" brings the rest of the paper's
// system along: alpha 1, progress in tasks, no weights, an executor for each
// stage that runs, infeasible deadlines paced all the same (its Table 3 and section 4). Every other law runs in Pacer's default
// configuration.
func WithLaw(c Config, law string) (Config, error) {
	if !slices.Contains(Laws(), law) {
		return c, fmt.Errorf("law %q, want one of %v", law, Laws())
	}
	c.Node.Controller.Law = law
	if law == controller.LawPI {
		c.Planner.Alpha, c.Planner.Aim, c.Planner.Margin = 1, 0, 0
		c.Planner.Split, c.Planner.PaceInfeasible = dag.SplitPaper, true
		c.Planner.Branches = planner.BranchesTogether
		c.Node.Progress = node.Tasks
		c.Weights = false
	}
	return c, nil
}
