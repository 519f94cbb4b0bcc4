package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/supervisor"
)

func (p *parser) seed(words []string) (err error) {
	if err = count(words, 1, "one number"); err != nil {
		return err
	}
	if p.s.Config.Seed, err = strconv.ParseUint(words[0], 10, 64); err != nil {
		return fmt.Errorf("seed %q, expected a whole number of 0 or more", words[0])
	}
	return nil
}

func (p *parser) law(words []string) (err error) {
	if err = count(words, 1, fmt.Sprintf("one of %v", Laws())); err != nil {
		return err
	}
	p.s.Law = words[0]
	_, err = WithLaw(p.s.Config, words[0])
	return err
}

func (p *parser) limit(words []string) (err error) {
	if err = count(words, 1, "one duration"); err != nil {
		return err
	}
	p.s.Config.Limit, err = duration(words[0], time.Second, 1000*time.Hour)
	return err
}

// machines reads what a node is like.
func machines(words []string) (NodeSpec, error) {
	n := NodeSpec{Cores: -1}
	err := pairs(words, map[string]func(string) error{
		"cores":  amount(&n.Cores, 0.5, 4096),
		"speed":  amount(&n.Speed, 0.01, 100),
		"others": amount(&n.Others, 0, 4096),
		"memory": size(&n.Memory), "disk": size(&n.Rates.Disk), "network": size(&n.Rates.Network),
	})
	switch {
	case err != nil:
	case n.Cores < 0:
		err = fmt.Errorf("no cores are given, expected cores=16")
	case n.Others >= n.Cores:
		err = fmt.Errorf("others take %g of %g cores, expected less", float64(n.Others), float64(n.Cores))
	}
	return n, err
}

func (p *parser) manyNodes(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("nothing follows, expected a number of nodes and cores=16")
	}
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 1 || n > 20000 {
		return fmt.Errorf("%q nodes, expected 1 to 20000", words[0])
	}
	spec, err := machines(words[1:])
	if err != nil {
		return err
	}
	for i := range n {
		spec.Name = fmt.Sprintf("n%d", i+1)
		if err := p.join(spec); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) oneNode(words []string) error {
	if len(words) == 0 || !api.ValidNodeName(words[0]) {
		return fmt.Errorf("%q, expected a node's name of letters, digits, - and _", strings.Join(words, " "))
	}
	spec, err := machines(words[1:])
	if err != nil {
		return err
	}
	spec.Name = words[0]
	return p.join(spec)
}

// join adds a node to those that the text says.
func (p *parser) join(spec NodeSpec) error {
	if !p.nodes {
		p.s.Config.Nodes, p.nodes = nil, true
	}
	if p.names[spec.Name] {
		return fmt.Errorf("node %q is there twice", spec.Name)
	}
	p.names[spec.Name] = true
	p.s.Config.Nodes = append(p.s.Config.Nodes, spec)
	return nil
}

func (p *parser) set(words []string) error {
	p.setLine = p.line
	p.s.sets = append(p.s.sets, words)
	return configure(&p.s.Config, words)
}

// configure puts what a set line says into c.
func configure(c *Config, words []string) error {
	return pairs(words, map[string]func(string) error{
		"alpha": amount(&c.Planner.Alpha, 0.01, 1), "beta": amount(&c.Planner.Beta, 0, 1),
		"certainty": amount((*float64)(&c.Certainty), 0.5, 0.99),
		"split":     choice(&c.Planner.Split, dag.Splits()),
		"branches":  choice(&c.Planner.Branches, estimate.Branches()),
		"placement": choice(&c.Planner.Placement, placement.Orders()), "max-nodes": whole(&c.Planner.MaxNodes, 0, 1000),
		"queue-rule": choice(&c.Planner.Queue.Rule, assign.Rules()), "queue": choice(&c.Planner.Queue.Order, assign.Orders()),
		"queue-size": choice(&c.Planner.Queue.Size, assign.Sizes()),
		"admission":  choice(&c.Planner.Queue.Admission, assign.Admissions()),
		"late":       choice(&c.Planner.Queue.Late, assign.Lates()),
		"lend":       choice(&c.Planner.Lend.By, lending.Modes()),
		"lend-every": span(&c.Planner.Lend.Every, time.Second, time.Hour),
		"strategy":   choice(&c.Node.Supervisor.Strategy, supervisor.Strategies()),
		"gamma":      amount(&c.Node.Supervisor.Gamma, 0, 1),
		"eq21":       choice(&c.Node.Supervisor.Eq21, supervisor.Eq21Readings()),
		"phi":        amount(&c.Node.Controller.Phi, 0.01, 1), "eta": amount(&c.Node.Controller.Eta, 1.001, 1e4),
		"p": amount(&c.Node.Controller.P, 0, 0.999), "floor": amount(&c.Node.Floor, 0, 16),
		"floor-share": amount(&c.Node.Supervisor.FloorShare, 0, 0.99),
		"quantum":     amount(&c.Node.Quantum, 0.001, 4),
		"interval":    span(&c.Node.Interval, 10*time.Millisecond, time.Minute),
	})
}

func (p *parser) plant(words []string) error {
	c := &p.s.Config.Plant
	err := pairs(words, map[string]func(string) error{
		"lag": amount(&c.Lag, 0, 0.999), "bend": amount(&c.Bend, 0, 100), "noise": amount(&c.Noise, 0, 0.5),
		"run-noise": amount(&c.RunNoise, 0, 0.5), "spread": amount(&c.Spread, 0, 3), "byte-cost": amount(&c.ByteCost, 0, 3),
		"task": amount(&c.Task, 0, 1e6), "sway": amount(&c.Sway, 0, 100), "start": amount(&c.Start, 0, 1e6),
		"warm": amount(&c.Warm, 0, 100), "warm-work": amount(&c.WarmWork, 0, 1e6),
		"pause-every": amount(&c.PauseEvery, 0, 1e6),
		"pause-work":  amount(&c.PauseWork, 0, 1e6), "evict": size(&c.Evict), "spill": size(&c.Spill),
		"dispatch": span(&c.Dispatch, 0, time.Minute), "page": span(&c.Page, time.Millisecond, time.Minute),
	})
	if err != nil {
		return err
	}
	return c.Validate()
}

func (p *parser) network(words []string) error {
	c := &p.s.Config.Net
	reorder := "no"
	if c.Reorder {
		reorder = "yes"
	}
	err := pairs(words, map[string]func(string) error{
		"delay": span(&c.Delay, 0, time.Minute), "jitter": span(&c.Jitter, 0, time.Minute), "loss": amount(&c.Loss, 0, 0.9),
		"duplicate": amount(&c.Duplicate, 0, 0.9), "reorder": choice(&reorder, []string{"yes", "no"}),
	})
	c.Reorder = reorder == "yes"
	return err
}
