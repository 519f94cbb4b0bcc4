package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// core is what all parts of an engine have in common: the ledger, and what the step in
// progress says.
type core struct {
	cfg    Config
	ledger *ledger.Ledger
	// How a run is estimated, where its executors go and how it is judged, by cfg.
	estimates estimate.Policy
	places    placement.Policy
	verdicts  verdict.Policy
	// line says who starts, by the policy in force; due that it is to be asked.
	line queue.Policy
	due  bool

	view    ledger.View
	outlook *estimate.Outlook // Of the step.
	now     units.Instant

	replies []func() Reply
	answers []Action
	// moved are the deadlines of applications that wait which were given since the queue was asked, settled
	// the replies that tell what came of that; holds is Engine.Hold.
	moved   []ledger.DeadlineGiven
	settled []func() Reply
	holds   bool
}

func newCore(cfg Config, l *ledger.Ledger) core {
	v, estimates := l.View(), cfg.estimates()
	return core{cfg: cfg, ledger: l, view: v, outlook: estimates.Outlook(v), estimates: estimates, places: cfg.places(),
		verdicts: cfg.verdicts(), line: cfg.line(cfg.PolicyIn(v))}
}

// record has the ledger know a fact, and reports whether it can be true. That it cannot is
// a fault of a decider, and harms nothing else.
func (c *core) record(f ledger.Fact) bool {
	if err := c.ledger.Record(f); err != nil {
		c.refused(err)
		return false
	}
	return true
}

// refused has it known that a decision was left out.
func (c *core) refused(err error) { c.record(ledger.DecisionRefused{Err: err}) }

// say tells an application's user a line, "" for none.
func (c *core) say(id api.AppID, text string) {
	if text != "" {
		c.record(ledger.Noticed{App: id, Text: text})
	}
}

// reply answers a request once the step is over, so that body sees its outcome.
func (c *core) reply(to Ticket, body func() any) {
	if to != 0 {
		c.replies = append(c.replies, func() Reply { return Reply{To: to, Body: body()} })
	}
}

// show is reply for what promises nothing.
func (c *core) show(to Ticket, body any) {
	if to != 0 {
		c.replies = append(c.replies, func() Reply { return Reply{To: to, Body: body, Reads: true} })
	}
}

// leaves reports whether the exit of a's driver is still waited for.
func (c *core) leaves(a *ledger.App) bool { return c.estimates.Leaves(a) }
