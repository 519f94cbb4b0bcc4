package ledger

import (
	"fmt"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// StageReady: a stage attempt is ready to run.
type StageReady struct {
	App   api.AppID
	Ready api.StageReady
	At    units.Seconds
	Seq   uint64 // Of the driver's event.
}

func (f StageReady) apply(l *Ledger) error {
	a, err := l.app(f.App, partNone)
	if err != nil {
		return err
	}
	if a.Stages[f.Ready.StageKey] != nil {
		return fmt.Errorf("stage %v of %s is there already", f.Ready.StageKey, f.App)
	}
	s := &Stage{StageRecord: StageRecord{Ready: f.Ready, ReadyAt: f.At, Seq: f.Seq, Annotation: Unmatched}}
	a.Stages[s.Key()] = s
	a.Order = append(a.Order, s)
	a.begin(s)
	limit := l.sampleLimit(a)
	for _, s := range a.Order {
		if s.Samples.cut(limit) {
			s.versions.counted, s.copied = l.batch.number, nil
		}
	}
	l.batch.changeStage(s)
	launched(l, a, f.At)
	l.forget(a)
	return nil
}

// launched notes the first task's launch; the driver's first ready stage tells
// it, to some milliseconds.
func launched(l *Ledger, a *App, at units.Seconds) {
	if a.Promise.Launched {
		return
	}
	a.Promise.Launched, a.Promise.First = true, at
	l.batch.change(a, partRecord)
	for _, x := range a.Tenant.Executors {
		measure(l, a, x)
	}
}

// measure fixes what x had used before the first task, as soon as it is known.
func measure(l *Ledger, a *App, x *Executor) {
	if !a.Promise.Launched || x.Based || len(x.points) == 0 || x.points[len(x.points)-1].at < a.Promise.First {
		return
	}
	x.Base, x.Based = x.UsedAt(a.Promise.First), true
	l.batch.change(a, partFigures)
}

// forget drops the oldest ended stage attempt when there are too many, as in an
// application that streams for months.
func (l *Ledger) forget(a *App) {
	if len(a.Order) <= l.cfg.Stages {
		return
	}
	for i, s := range a.Order {
		if s.Done != nil {
			a.Order = append(a.Order[:i], a.Order[i+1:]...)
			delete(a.Stages, s.Key())
			l.batch.removeStage(a.ID, s)
			a.Promise.Forgotten++
			l.batch.change(a, partRecord)
			return
		}
	}
}

// StageAimed: a stage has a deadline, and its executors new targets for it.
type StageAimed struct {
	App   api.AppID
	Stage api.StageKey
	Aim   Aim
	// First is its first deadline, counted from ReadyAt.
	First   units.Seconds
	Targets []Target
	// Left is the time until the deadline, Cores what it takes by Eq 6.
	Left  units.Seconds
	Cores units.Cores
}

func (f StageAimed) apply(l *Ledger) error {
	a, s, err := l.stage(f.App, f.Stage, partTargets)
	if err != nil {
		return err
	}
	if err := checkTargets(l.View(), a, f.Targets); err != nil {
		return err
	}
	err = amounts("an aim", float64(f.Aim.Work), f.Aim.Records, math.Abs(float64(f.First)), float64(f.Aim.Least))
	if err != nil {
		return err
	}
	s.First, s.Aim = f.First, f.Aim
	// An observed stage has all cores, whatever its target says.
	if !a.Promise.Targeted && !a.Observed() {
		a.Promise.Targeted = true
		l.batch.change(a, partRecord)
	}
	s.Targets = nil
	a.bind(s, f.Targets)
	return nil
}

// StageTargeted: a stage's executors have these targets; one that stays the same keeps
// its Rev, so that its controller is left alone.
type StageTargeted struct {
	App     api.AppID
	Stage   api.StageKey
	Targets []Target
}

func (f StageTargeted) apply(l *Ledger) error {
	a, s, err := l.stage(f.App, f.Stage, partTargets)
	if err != nil {
		return err
	}
	if err := checkTargets(l.View(), a, f.Targets); err != nil {
		return err
	}
	a.bind(s, f.Targets)
	return nil
}

// bind gives s those targets, with a new Rev for each that is not as it was. What a needs at
// least goes with them, so that it alone does not make new Plans.
func (a *App) bind(s *Stage, targets []Target) {
	before := s.Targets
	s.Targets = make([]Target, 0, len(targets))
	for _, t := range targets {
		s.Targets = append(s.Targets, a.revise(t, before))
	}
	if len(targets) > 0 {
		a.Marks.Least = s.Aim.Least
	}
}

// revise gives t the Rev of the target that it repeats, a new one otherwise.
func (a *App) revise(t Target, before []Target) Target {
	for _, old := range before {
		same := t
		same.Rev, same.InitCores = old.Rev, old.InitCores
		if same == old {
			return old
		}
	}
	a.Marks.Revs++
	t.Rev = a.Marks.Revs
	return t
}

// StageRebound: the driver has bound a running stage to other executors. Its tail is not
// handed over until HandOver, for progress is told as a part of shares that have just
// changed.
type StageRebound struct {
	App      api.AppID
	Stage    api.StageKey
	Bindings []api.Binding
	HandOver units.Instant
}

func (f StageRebound) apply(l *Ledger) error {
	_, s, err := l.stage(f.App, f.Stage, partNone)
	if err != nil {
		return err
	}
	s.Ready.Bindings = f.Bindings
	s.HandOver = max(s.HandOver, f.HandOver)
	return nil
}

// StageShared: the driver is asked to divide a running stage like that over its targets'
// executors, because some cannot finish theirs in time.
type StageShared struct {
	App    api.AppID
	Stage  api.StageKey
	Shares []api.ExecutorShare
	// Moved is the weight that changes hands, 0 where the last task may be copied, Late how much later than the
	// deadline the stage would have ended.
	Moved float64
	Late  units.Seconds
}

func (f StageShared) apply(l *Ledger) error {
	a, s, err := l.stage(f.App, f.Stage, partTargets)
	if err != nil {
		return err
	}
	if err := checkShares(s, f.Shares); err != nil {
		return err
	}
	a.Marks.Revs++
	s.ShareRev, s.Shares, s.HandOver = a.Marks.Revs, f.Shares, l.now
	return nil
}

// StageEnded: a stage attempt is over, that became ready at ReadyAt and had First to end in, 0
// where it had no deadline.
type StageEnded struct {
	App            api.AppID
	Done           api.StageDone
	At             units.Seconds
	ReadyAt, First units.Seconds
}

func (f StageEnded) apply(l *Ledger) error {
	a, s, err := l.stage(f.App, f.Done.StageKey, partMarks)
	if err != nil {
		return err
	}
	if s.Done != nil {
		return fmt.Errorf("stage %v of %s is over already", f.Done.StageKey, f.App)
	}
	s.Done, s.DoneAt = &f.Done, max(f.At, s.ReadyAt)
	a.finish(s)
	if a.Profile != nil {
		a.Profile.ended(s.Key().Stage)
	}
	if first := f.Done.FirstLaunch; first > 0 && a.Order[0] == s && !a.Partial() {
		a.Promise.First = first
		l.batch.change(a, partRecord)
	}
	last := f.Done.LastFinish
	if f.Done.Failed {
		last = max(last, f.At) // Its tasks ran until then, whether one of them has ended or not.
	}
	a.Marks.LastTask = max(a.Marks.LastTask, last)
	if !f.Done.Failed {
		advanced(a, l)
	}
	l.batch.drop(a, s)
	return nil
}
