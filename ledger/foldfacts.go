package ledger

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// StagesFolded: stage attempts of an application that have ended are kept as a part of Into alone, which has what it
// had folded before, too. Into is nil where they cannot be folded: then they are forgotten.
type StagesFolded struct {
	App    api.AppID
	Stages []api.StageKey
	Into   *profiles.Recorder
}

func (f StagesFolded) apply(l *Ledger) error {
	a, err := l.app(f.App, partRecord|partFolded)
	if err != nil {
		return err
	}
	for _, key := range f.Stages {
		if s := a.Stages[key]; s == nil || s.Done == nil {
			return fmt.Errorf("stage %v of %s is not there, or runs", key, f.App)
		}
	}
	for _, key := range f.Stages {
		l.batch.removeStage(a.ID, a.Stages[key])
		delete(a.Stages, key)
	}
	a.Order = slices.DeleteFunc(a.Order, func(s *Stage) bool { return a.Stages[s.Key()] != s })
	if a.Folded = f.Into; f.Into == nil {
		a.Promise.Forgotten += len(f.Stages)
		l.batch.put(foldedKey(a.ID), nil)
	}
	return nil
}

// Partial reports whether a has had stage attempts that Order lacks.
func (a *App) Partial() bool { return a.Folded != nil || a.Promise.Forgotten > 0 }
