package planner

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Engine is the planner's mind: it takes Events and returns Actions. It is
// synchronous, reads no clock and is not safe for concurrent use; Loop is its
// shell. The same Config, pairs and Events give the same Actions.
type Engine struct {
	core   core
	agenda agenda

	changes []ledger.Change
}

// Prefixes are those of all keys that an engine saves: what is stored under
// them, and only that, is handed to New.
func Prefixes() []string { return ledger.Prefixes() }

// Restored returns what has to be changed in a store that was copied back from a backup before
// New is called, so that nodes follow the planner that starts on it.
func Restored(pairs []api.Pair) ([]api.Pair, error) {
	changes, err := ledger.Restored(pairs)
	if err != nil {
		return nil, fmt.Errorf("planner state: %w", err)
	}
	return changes, nil
}

// New returns an engine that goes on from what an earlier one saved: all pairs
// whose keys begin with one of Prefixes. A record that cannot be read is set aside, and told after
// the first step; it returns an error when cfg is not valid, or no planner can do without the record.
func New(cfg Config, pairs []api.Pair) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	l, err := ledger.New(cfg.ledger(), pairs)
	if err != nil {
		return nil, fmt.Errorf("planner state: %w", err)
	}
	return &Engine{core: newCore(cfg, l), agenda: agenda{rows: table}}, nil
}

// Step takes one event at now, which does not decrease from call to call (an
// earlier now counts as the latest one). It returns what has to be done: at most
// one Save, which comes first and must be on disk before the rest takes effect.
func (e *Engine) Step(now units.Instant, event Event) []Action {
	e.core.ledger.Begin(now)
	e.core.now, e.core.outlook = e.core.view.Now(), e.core.estimates.Outlook(e.core.view)
	e.core.said = said{}
	on, speaks := e.take(event)
	e.agenda.ask(&e.core, on, speaks)
	return e.finish()
}

// take takes an event in: it becomes facts, and what else it says stands in core.said. It returns on which occasion the
// agenda is to be asked, and about which application that has spoken, nil for none.
func (e *Engine) take(event Event) (on occasion, speaks *ledger.App) {
	c := &e.core
	people := requests{c, &e.agenda}
	switch ev := event.(type) {
	case Register:
		return onRegister, drivers{c}.register(ev)
	case DriverEvents:
		return onDriver, drivers{c}.take(ev)
	case Hello:
		c.said.node, c.said.stood = ev.Status.Node, attached{c}.standing(ev.Status.Node)
		nodes{c}.hello(ev)
		return onNode, nil
	case Status:
		c.said.node, c.said.stood = ev.Status.Node, attached{c}.standing(ev.Status.Node)
		nodes{c}.status(ev.Status)
		return onNode, nil
	case Silence:
		nodes{c}.silent(ev)
	case Standing:
		people.standing(ev)
	case Control:
		people.control(ev)
	case Packed:
		if c.view.ProfileOf(ev.Fact.Owner, ev.Fact.Name) != nil {
			c.record(ev.Fact)
		}
	case PlanQuery:
		people.planQuery(ev)
	case Look:
		people.answer(ev.To, func(i inquiry) any { return i.changes(ev.Since) })
	case Driver:
		people.answer(ev.To, func(i inquiry) any { return i.driver(ev) })
	case Configure:
		e.configure(ev)
	case Settle:
		return onSettle, nil
	case Tick:
		e.tick(ev)
		return onTick, nil
	}
	return onRequest, nil
}

// Hold says that whoever drives the engine sends Settle while Due, after one step or several: the queue of
// applications is asked then, and not by each step.
func (e *Engine) Hold() { e.core.holds = true }

// Due reports whether something waits for Settle.
func (e *Engine) Due() bool { return len(e.core.moved) > 0 }

// Asked is how often the queue of applications has been asked.
func (e *Engine) Asked() uint64 {
	return markOf(&e.core, matter{row: "queue"}).times + markOf(&e.core, matter{row: "moved"}).times
}

// configure goes by another configuration from now on.
func (e *Engine) configure(ev Configure) {
	c := &e.core
	err := ev.Config.Validate()
	if err == nil {
		by := newCore(ev.Config, c.ledger)
		c.cfg, c.estimates, c.places, c.verdicts, c.line = ev.Config, by.estimates, by.places, by.verdicts, by.line
		for _, row := range []string{"queue", "shares", "reservation"} {
			markOf(c, matter{row: row}).at = 0 // Others may be first.
		}
	}
	c.reply(ev.To, func() any { return api.ControlReply{V: api.Version, Error: api.ToWire(err)} })
}

// View is what the planner knows, for who looks and decides nothing. It is valid until the
// next step.
func (e *Engine) View() ledger.View { return e.core.view }

// Changes are the facts of the last step, in order: what logs, counters, a standby, an audit or a
// live stream reads. The fact that a reply has told something is recorded after the step, and stands in the changes of
// the next one. They are valid until then, for facts of nodes' statuses point to these.
func (e *Engine) Changes() []ledger.Change { return e.changes }

// Keys are whose the running and queued applications are, with the public keys of the secrets by which their drivers
// connect as these, for those that do.
func (e *Engine) Keys() map[api.AppID]ledger.Owner {
	keys := map[api.AppID]ledger.Owner{}
	for _, a := range e.core.view.Apps() {
		if a.Tenant.Owner.Key != "" {
			keys[a.ID] = a.Tenant.Owner
		}
	}
	return keys
}

// Files are what the drivers of applications that have not ended are started with.
func Files(e *Engine) map[api.AppID]DriverAnswer {
	files := map[api.AppID]DriverAnswer{}
	for _, a := range e.core.view.Apps() {
		if all := component.Files(a, ""); all != nil {
			files[a.ID] = DriverAnswer{User: a.Tenant.Owner.User, Component: all}
		}
	}
	return files
}

// tick lets time pass.
func (e *Engine) tick(ev Tick) {
	dt := e.agenda.passed(e.core.now, ev.Deaf)
	e.core.said.passed, e.core.said.busy = dt, ev.Busy
	e.core.record(ledger.Passed{For: dt})
	e.core.record(ledger.Waited{For: dt})
}

// finish turns what the step changed into actions.
func (e *Engine) finish() []Action {
	c := &e.core
	effects := c.ledger.Close()
	e.changes = effects.Changes
	for _, err := range effects.Faults {
		e.changes = append(e.changes, ledger.Change{At: c.now, Fact: ledger.RecordLost{Err: err}})
	}
	n := len(effects.Again) + len(effects.Directives) + len(effects.Plans) + len(c.replies) + len(c.answers)
	if n+len(effects.Pairs) == 0 {
		return nil // Most statuses of nodes change nothing.
	}
	actions := make([]Action, 0, 1+n)
	if len(effects.Pairs) > 0 {
		actions = append(actions, Save{Changes: effects.Pairs})
	}
	for _, p := range effects.Again {
		actions = append(actions, PublishPlan{Plan: p})
	}
	for _, d := range effects.Directives {
		actions = append(actions, PublishDirective{App: d.App, Directive: d.Directive})
	}
	for _, p := range effects.Plans {
		actions = append(actions, PublishPlan{Plan: p})
	}
	for _, reply := range c.replies {
		actions = append(actions, reply())
	}
	actions = append(actions, c.answers...)
	c.replies, c.answers = nil, nil
	return actions
}
