package ledger

import (
	"fmt"
	"maps"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Profile is a profile with its graph: stored ones, and each running application's own
// copy, which also matches its stages.
type Profile struct {
	// Body has, of a running application, the extra stages of its run where they stand.
	Body api.Profile
	// Graph is nil for a stored profile: Drawn has it.
	Graph *dag.Graph
	// Recorded is Body without extra stages.
	Recorded api.Profile
	// Match is nil for a stored profile, Rivals for one without variants, and in snapshots.
	Match  *profiles.Matcher
	Rivals *profiles.Rivals
	// Rate is the application's average nominal rate (dag.Graph.Rate).
	Rate units.Rate
	// Takes is how long its stages take at all cores one after the other, Typical which part of that its runs had besides,
	// below 0 where no run says.
	Takes   units.Seconds
	Typical units.Fraction
	// FixedPart is api.RegisterReply.FixedPart; nil for a stored profile.
	FixedPart map[string]units.Fraction
	// judged is View.Judged, of a stored profile that has been asked for.
	judged *Profile
	// held is what facets keep of a stored profile.
	held facets
}

// NewProfile returns p with its graph, or says what is wrong with it.
func NewProfile(p api.Profile) (*Profile, error) {
	g, err := dag.New(profiles.Alone(p))
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	stored := &Profile{Body: p, Graph: g, Recorded: p, Takes: profiles.Takes(p), Typical: -1}
	if share, known := profiles.Typical(p); known {
		stored.Typical = share
	}
	return stored, nil
}

// Drawn is p with its graph.
func (p *Profile) Drawn() *Profile {
	if p.Graph != nil {
		return p
	}
	with := *p
	with.Graph, _ = dag.New(profiles.Alone(p.Body)) // One was made of it before it was stored.
	return &with
}

func (p *Profile) id() profileID { return profileID{p.Body.Name, p.Body.Owner} }

// forRun returns p for one application: what is stored may change while it runs, and may have no graph.
func (p *Profile) forRun(beta float64) *Profile {
	p = p.Drawn()
	body := profiles.Alone(p.Body)
	return &Profile{Body: body, Graph: p.Graph, Recorded: body, Match: profiles.NewMatcher(p.Body),
		Rivals: profiles.NewRivals(p.Body), Takes: p.Takes, Typical: p.Typical,
		Rate:      p.Graph.Rate(beta),
		FixedPart: fixedParts(p.Body)}
}

// Was is the body in whose place p has come with the fact that facets take in, nil for none.
func (p *Profile) Was() *api.Profile { return p.held.was }

// Planned is the profile that runs of p, which is stored, are planned with: p itself, unless another version of it is
// pinned. That earlier runs failed while they were held back counts for all versions.
func (p *Profile) Planned() *Profile {
	if p == nil || p.held.instead == nil {
		return p
	}
	planned, habit := p.held.instead.(*Profile), p.Body.Habit
	if h := planned.Body.Habit; h.FailedAt != habit.FailedAt || h.Suspected != habit.Suspected {
		with := *planned
		with.Body.Habit.FailedAt, with.Body.Habit.Suspected, with.judged = habit.FailedAt, habit.Suspected, nil
		return &with
	}
	return planned
}

// Next is the id that the next extra stage of the run gets: greater than all others.
func (p *Profile) Next() int {
	next := p.Recorded.Stages[len(p.Recorded.Stages)-1].ID + 1
	for i := range p.Body.Stages {
		next = max(next, p.Body.Stages[i].ID+1)
	}
	return next
}

// with returns p with an extra stage, which its Match takes in. The holder of p sees nothing else of it.
func (p *Profile) with(x dag.Extra) *Profile {
	p.Match.Grow(x.Stage)
	grown := *p
	grown.Graph = x.Into(p.Graph)
	grown.Body.Stages = grown.Graph.Stages()
	return &grown
}

// Growth is how the work of the stage of that id goes with its size.
func (p *Profile) Growth(id int) api.Growth { return p.Recorded.Habit.Stages[id].Growth }

// leastFixedPart is the least that a driver is told: less one run finds and the next one does
// not, and the node's estimate does as well without (meter.Settings.TaskCost).
const leastFixedPart = 0.3

// fixedParts is api.RegisterReply.FixedPart of a profile.
func fixedParts(p api.Profile) map[string]units.Fraction {
	means, counts := map[string]units.Fraction{}, map[string]int{}
	for _, s := range p.Stages {
		counts[s.Signature]++
		means[s.Signature] += (min(api.MostFixedPart, s.FixedPart) - means[s.Signature]) / units.Fraction(counts[s.Signature])
	}
	maps.DeleteFunc(means, func(_ string, part units.Fraction) bool { return part < leastFixedPart })
	return means
}

// Suspected says that the last paced run by p has failed: one at all cores is to show whether pacing was why.
func (p *Profile) Suspected() bool { return p != nil && p.Body.Habit.Suspected > 0 }

// GraphOf is the graph of a body that was made from p's.
func (p *Profile) GraphOf(body api.Profile) *dag.Graph {
	g, err := p.Graph.With(body)
	if err != nil {
		// The rest of a valid profile is valid: only durations have shrunk.
		return p.Graph
	}
	return g
}

// Learnt is what the newest run that went into a profile made of it.
type Learnt struct {
	App           api.AppID
	before, after *Profile // before is nil for a new profile.
}
