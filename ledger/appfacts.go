package ledger

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Registered: an application has come. Serial is its number.
type Registered struct {
	ID      api.AppID
	Name    string
	Serial  uint64
	Tenant  Tenant
	Promise Promise
	// Matched has it matched to the stored profile of its name.
	Matched bool
	// Queued has it wait, until Started; Seats has it start at once. An application that is taken over has neither.
	Queued bool
	Seats  *Seats
	// Executors is how many one has that is taken over.
	Executors int
}

func (f Registered) apply(l *Ledger) error {
	if f.ID == "" {
		return fmt.Errorf("an application without an id")
	}
	if f.Tenant.Claim() < 0 || f.Tenant.Launch.Heap < 0 || f.Tenant.Launch.OffHeap < 0 {
		return fmt.Errorf("application %s has executors of %v heap, %v in all", f.ID, f.Tenant.Launch.Heap, f.Tenant.Claim())
	}
	if l.apps[f.ID] != nil {
		return fmt.Errorf("application %s is there already", f.ID)
	}
	if err := checkSerial(l, f.Serial); err != nil {
		return err
	}
	if err := amounts("deadline, cores or slots", float64(f.Promise.Deadline), float64(f.Tenant.Cores),
		float64(f.Tenant.Slots)); err != nil {
		return err
	}
	a := &App{ID: f.ID, Name: f.Name, Tenant: f.Tenant, Promise: f.Promise, Outcome: Outcome{State: api.AppRunning},
		Stages: make(map[api.StageKey]*Stage),
		Clocks: Clocks{Read: true}}
	a.Tenant.Executors, a.Tenant.NextID = nil, 1
	if !f.Queued {
		a.Tenant.count(a.Tenant.Owner.Seen)
	}
	var err error
	if a.Profile, err = planFor(f.Matched, f.Tenant.Owner.User, f.Promise.Profile, l); err != nil {
		return err
	}
	if f.Seats != nil {
		if err := f.Seats.check(l, a); err != nil {
			return err
		}
	}
	if f.Queued {
		a.Outcome.State, l.waiting = api.AppQueued, nil
		l.changed.touch(PartWaiting)
	}
	l.serial = f.Serial
	l.changed.touch(PartApps)
	l.apps[a.ID], l.lineup = a, nil
	if f.Seats != nil {
		f.Seats.take(l, a)
	}
	l.batch.subject.app, l.batch.subject.parts = a, partState|partProfile
	return nil
}

// SerialTaken: an application's number is taken, though the application is not.
type SerialTaken struct{ Serial uint64 }

func (f SerialTaken) apply(l *Ledger) error {
	if err := checkSerial(l, f.Serial); err != nil {
		return err
	}
	l.serial = f.Serial
	l.changed.touch(PartApps)
	return nil
}

// checkSerial says that a number was given before.
func checkSerial(l *Ledger, serial uint64) error {
	if serial <= l.serial {
		return fmt.Errorf("number %d after %d", serial, l.serial)
	}
	return nil
}

// Heard: the driver of an application has spoken.
type Heard struct{ App api.AppID }

func (f Heard) apply(l *Ledger) error {
	a, err := l.app(f.App, partNone)
	if err != nil {
		return err
	}
	a.Clocks.Silent = 0
	return nil
}

// EventTaken: an event of the driver was taken in.
type EventTaken struct {
	App api.AppID
	Seq uint64
}

func (f EventTaken) apply(l *Ledger) error {
	a, err := l.app(f.App, partMarks)
	if err != nil {
		return err
	}
	a.Marks.AckedSeq = f.Seq
	return nil
}

// Judged: an application has a verdict, and what takes its gate away. After is what somebody has
// asked for and it was judged anew for, DeadlineGiven or Capped, nil for nothing. Says is told its user, "" for
// nothing.
type Judged struct {
	App api.AppID
	Judgement
	After Fact
	Says  string
}

// verdicts are all that may be thought of a deadline.
var verdicts = []api.Verdict{api.VerdictFeasible, api.VerdictTight, api.VerdictInfeasible, api.VerdictUnknown,
	api.VerdictNone}

// check says what cannot be true of a judgement.
func (j Judgement) check() error {
	if !slices.Contains(verdicts, j.Verdict) {
		return fmt.Errorf("verdict %q", j.Verdict)
	}
	return amounts("an earliest end", float64(j.Earliest))
}

func (f Judged) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if err := f.Judgement.check(); err != nil {
		return err
	}
	a.Promise.Judgement = f.Judgement
	return nil
}

// DeadlineGiven: an application has another deadline, and its gate is as if nothing had
// happened to it. Where it is its submission's, that is
// moved by as much: contexts that follow keep the time that they have.
type DeadlineGiven struct {
	App      api.AppID
	Deadline units.Seconds
}

func (f DeadlineGiven) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if !(f.Deadline > 0) {
		return fmt.Errorf("deadline %v", float64(f.Deadline))
	}
	if o, p := &a.Tenant.Owner, &a.Promise; f.Deadline != p.Deadline {
		if o.Shares && p.Followers > 0 {
			p.Shared += f.Deadline - p.Deadline
		} else {
			p.Shared, p.Followers = 0, 0
		}
		if o.Shares {
			o.Moved += f.Deadline - p.Deadline
		}
	}
	a.Promise.Deadline, a.Promise.Gate = f.Deadline, Gate{}
	l.changed.touch(PartDeadlines)
	return nil
}

// GateSet: something has taken an application's gate away, or given it back. Why is why it has all cores from now on,
// "" where it had them before or has not; Says is told its user, "" for nothing.
type GateSet struct {
	App       api.AppID
	Gate      Gate
	Why, Says string
}

func (f GateSet) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	a.Promise.Gate = f.Gate
	return nil
}

// ModeSet: an application runs in another mode, with all cores. Why is told its user.
type ModeSet struct {
	App  api.AppID
	Mode Mode
	Why  string
}

func (f ModeSet) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	a.Promise.Mode = f.Mode
	return nil
}

// Capped: an operator has given an application a most of cores on a node, 0 for none. A run
// that was capped is none at all cores.
type Capped struct {
	App   api.AppID
	Cores units.Cores
}

func (f Capped) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if err := amounts("a cap", float64(f.Cores)); err != nil {
		return err
	}
	a.Tenant.Cap, a.Tenant.Resized = f.Cores, true
	return nil
}

// PacingChanged: an application runs with all cores from now on, or is paced again. Pacing is how
// it runs (App.Pacing). Without a gate it has no targets any more.
type PacingChanged struct {
	App         api.AppID
	Pacing, Why string
}

func (f PacingChanged) apply(l *Ledger) error {
	a, err := l.app(f.App, partNone)
	if err != nil {
		return err
	}
	if f.Pacing != a.Pacing() {
		return fmt.Errorf("application %s is %s, not %s", a.ID, a.Pacing(), f.Pacing)
	}
	if !a.Gated() {
		l.batch.dropTargets(a)
	}
	return nil
}

// TargetsDropped: the executors of all stages of an application have all cores.
type TargetsDropped struct{ App api.AppID }

func (f TargetsDropped) apply(l *Ledger) error {
	a, err := l.app(f.App, partNone)
	if err != nil {
		return err
	}
	l.batch.dropTargets(a)
	return nil
}
