package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/planner"
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
	var err1, err2 error
	c.Planner, err1 = c.Planner.Preset(planner.PresetPaper)
	c.Node, err2 = c.Node.Preset(node.PresetPaper)
	c.Weights = false
	return c, errors.Join(err1, err2)
}
