package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// arrive says when each application comes; the seed is known by now.
func (p *parser) arrive() error {
	limit := cmp.Or(p.s.Config.Limit, dayLimit)
	for _, s := range p.submits {
		r := des.Random(p.s.Config.Seed, fmt.Sprintf("arrivals %d", s.line))
		for range s.count {
			if s.at >= units.FromDuration(limit) {
				p.line = s.line
				return fmt.Errorf("%s comes after %v, expected less than the limit of %v", s.app, s.at.Duration(), limit)
			}
			p.s.arrivals = append(p.s.arrivals, s.arrival)
			s.grow *= cmp.Or(s.growth, 1)
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
	if err := p.runs(&e.app, &e.run); err != nil {
		return err
	}
	for _, s := range p.submits {
		if s.app == e.app && e.what == expectError && s.deadline == 0 && s.factor == 0 {
			return fmt.Errorf("%s has no error without a deadline, expected one in line %d", e.app, s.line)
		}
	}
	return nil
}

// runs reads which run of which application is meant by NAME or NAME#RUN; of NAME alone
// run is left as it is.
func (p *parser) runs(app *string, run *int) error {
	if _, known := p.s.apps[*app]; !known {
		if name, number, ok := strings.Cut(*app, "#"); ok {
			if err := whole(run, 1, 100000)(number); err != nil {
				return fmt.Errorf("run of %s: %w", name, err)
			}
			*app = name
		}
	}
	there := 0
	for _, s := range p.submits {
		if s.app == *app {
			there += s.count
		}
	}
	switch {
	case there == 0:
		return fmt.Errorf("application %q is never submitted", *app)
	case *run > there:
		return fmt.Errorf("%s is submitted %d times, expected a run up to that", *app, there)
	}
	return nil
}

// killable finds the arrival of the run that is to be killed, which comes before that.
func (p *parser) killable(k *timedKill) error {
	if err := p.runs(&k.app, &k.run); err != nil {
		return err
	}
	left := k.run
	for i, a := range p.s.arrivals {
		if a.app != k.app {
			continue
		}
		if left--; left == 0 {
			if k.arrival = i; k.at <= a.at {
				return fmt.Errorf("run %d of %s comes at %v, expected its end to be asked for after that", k.run, k.app,
					a.at.Duration())
			}
			return nil
		}
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
		return fmt.Errorf("others take %g cores of %s, expected at most its %g", f.value, f.node,
			float64(p.s.Config.Nodes[i].Cores))
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
