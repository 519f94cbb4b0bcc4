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
		l.batch.changeStage(other)
	}
	a.Profile = a.Profile.ahead(s)
	return nil
}

// ahead returns p with the job of s, which has an annotation if it is known, before those that s has left out and
// that may still come. A holder of p sees nothing of it.
func (p *Profile) ahead(s *Stage) *Profile {
	if s.Annotation == Unmatched {
		return p
	}
	coming := p.Match.Remaining()
	g := p.Graph.Ahead(s.Annotation, func(id int) bool {
		_, comes := slices.BinarySearch(coming, id)
		return comes
	})
	if g == p.Graph {
		return p
	}
	moved := *p
	moved.Graph = g
	moved.Body.Stages = g.Stages()
	return &moved
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

// Annotated is what p says of a stage of its run: of several that it has as one, what it says of one of them.
func (p *Profile) Annotated(s *Stage) (annotation api.ProfileStage, known bool) {
	annotation, known = p.Graph.Stage(s.Annotation)
	return annotation.Part(1 / float64(p.Recorded.Count(s.Annotation))), known
}

// Folded reports whether p has s, of its run, as one of several with one annotation.
func (p *Profile) Folded(s *Stage) bool { return p.Recorded.Count(s.Annotation) > 1 }

// Beside reports whether s, of p's run, is in another pool than the deadline hangs on: what its user waits for is not
// held back.
func (p *Profile) Beside(s *Stage) bool {
	return p != nil && p.Recorded.Habit.Pool != "" && s.Ready.Pool != "" && s.Ready.Pool != p.Recorded.Habit.Pool
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
		l.batch.change(a, partRecord)
	}
	return nil
}
