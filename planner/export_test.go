package planner

import (
	"reflect"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
)

// Inconsistent compares what the ledger keeps with what a walk over everything finds, and
// says the first difference.
func (e *Engine) Inconsistent() string { return e.core.ledger.Audit() }

// Stale names an application of which the step's Outlook holds something that is not so any more, "" for none.
func (e *Engine) Stale() api.AppID {
	old, fresh := e.core.outlook, e.core.estimates.Outlook(e.core.view)
	for _, a := range e.core.view.Apps() {
		if a.Profile != nil && (!reflect.DeepEqual(old.Course(a).Body, fresh.Course(a).Body) ||
			!slices.Equal(old.Course(a).Coming, fresh.Course(a).Coming) || old.Least(a) != fresh.Least(a)) {
			return a.ID
		}
	}
	return ""
}

// Walks counts the walks of the last step over nodes or executors for attached applications.
func (e *Engine) Walks() uint64 { return e.core.said.walks }

// LedgerConfig is what an engine of that configuration makes its ledger with.
func LedgerConfig(c Config) ledger.Config { return c.ledger() }

// Ask has the engine ask another decider.
func (e *Engine) Ask(d Decider) {
	e.agenda.rows = append(slices.Clip(e.agenda.rows), row{name: "another", on: onTick, ask: looks(d)})
}

// Line is how a configuration has the queue served.
func Line(c Config) queue.Policy { return c.line(c.Queue) }

// What the engine asks deciders by, and checks their answers with.
var (
	Estimates = Config.estimates
	Places    = Config.places
	Verdicts  = Config.verdicts
)

// RowsAsked is how often rows of the agenda have been asked, by name.
func (e *Engine) RowsAsked() map[string]uint64 {
	asked := make(map[string]uint64)
	for i := range e.agenda.rows {
		asked[e.agenda.rows[i].name] = markOf(&e.core, matter{row: e.agenda.rows[i].name}).times
	}
	return asked
}

// Rows are the names of the rows of the agenda, in order.
func Rows() (names []string) {
	for i := range table {
		names = append(names, table[i].name)
	}
	return names
}

// Always has the rows asked on each of their occasions that go by what they read; byTime has those asked that are asked
// after some time as well. What is not made anew for a second is not.
func (e *Engine) Always(byTime bool) {
	e.agenda.always = func(r *row) bool {
		return r.sets || r.reads != 0 && (byTime || r.every == 0) && r.as != "shares" && r.name != "shares"
	}
}

// Again asks all rows of a tick that have anything to decide about each application once more, though nothing has
// changed and whenever they were asked last, and says what they record, by row. The engine is of no use afterwards.
func (e *Engine) Again() (told []string) {
	c := &e.core
	c.ledger.Begin(c.now)
	c.said = said{on: onTick}
	c.ledger.Close()
	for i := range e.agenda.rows {
		r := &e.agenda.rows[i]
		if r.on&onTick == 0 || r.while != nil && !r.while(c) {
			continue
		}
		if r.of == nil {
			r.ask(c, nil)
		} else {
			for _, a := range c.view.Apps() {
				e.agenda.about(c, []int{i}, a)
			}
		}
		for _, change := range c.ledger.Close().Changes {
			told = append(told, r.name+": "+change.Line().Name)
		}
	}
	return told
}
