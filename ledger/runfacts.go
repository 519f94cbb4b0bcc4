package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// RunBegan: what an application does from now on is a run of its own, with that promise. Its deadline clock starts By
// later than the one before. Stages of before are no part of it; executors stay.
type RunBegan struct {
	App     api.AppID
	By      units.Seconds
	Promise Promise
	// Matched has it matched to the stored profile of its name.
	Matched bool
}

func (f RunBegan) apply(l *Ledger) error {
	a, err := l.app(f.App, partState|partMarks|partProfile|partFolded)
	if err != nil {
		return err
	}
	if !a.Running() {
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	}
	if err := amounts("a deadline, or a start,", float64(f.Promise.Deadline), float64(max(f.By, -f.By))); err != nil {
		return err
	}
	profile, err := planFor(f.Matched, a.Tenant.Owner.User, f.Promise.Profile, l)
	if err != nil {
		return err
	}
	l.batch.dropTargets(a)
	l.batch.dropStages(a)
	if a.Profile != nil && profile == nil {
		l.batch.put(ownProfile(a.ID), nil)
	}
	start := a.Promise.Start.Add(f.By.Duration())
	a.Profile, a.Promise = profile, f.Promise
	a.Promise.Start = start
	a.Marks.LastTask, a.Marks.Least = 0, 0
	t := &a.Tenant
	t.Began, t.Resized = t.Began-f.By, t.Cap > 0
	t.Beside, t.BesideStart, t.Lost, t.Short = 0, 0, nil, nil
	for _, x := range t.Executors {
		x.Since, x.Base, x.Based = x.Since-f.By, 0, false
		points := make([]usagePoint, 0, maxPoints) // Snapshots have the old ones.
		for _, p := range x.points {
			points = append(points, usagePoint{p.at - f.By, p.cpu})
		}
		x.points = points
	}
	l.changed.touch(PartDeadlines)
	return nil
}

// planFor is the copy that an application of a user has of the stored profile of that name, nil where it is not
// matched.
func planFor(matched bool, user, name string, l *Ledger) (*Profile, error) {
	if !matched {
		return nil, nil
	}
	stored := l.profiles.find(user, name)
	if stored == nil {
		return nil, fmt.Errorf("profile %s is not there", name)
	}
	useProfile(l, stored)
	return l.profiles.draw(stored.Planned()).forRun(l.cfg.Beta), nil
}

// dropStages has a as if it had run no stage.
func (b *batch) dropStages(a *App) {
	for _, s := range a.Order {
		b.removeStage(a.ID, s)
	}
	if a.Folded != nil {
		b.put(foldedKey(a.ID), nil)
	}
	clear(a.Stages)
	a.Order, a.opened, a.Folded = nil, nil, nil
}

// RunArchived: a run of an application that goes on is history, under an id of its own.
type RunArchived struct {
	App     api.AppID
	Detail  api.AppDetail
	Account Account
	Run     Run
}

func (f RunArchived) apply(l *Ledger) error {
	if _, err := l.app(f.App, partNone); err != nil {
		return err
	}
	d := &f.Detail
	if l.apps[d.ID] != nil || d.ID == "" || d.State == api.AppRunning || d.State == api.AppQueued {
		return fmt.Errorf("a run of application %s is history as %q, which is %s", f.App, d.ID, d.State)
	}
	if err := f.Run.of(d.ID); err != nil {
		return err
	}
	l.bury(&Ended{At: l.now, Detail: f.Detail, Account: f.Account}, f.Run)
	return nil
}
