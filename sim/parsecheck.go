package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/units"
)

// arrive says when each application comes; the seed is known by now.
func (p *parser) arrive() error {
	limit := cmp.Or(p.s.Config.Limit, dayLimit)
	for _, s := range p.submits {
		r := random(p.s.Config.Seed, fmt.Sprintf("arrivals %d", s.line))
		for range s.count {
			if s.at >= units.FromDuration(limit) {
				p.line = s.line
				return fmt.Errorf("%s comes after %v, expected less than the limit of %v", s.app, s.at.Duration(), limit)
			}
			p.s.arrivals = append(p.s.arrivals, s.arrival)
			s.at += units.FromDuration(s.every)
			if s.poisson > 0 {
				s.at += units.Seconds(r.ExpFloat64() * s.poisson.Seconds())
			}
		}
	}
	return nil
}

// judgeable refuses what is expected of an error that will not be there, and reads
// which run is meant.
func (p *parser) judgeable(e *expectation) error {
	if _, known := p.s.apps[e.app]; !known {
		if name, run, ok := strings.Cut(e.app, "#"); ok {
			if err := whole(&e.run, 1, 100000)(run); err != nil {
				return fmt.Errorf("run of %s: %w", name, err)
			}
			e.app = name
		}
	}
	there := 0
	for _, s := range p.submits {
		if s.app != e.app {
			continue
		}
		there += s.count
		if s.deadline == 0 && s.factor == 0 {
			return fmt.Errorf("%s has no error without a deadline, expected one in line %d", e.app, s.line)
		}
	}
	switch {
	case there == 0:
		return fmt.Errorf("application %q is never submitted", e.app)
	case e.run > there:
		return fmt.Errorf("%s is submitted %d times, expected a run up to that", e.app, there)
	}
	return nil
}

// possible refuses a fault that cannot happen to the scenario's nodes.
func (p *parser) possible(f timedFault) error {
	i := slices.IndexFunc(p.s.Config.Nodes, func(n NodeSpec) bool { return n.Name == f.node })
	switch {
	case f.node == "":
	case i < 0:
		return fmt.Errorf("unknown node %q, expected one of the scenario's", f.node)
	case f.kind == faultOthers && f.value > float64(p.s.Config.Nodes[i].Cores):
		return fmt.Errorf("others take %g cores of %s, expected at most its %g", f.value, f.node, float64(p.s.Config.Nodes[i].Cores))
	}
	return nil
}

// settings checks what engines ask of settings together, on the smallest node.
func (p *parser) settings() error {
	least := slices.MinFunc(p.s.Config.Nodes, func(a, b NodeSpec) int { return cmp.Compare(a.Cores, b.Cores) })
	c := p.s.Config.Node
	c.Node, c.Incarnation, c.Total, c.Offered = least.Name, "1", least.Cores, least.Cores
	return errors.Join(p.s.Config.Planner.Validate(), c.Validate())
}
