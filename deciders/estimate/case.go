package estimate

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/devices"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Starting is a, which waits or comes, as it is judged and seated when it starts now: matched to its profile as that
// is now, nil for none, with the mode that this means. It is nobody's: the ledger does not know it.
func (o *Outlook) Starting(a *ledger.App, profile *ledger.Profile) (starting *ledger.App, matched bool) {
	b := *a
	if mode := a.Promise.Mode; mode == ledger.Recording || mode == ledger.Paced {
		if profile != nil {
			b.Profile, matched = profile, true
		}
		b.Promise.Mode = ledger.Recording
		if b.Promise.Deadline > 0 && b.Profile != nil {
			b.Promise.Mode = ledger.Paced
		}
	}
	b.Promise.Gate = ledger.Gate{}
	return &b, matched
}

// Case is an application with cores and slots that it may get: the answer to "what if".
type Case struct {
	App *ledger.App
	// Promises are what others have been promised of the nodes. Supply is what those offer, less that.
	Promises []Promise
	Supply   dag.Supply
	outlook  *Outlook
	nodes    []string
	loads    []devices.Load
	left     moved
}

// With is a, which runs, waits or comes, with what those nodes offer. Without nodes it is alone.
func (o *Outlook) With(a *ledger.App, nodes []string, offered dag.Supply) Case {
	nodes = slices.Compact(slices.Sorted(slices.Values(nodes)))
	c := Case{App: a, Promises: o.Promised(a, nodes), Supply: offered, outlook: o, nodes: nodes}
	c.Supply.Taken = taken(c.Promises)
	return c.loaded(nodes, false)
}

// Shape is that of the application's branches, where a stage has so many executors (Policy.Shape).
func (c Case) Shape(executors int) dag.Params {
	p := &c.App.Promise
	return c.outlook.Shape(c.App.Profile.Graph, executors, p.Deadline, c.Supply, c.App.At(c.outlook.View.Now()))
}

// Forecast is what the deadline means for the application by q, if it starts at a moment.
func (c Case) Forecast(q dag.Params, at units.Instant) dag.Forecast {
	return c.App.Profile.Graph.Forecast(q, c.App.Promise.Deadline, c.Supply, c.App.At(at))
}

// Earliest is the earliest deadline that is feasible where f is the forecast, 0 if there is none.
func (c Case) Earliest(q dag.Params, f dag.Forecast, at units.Instant) units.Seconds {
	return f.EarliestOf(c.App.Profile.Graph, q, c.App.Promise.Deadline, c.Supply, c.App.At(at))
}

// Reserve is what the application keeps for what nobody foresees.
func (c Case) Reserve() (Reserve, bool) { return ReserveOf(c.App, c.outlook) }

// Reserved are the parameters q with that.
func (c Case) Reserved(q dag.Params) dag.Params { return Reserved(q, c.App, c.outlook) }

// End predicts the end of the application from where it stands if all its stages had all cores of the supply.
func (c Case) End() units.Seconds {
	q, course := c.outlook.Equations, c.outlook.Course(c.App)
	q.Open = true
	end, _ := course.Graph.Resume(q, 0, c.Supply, standing(c.outlook.View.Now(), c.App, course, true))
	return end
}

// Alone is c as if others had been promised nothing.
func (c Case) Alone() Case {
	c.Promises, c.Supply.Taken = nil, nil
	return c.loaded(c.nodes, true)
}

// Empty is c, which has no nodes, on those with nothing else on them.
func (c Case) Empty(nodes []string) Case { return c.loaded(nodes, true) }

// Bounds are those of the stages that a forecast of c has.
func (c Case) Bounds(stages []dag.StageForecast) Bounds {
	return c.left.bounds(c.App, c.Supply, c.loads, stages)
}

// loaded is c with what others leave of the devices of nodes, all of them where it is alone.
func (c Case) loaded(nodes []string, alone bool) Case {
	c.loads = loads(c.App, c.outlook, nodes, alone)
	c.left = moves(c.App, c.outlook, c.loads)
	c.Supply.Least = c.left.floor(c.loads)
	return c
}

// Others is how many others run on the nodes, or wait.
func (c Case) Others() int {
	others := make(map[api.AppID]bool)
	for _, name := range c.nodes {
		for _, t := range c.outlook.View.Allocations(name) {
			if t.App.Running() {
				others[t.App.ID] = true
			}
		}
	}
	if len(c.nodes) > 0 {
		for _, b := range c.outlook.View.Waiting() {
			others[b.ID] = true
		}
	}
	delete(others, c.App.ID)
	return len(others)
}
