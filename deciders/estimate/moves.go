package estimate

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/devices"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// leastUse is the least time, in seconds, in which a stage is taken to move what it moves.
const leastUse = 0.1

// Uses are what the stages of a, which runs and has a profile, want of each of its nodes from now on: each in the
// time that its deadline gives it, or that it takes at all cores where nothing is held back. The demand of others
// is left out.
func Uses(a *ledger.App, o *Outlook) []devices.Use {
	x, now := o.prospect(a), o.View.Now()
	if x.usedAt == now && x.usedAt > 0 {
		return x.uses
	}
	nodes, left := a.Seats(), movesOf(a, o)
	s := dag.Supply{Cores: a.Tenant.Cores, Slots: a.Tenant.Slots, Least: left.floor(loads(a, o, nodes, true))}
	_, stages := resumeOn(a, o, !a.Paced() || a.Observed(), s)
	x.usedAt, x.uses = now, left.uses(stages, len(nodes))
	return x.uses
}

// Coming is Uses of a, which does not run yet, if it starts now with that supply of so many nodes whose devices have
// these rates; nothing without a profile.
func Coming(a *ledger.App, o *Outlook, supply dag.Supply, rates devices.Rates, nodes int) []devices.Use {
	if a.Profile == nil || nodes == 0 {
		return nil
	}
	left := movesOf(a, o)
	supply.Least = left.floor(slices.Repeat([]devices.Load{{Rates: rates}}, nodes))
	q := o.Turns(a.Profile.Graph, o.Together(a.Profile.Graph))
	q.Open = a.Promise.Mode != ledger.Paced
	f := a.Profile.Graph.Forecast(q, a.Promise.Deadline, supply, a.At(o.View.Now()))
	return left.uses(f.Stages, nodes)
}

// uses are what stages want of each of so many nodes when they run as told.
func (left moved) uses(stages []dag.StageForecast, nodes int) (uses []devices.Use) {
	n := max(1, nodes)
	for _, s := range stages {
		if s.Duration <= 0 {
			continue
		}
		m := left.of[s.ID]
		from, time := float64(s.Start-left.now), max(leastUse, float64(s.Duration))
		span := devices.Span{From: from, To: from + time, Rate: m.Bytes.Over(time * float64(n)), Unknown: !m.Known}
		uses = append(uses, devices.Use{Stage: s.ID, Cores: s.Cores / units.Cores(n), Span: span})
	}
	return uses
}

// moved is what is left to move of each stage of an application, as of a moment of its deadline clock; zero where
// nobody asks.
type moved struct {
	of  map[int]devices.Moved
	now units.Seconds
}

// moves is movesOf, where the rate of a device is known and a has a profile.
func moves(a *ledger.App, o *Outlook, loads []devices.Load) moved {
	if len(loads) == 0 || a.Profile == nil {
		return moved{}
	}
	return movesOf(a, o)
}

// movesOf is what is left to move of each stage of a, which has a profile: in proportion to what it reads today and
// what is not done.
func movesOf(a *ledger.App, o *Outlook) moved {
	body, parts := &a.Profile.Body, make(map[int]float64)
	if len(a.Order) > 0 {
		c, now := o.Course(a), o.View.Now()
		for i := range body.Stages {
			if s, ok := c.Graph.Stage(body.Stages[i].ID); ok && body.Stages[i].Records > 0 {
				parts[s.ID] = float64(s.Records) / float64(body.Stages[i].Records)
			}
		}
		for _, s := range c.Running(a) {
			parts[s.Annotation] *= share(now, a, c, s, true)
		}
	}
	moves := make(map[int]devices.Moved, len(body.Stages))
	for i := range body.Stages {
		s := &body.Stages[i]
		bytes, known := devices.Moves(body, s)
		if part, ok := parts[s.ID]; ok {
			bytes = bytes.Over(1 / part)
		}
		moves[s.ID] = devices.Moved{Bytes: bytes, Known: known}
	}
	return moved{moves, a.At(o.View.Now())}
}

// loads are nodes, alone or beside those that run there but for a; nil where no rate of any is known.
func loads(a *ledger.App, o *Outlook, nodes []string, alone bool) (loads []devices.Load) {
	if !slices.ContainsFunc(nodes, func(name string) bool {
		n := o.View.Node(name)
		return n != nil && devices.Of(n).Known()
	}) {
		return nil
	}
	for _, name := range nodes {
		l := devices.Load{Node: name}
		if n := o.View.Node(name); n != nil && alone {
			l.Rates = devices.Of(n)
		} else if n != nil {
			l = Loaded(n, o, a.ID)
		}
		loads = append(loads, l)
	}
	return loads
}

// Loaded is n with what runs there, as one more application finds it.
func Loaded(n *ledger.Node, o *Outlook, but api.AppID) devices.Load {
	l := devices.Load{Node: n.Node, Rates: devices.Of(n)}
	for _, t := range n.Tenants() {
		b := t.App
		if l.Rates.Known() && b.ID != but && b.Running() && b.Profile != nil && b.Promise.Mode != ledger.Unpaced {
			l.Others = append(l.Others, devices.Beside(b.ID, Uses(b, o), l.Rates))
		}
	}
	return l
}

// floor is dag.Supply.Least on nodes that are loaded like that, nil where nothing is known.
func (left moved) floor(loads []devices.Load) func(int, units.Seconds) units.Seconds {
	if len(loads) == 0 || left.of == nil {
		return nil
	}
	return func(stage int, from units.Seconds) units.Seconds {
		_, time := devices.Slowest(left.of[stage], float64(from-left.now), loads)
		return time
	}
}

// Bounds are those of stages, in their order. Rated says that rates of a device are known; Untold is how many stages
// read something of which nobody has told where it came from.
type Bounds struct {
	Stages []devices.Bound
	Rated  bool
	Untold int
}

// BoundsOf are those of the stages that a, which runs and has a profile, has before it.
func BoundsOf(a *ledger.App, o *Outlook) Bounds {
	loads := loads(a, o, a.Seats(), false)
	if len(loads) == 0 {
		return Bounds{}
	}
	left := movesOf(a, o)
	s := dag.Supply{Cores: a.Tenant.Cores, Slots: a.Tenant.Slots, Least: left.floor(loads)}
	_, stages := resumeOn(a, o, !a.Paced() || a.Observed(), s)
	return left.bounds(a, s, loads, stages)
}

func (left moved) bounds(a *ledger.App, supply dag.Supply, loads []devices.Load, stages []dag.StageForecast) Bounds {
	all := Bounds{Rated: len(loads) > 0}
	if !all.Rated {
		return all
	}
	for _, f := range stages {
		s, ok := a.Profile.Graph.Stage(f.ID)
		if !ok || f.Duration <= 0 {
			continue
		}
		cores := min(supply.Cores, units.Cores(s.Tasks)*s.Width())
		if supply.Slots > 0 {
			cores = min(cores, units.Cores(supply.Slots))
		}
		if !left.of[f.ID].Known && s.Bytes > 0 {
			all.Untold++
		}
		all.Stages = append(all.Stages, devices.Least(&s, cores, left.of[f.ID], float64(f.Start-left.now), loads))
	}
	return all
}
