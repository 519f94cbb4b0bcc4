package ledger

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// StageMatched: a stage was looked for in its application's profile. Its Annotation says
// what was found; an earlier stage that turns out to be another one has another, or none.
type StageMatched struct {
	App   api.AppID
	Stage api.StageKey
}

func (f StageMatched) apply(l *Ledger) error {
	a, s, err := l.stage(f.App, f.Stage, partNone)
	if err != nil {
		return err
	}
	if a.Profile == nil {
		return fmt.Errorf("application %s has no profile", f.App)
	}
	for _, other := range a.Profile.match(s, a.Order) {
		changeStage(l, other)
	}
	return nil
}

// match looks for s in the profile of its run, which has those stages, and returns the attempts of those that turn
// out not to be what they were taken for.
func (p *Profile) match(s *Stage, order []*Stage) (changed []*Stage) {
	p.Rivals.Ready(s.Ready)
	found, ok := p.Match.Match(s.Ready)
	if !ok {
		return nil
	}
	s.Annotation = found.Annotation.ID
	for _, stage := range found.Changed {
		annotation := Unmatched
		if now, has := p.Match.Of(stage); has {
			annotation = now.Annotation.ID
		}
		for _, other := range order {
			if other.Key().Stage == stage {
				other.Annotation, changed = annotation, append(changed, other)
			}
		}
	}
	return changed
}

// QueryEnded: a SQL query of an application has ended: what its profile has of it and has not come is
// gone. Left says that there was something.
type QueryEnded struct {
	App       api.AppID
	Execution int64
	Left      bool
}

func (f QueryEnded) apply(l *Ledger) error {
	a, err := l.app(f.App, partNone)
	if err != nil {
		return err
	}
	if a.Profile == nil {
		return fmt.Errorf("application %s has no profile", f.App)
	}
	a.Profile.queryEnded(f.Execution)
	if f.Left {
		a.Promise.Queries = append(slices.Clone(a.Promise.Queries), f.Execution)
		change(l, a, partRecord)
	}
	return nil
}
