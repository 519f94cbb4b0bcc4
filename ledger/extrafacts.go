package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// StageAdded: a stage that its run's profile lacks has an annotation of its own, whose id is the profile's
// Next, and a place in the run's course.
type StageAdded struct {
	App   api.AppID
	Stage api.StageKey
	Extra Extra
}

func (f StageAdded) apply(l *Ledger) error {
	a, s, err := l.stage(f.App, f.Stage, partNone)
	if err != nil {
		return err
	}
	if a.Profile == nil || s.Annotation != Unmatched {
		return fmt.Errorf("stage %v of %s has no profile, or is in it", f.Stage, f.App)
	}
	x := &f.Extra.Stage
	if id := a.Profile.Next(); x.ID != id {
		return fmt.Errorf("extra stage %d, not %d", x.ID, id)
	}
	if err := amounts("an extra stage", float64(x.CoreSeconds), float64(x.Duration), float64(x.NominalRate),
		float64(x.LongestTask)); err != nil {
		return err
	}
	if !(x.CoreSeconds > 0 && x.Duration > 0 && x.NominalRate > 0) || x.Records <= 0 || x.Tasks <= 0 {
		return fmt.Errorf("an extra stage of %d tasks, %d records and %v core-seconds", x.Tasks, x.Records,
			float64(x.CoreSeconds))
	}
	s.Annotation, s.Extra, a.Profile = x.ID, &f.Extra, a.Profile.with(f.Extra.Extra)
	a.Profile.Match.Restore(s.Ready, x.ID)
	return nil
}

// withAll returns p with those of stages that are extra, each in the place that it had when those of lower
// ids were there.
func (p *Profile) withAll(stages []*Stage) *Profile {
	extra := slices.DeleteFunc(slices.Clone(stages), func(s *Stage) bool { return !s.Estimated() })
	slices.SortFunc(extra, func(x, y *Stage) int { return cmp.Compare(x.Annotation, y.Annotation) })
	for _, s := range extra {
		p = p.with(s.Extra.Extra)
	}
	return p
}
