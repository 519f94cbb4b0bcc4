package sim

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/controller"
)

// Laws are the names that WithLaw takes: those of package controller.
func Laws() []string { return controller.Laws() }

// WithLaw returns c for a control law by name. "pi" brings the rest of the paper's
// system along: the preset "paper" of planner and nodes, which daemons have too, and no
// weights. Every other law runs in Pacer's default configuration.
func WithLaw(c Config, law string) (Config, error) {
	if !slices.Contains(Laws(), law) {
		return c, fmt.Errorf("law %q, want one of %v", law, Laws())
	}
	c.Node.Controller.Law = law
	if law != controller.LawPI {
		return c, nil
	}
	c.Planner, c.Node, c.Weights = c.Planner.Paper(), c.Node.Paper(), false
	return c, nil
}
