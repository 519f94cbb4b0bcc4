package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// StageMatched: a stage was looked for in its application's profile. Its Annotation says
// what was found; an earlier stage that turns out not to be that has none any more.
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
	found, ok := a.Profile.Match.Match(s.Ready)
	if !ok {
		return nil
	}
	s.Annotation = found.Annotation.ID
	if found.Freed == nil {
		return nil
	}
	for _, other := range a.Order {
		if other.Key().Stage == *found.Freed {
			other.Annotation = Unmatched
			changeStage(l, other)
		}
	}
	return nil
}
