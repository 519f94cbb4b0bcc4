package planner

import (
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
)

// Inconsistent compares what the ledger keeps with what a walk over everything finds, and
// says the first difference.
func (e *Engine) Inconsistent() string { return e.core.ledger.Audit() }

// LedgerConfig is what an engine of that configuration makes its ledger with.
func LedgerConfig(c Config) ledger.Config { return c.ledger() }

// Ask has the engine ask another decider.
func (e *Engine) Ask(d Decider) { e.deciders = append(e.deciders, d) }

// Line is how a configuration has the queue served.
func Line(c Config) queue.Policy { return c.line(c.Queue) }

// What the engine asks deciders by, and checks their answers with.
var (
	Estimates = Config.estimates
	Places    = Config.places
	Verdicts  = Config.verdicts
)
