package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// VariantTaken: an application's run is of another variant of its profile than it was taken for, at that
// place of its Variants. Its stages so far are matched to that.
type VariantTaken struct {
	App   api.AppID
	Place int
	// Stage is the one that showed it.
	Stage api.StageKey
}

func (f VariantTaken) apply(l *Ledger) error {
	a, _, err := l.stage(f.App, f.Stage, partProfile)
	if err != nil {
		return err
	}
	if a.Profile == nil || f.Place < 0 || f.Place >= len(a.Profile.Recorded.Variants) {
		return fmt.Errorf("the profile of %s has no variant %d", f.App, f.Place)
	}
	taken, err := NewProfile(profiles.Taken(a.Profile.Recorded, f.Place))
	if err != nil {
		return err
	}
	a.Profile = taken.forRun(l.cfg.Beta)
	for _, s := range a.Order {
		s.Annotation, s.Extra = Unmatched, nil
	}
	for _, s := range a.Order {
		a.Profile.match(s, a.Order)
		a.Profile = a.Profile.ahead(s)
		if s.Done != nil {
			a.Profile.ended(s.Key().Stage)
		}
		l.batch.changeStage(s)
	}
	for _, execution := range a.Promise.Queries {
		a.Profile.queryEnded(execution)
	}
	return nil
}

// ended notes that an attempt of a stage of p's run has ended.
func (p *Profile) ended(stage int) {
	p.Match.Ended(stage)
	p.Rivals.Ended(stage)
}

// queryEnded notes that a SQL query of p's run has ended.
func (p *Profile) queryEnded(execution int64) {
	p.Match.QueryEnded(execution)
	p.Rivals.QueryEnded(execution)
}
