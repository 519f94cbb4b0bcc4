package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
)

// planners calls f for each planner that serves on the bus.
func (w *World) planners(f func(*control)) {
	for _, c := range []*control{w.control, w.second} {
		if c != nil && c.engine != nil {
			f(c)
		}
	}
}

// storeName is the name of another planner's store.
func (w *World) storeName() string {
	w.stores++
	return fmt.Sprintf("planner-%d", w.stores)
}

// restart starts the planner if it is down.
func (c *control) restart() {
	c.torn = false
	if c.engine == nil {
		c.w.must(c.up())
		c.w.check.known()
	}
}

// lose ends the planner together with all that it has saved: the next one has another
// store.
func (c *control) lose() {
	c.down()
	clear(c.disk)
	c.name = c.w.storeName()
	c.failing = false
}

// secondPlanner has a planner without state serve beside the first, with no lease between them, until
// the one ends that has served for less long.
func (w *World) secondPlanner(until time.Duration) {
	if w.second != nil {
		return
	}
	c := newControl(w, w.storeName())
	w.second = c
	w.must(c.up())
	w.clock.After(until, rankFault, 0, func() {
		w.second = nil
		if w.control.engine != nil && w.control.since <= c.since {
			c.down()
			return
		}
		w.control.down()
		w.control, w.check.front = c, front{}
	})
}

// busUp has everybody connect again.
func (w *World) busUp() {
	if !w.net.Out {
		return
	}
	w.net.Out, w.net.Back = false, w.clock.Now()
	for _, a := range w.agents {
		a.reconnect()
	}
	for _, d := range w.drivers {
		d.reconnect()
	}
}

// cutDrivers cuts the drivers on a's machine off from the bus, or lets them back.
func (a *agent) cutDrivers(cut bool) {
	for _, d := range a.w.drivers {
		if d.spark.Home == &a.m {
			if d.link.Cut = cut; !cut {
				d.link.Back = a.w.clock.Now()
				d.reconnect()
			}
		}
	}
}

// reconnect says that d's connection is back.
func (d *Driver) reconnect() {
	if d.talk.Registered() {
		d.talk.Reconnected()
		d.goOn()
	}
}

// poison sends a status of a's that is not as its node controller would say it: of a Plan
// that nobody can have made, impossible, or of what is another node's.
func (a *agent) poison(s *api.NodeStatus) {
	bad := s.Clone()
	bad.Seq += 1000 // A status that was taken would keep out the next ones.
	switch a.ills.poisons % 5 {
	case 0:
		bad.Epoch = math.MaxInt64
	case 1:
		if bad.Epoch += 2 * api.MostLead; s.Planner != a.w.control.name {
			bad.V-- // Of another planner's epochs nobody knows what can be.
		}
	case 2:
		bad.Offered = -bad.Offered
	case 3:
		bad.V += 1000
	case 4:
		bad.Seq = s.Seq
		for _, o := range a.w.agents {
			for _, p := range o.m.Processes() {
				if o != a {
					bad.Executors = append(bad.Executors, api.ExecutorStatus{App: p.Key.App, ID: p.Key.ID, State: api.ExecutorExited,
						Exit: "killed", ExitCode: 137, Quota: api.Unknown})
				}
			}
		}
	}
	a.report(&bad)
}

// mutatedPlans gives a Plans that it must not follow while executors run there.
func (a *agent) mutatedPlans() {
	running := slices.ContainsFunc(a.m.Processes(), func(p *plant.Process) bool { return !p.Exited })
	if a.engine == nil || !running || a.follows.epoch == 0 {
		return
	}
	empty := a.seen.newest
	empty.Epoch, empty.Apps, empty.Over = empty.Epoch+1, nil, nil
	for _, change := range []func(p *api.Plan){
		func(p *api.Plan) { p.V += 1000 },
		func(p *api.Plan) { p.Planner, p.Epoch = "nobody", math.MaxInt32 },
		func(p *api.Plan) { p.Planner, p.Succeeds = "nobody", "nobody-before" },
		func(p *api.Plan) { p.Node = "elsewhere" },
		func(p *api.Plan) { p.Epoch = math.MaxUint64 },
		func(p *api.Plan) { p.Term = math.MaxUint64 },
		func(p *api.Plan) { p.Division = &api.Division{Gamma: math.Inf(1)} },
	} {
		p := empty
		change(&p)
		a.offer(p)
	}
}
