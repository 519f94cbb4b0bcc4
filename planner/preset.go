package planner

import (
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
)

// Paper is c as [1] is printed: alpha 1 and Eq 1-3 for all stages, no aim of its own, an executor for each stage that
// runs, infeasible deadlines paced. The rest is c's.
func (c Config) Paper() Config {
	c.Alpha, c.Aim, c.Margin = 1, 0, 0
	c.Split, c.Branches, c.PaceInfeasible = dag.SplitPaper, estimate.BranchesTogether, true
	return c
}
