package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// epochOfPlanner is what the planner's clock shows when the world begins.
const epochOfPlanner = units.Instant(1_800_000_000_000_000_000)

// control is the shell around the planner's engine: what planner.Loop, the store
// and the bus are to the daemon.
type control struct {
	w *World
	// name is its store's, since when it last started.
	name    string
	since   units.Instant
	engine  *planner.Engine
	turn    planner.Turn
	disk    map[string][]byte
	tick    des.Timer
	tickets planner.Ticket
	waiting map[planner.Ticket]func(any)
	steps   uint64
	// clock is how far its clock is from the world's: a process counts on from what the
	// clock showed at its start. failing says that nothing can be saved, torn that it dies
	// with its next save, and kept that this is on the disk.
	clock               time.Duration
	failing, torn, kept bool
	// ended is when it was last killed, overheard when each node was heard since.
	ended     units.Instant
	overheard planner.Overheard
}

func newControl(w *World, name string) *control {
	c := &control{w: w, name: name, disk: map[string][]byte{}, waiting: map[planner.Ticket]func(any){},
		overheard: planner.Overheard{}}
	c.tick = des.NewTimer(rankPlanner, 0, des.Call(c.ticked))
	return c
}

// up starts a planner on what the one before has stored.
func (c *control) up() error {
	var pairs []api.Pair
	for _, key := range slices.Sorted(maps.Keys(c.disk)) {
		pairs = append(pairs, api.Pair{Key: key, Value: c.disk[key]})
	}
	cfg := c.w.cfg.Planner
	cfg.Identity = c.name
	e, err := planner.New(cfg, pairs)
	if err != nil {
		return fmt.Errorf("planner: %w", err)
	}
	c.engine, c.since, c.clock = e, c.w.clock.Now(), c.w.skew
	clear(c.w.check.gave) // One without state knows nothing of it, and the clock may be another.
	if c == c.w.control {
		c.w.check.front = front{}
	}
	c.takeOver()
	c.w.clock.Set(&c.tick, c.w.clock.Now().Add(planner.TickInterval))
	for _, a := range c.w.agents {
		a.reconnect()
	}
	for _, d := range c.w.drivers {
		d.reconnect()
	}
	return nil
}

// standbyWithin is within what time of another one's end a planner is one that stood by.
const standbyWithin = 5 * time.Second

// takeOver hands over what a planner that stood by has heard of nodes.
func (c *control) takeOver() {
	since := max(c.ended, c.w.net.Back)
	if c.ended == 0 || c.w.clock.Now().Sub(c.ended) > standbyWithin || c.w.net.Out {
		return
	}
	c.step(c.overheard.Silence(c.w.clock.Now(), c.w.clock.Now().Sub(since)))
}

// down ends it as kill -9 does.
func (c *control) down() {
	c.ended = c.w.clock.Now()
	clear(c.overheard)
	c.engine, c.turn, c.torn = nil, planner.Turn{}, false
	clear(c.waiting)
	c.w.clock.Cancel(&c.tick)
}

func (c *control) ticked() {
	c.w.clock.Set(&c.tick, c.w.clock.Now().Add(planner.TickInterval))
	c.step(planner.Tick{Deaf: c.w.net.Out})
}

func (c *control) register(r api.RegisterRequest, reply func(any)) {
	c.asked(func(t planner.Ticket) planner.Event { return planner.Register{To: t, Request: r} }, reply)
}

func (c *control) events(b api.Events, reply func(any)) {
	c.asked(func(t planner.Ticket) planner.Event { return planner.DriverEvents{To: t, Batch: b} }, func(body any) {
		if r, ok := body.(api.EventsReply); ok && r.Error == nil {
			c.w.check.told(c.name, b, r.AckedSeq)
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
	c.asked(func(t planner.Ticket) planner.Event {
		return planner.Control{To: t, Verb: verb, Request: r}
	}, func(body any) {
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

// step runs the engine for one event and carries out what it asks for.
func (c *control) step(event planner.Event) {
	if c.engine == nil {
		return
	}
	c.steps++
	c.turn.Take(c.engine.Step(epochOfPlanner+c.w.clock.Now().Add(c.clock), event))
	for _, change := range c.engine.Changes() {
		c.observe(change)
	}
	c.w.check.stepped(c)
	if c.w.scarce {
		c.w.check.promises(c)
	}
	actions, err := c.turn.End(c.save)
	if errors.Is(err, errTorn) {
		c.down()
		return
	}
	for _, action := range actions {
		switch a := action.(type) {
		case planner.PublishPlan:
			c.publish(a.Plan)
		case planner.PublishDirective:
			c.direct(a)
		case planner.Answer:
			if reply := c.waiting[a.To]; reply != nil {
				reply(a.Work(c.engine.View(), nil))
			}
		case planner.Reply:
			if r, ok := a.Body.(api.HelloReply); ok && r.Error == nil {
				c.w.check.planned(r.Plan)
			}
			if reply := c.waiting[a.To]; reply != nil {
				reply(a.Body)
			}
		}
	}
}

func (c *control) observe(change ledger.Change) {
	c.w.check.recorded(c, change.Fact)
	if line := change.Line(); line.Text != "" {
		c.w.history.said("planner", "", line.Text)
	}
	switch f := change.Fact.(type) {
	case ledger.Archived:
		if f.Detail.State == api.AppFailed && f.Detail.EndedBy == api.EndedBySilence {
			c.w.check.givenUp(f.App)
		}
	case reservation.Reserved:
		if f.Cores > 0 && !f.Free {
			c.w.granted[f.App] = true
		}
	}
}

var (
	errFull = errors.New("no space left on device")
	errTorn = errors.New("killed while it saves")
)

// save stores a batch as a whole or not at all, as package store does.
func (c *control) save(changes []api.Pair) error {
	switch {
	case c.failing:
		return errFull
	case c.torn && !c.kept:
		return errTorn
	}
	for _, ch := range changes {
		if ch.Value == nil {
			delete(c.disk, ch.Key)
		} else {
			c.disk[ch.Key] = ch.Value
		}
	}
	if c.torn {
		return errTorn
	}
	return nil
}

func (c *control) publish(p api.Plan) {
	c.w.check.planned(p)
	if a := c.w.byName[p.Node]; a != nil {
		a.link.Send(des.Down, func() { a.offer(p) })
	}
}

func (c *control) direct(a planner.PublishDirective) {
	c.w.check.directed(c.name, a.App, a.Directive.Epoch)
	for _, d := range c.w.drivers {
		if d.reply.AppID == a.App {
			directive := a.Directive
			d.link.Send(des.Down, func() { d.hear(&directive) })
		}
	}
}
