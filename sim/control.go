package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// epochOfPlanner is what the planner's clock shows when the world begins.
const epochOfPlanner = units.Instant(1_800_000_000_000_000_000)

// plannerTick is the tick of planner.Loop.
const plannerTick = 250 * time.Millisecond

// control is the shell around the planner's engine: what planner.Loop, the store
// and the bus are to the daemon.
type control struct {
	w       *World
	engine  *planner.Engine
	disk    map[string][]byte
	tick    timer
	tickets planner.Ticket
	waiting map[planner.Ticket]func(any)
	steps   uint64
}

func newControl(w *World) *control {
	c := &control{w: w, disk: map[string][]byte{}, waiting: map[planner.Ticket]func(any){}}
	c.tick = timer{rank: rankPlanner, owner: call(c.turn)}
	return c
}

// up starts a planner on what the one before has stored.
func (c *control) up() error {
	var pairs []api.Pair
	for _, key := range slices.Sorted(maps.Keys(c.disk)) {
		pairs = append(pairs, api.Pair{Key: key, Value: c.disk[key]})
	}
	cfg := c.w.cfg.Planner
	cfg.Identity = "planner"
	e, err := planner.New(cfg, pairs)
	if err != nil {
		return fmt.Errorf("planner: %w", err)
	}
	c.engine = e
	c.w.queue.set(&c.tick, c.w.now.Add(plannerTick))
	for _, a := range c.w.agents {
		a.reconnect()
	}
	for _, d := range c.w.drivers {
		if d.registered && !d.heard {
			d.send()
		}
	}
	return nil
}

// down ends it as kill -9 does.
func (c *control) down() {
	c.engine = nil
	clear(c.waiting)
	c.w.queue.cancel(&c.tick)
}

func (c *control) turn() {
	c.w.queue.set(&c.tick, c.w.now.Add(plannerTick))
	c.step(planner.Tick{})
}

func (c *control) register(r api.RegisterRequest, reply func(any)) {
	c.asked(func(t planner.Ticket) planner.Event { return planner.Register{To: t, Request: r} }, reply)
}

func (c *control) events(b api.Events, reply func(any)) {
	c.asked(func(t planner.Ticket) planner.Event { return planner.DriverEvents{To: t, Batch: b} }, func(body any) {
		if r, ok := body.(api.EventsReply); ok && r.Error == nil {
			c.w.check.told(b, r.AckedSeq)
		}
		reply(body)
	})
}

func (c *control) hello(s api.NodeStatus, reply func(any)) {
	c.asked(func(t planner.Ticket) planner.Event { return planner.Hello{To: t, Status: s} }, reply)
}

// query asks as the command line does, without a network.
func (c *control) query(verb api.Verb, r api.ControlRequest) (reply api.ControlReply, ok bool) {
	r.V = api.Version
	c.asked(func(t planner.Ticket) planner.Event { return planner.Control{To: t, Verb: verb, Request: r} }, func(body any) {
		reply, ok = body.(api.ControlReply)
	})
	return reply, ok && reply.Error == nil
}

func (c *control) asked(event func(planner.Ticket) planner.Event, reply func(any)) {
	if c.engine == nil {
		return
	}
	c.tickets++
	t := c.tickets
	c.waiting[t] = reply
	c.step(event(t))
	delete(c.waiting, t)
}

// step runs the engine and carries its actions out: the store first, as
// planner.Loop does, then what is published, then the replies.
func (c *control) step(event planner.Event) {
	if c.engine == nil {
		return
	}
	c.steps++
	actions := c.engine.Step(epochOfPlanner+c.w.now, event)
	for i, action := range actions {
		if replaced(actions[i+1:], action) {
			continue
		}
		switch a := action.(type) {
		case planner.Save:
			c.save(a.Changes)
		case planner.PublishPlan:
			c.publish(a.Plan)
		case planner.PublishDirective:
			c.direct(a)
		case planner.Reply:
			if r, ok := a.Body.(api.HelloReply); ok && r.Error == nil {
				c.w.check.planned(r.Plan)
			}
			if reply := c.waiting[a.To]; reply != nil {
				reply(a.Body)
			}
		case planner.Log:
			c.w.said("planner", "", a.Occurrence.String())
		}
	}
}

// replaced reports whether a later action says anew what a says: of Plans and
// Directives planner.Loop sends the newest of a turn only.
func replaced(later []planner.Action, a planner.Action) bool {
	for _, l := range later {
		switch l := l.(type) {
		case planner.PublishPlan:
			if p, ok := a.(planner.PublishPlan); ok && p.Plan.Node == l.Plan.Node {
				return true
			}
		case planner.PublishDirective:
			if d, ok := a.(planner.PublishDirective); ok && d.App == l.App {
				return true
			}
		}
	}
	return false
}

func (c *control) save(changes []api.Pair) {
	for _, ch := range changes {
		if ch.Value == nil {
			delete(c.disk, ch.Key)
		} else {
			c.disk[ch.Key] = ch.Value
		}
	}
}

func (c *control) publish(p api.Plan) {
	c.w.check.planned(p)
	if a := c.w.agent(p.Node); a != nil {
		a.link.send(down, func() { a.offer(p) })
	}
}

func (c *control) direct(a planner.PublishDirective) {
	c.w.check.directed(a.App, a.Directive.Epoch)
	for _, d := range c.w.drivers {
		if d.registered && d.reply.AppID == a.App {
			directive := a.Directive
			d.link.send(down, func() { d.obey(directive) })
		}
	}
}
