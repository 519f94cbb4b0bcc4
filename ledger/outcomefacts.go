package ledger

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// ContextStopped: the driver says that its context stops; the nodes stop the executors. How the
// application ends is open until its exit is known. Deadline is what it had.
type ContextStopped struct {
	App          api.AppID
	At, Deadline units.Seconds
	Failed       bool
	Reason       string
}

func (f ContextStopped) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	state := api.AppUnknown
	if f.Failed {
		state = api.AppFailed
	}
	if err := l.end(a, Outcome{State: state, Ended: f.At, EndedBy: api.EndedByStop, Reason: f.Reason}); err != nil {
		return err
	}
	a.Outcome.DriverEnd, a.Outcome.Stopped = true, f.At
	return nil
}

// KillAsked: somebody wants an application to end. Queued says that it waits, and is out of the
// queue.
type KillAsked struct {
	App    api.AppID
	By     string
	Queued bool
}

func (f KillAsked) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	switch {
	case f.By == "":
		return fmt.Errorf("application %s is killed by nobody", a.ID)
	case a.Over():
		return fmt.Errorf("application %s has ended", a.ID)
	}
	a.Outcome.Killed, a.Clocks.EndWait = f.By, 0
	return nil
}

// OwnerRevoked: the credentials of an application's user were revoked, or it has some again.
type OwnerRevoked struct {
	App     api.AppID
	Revoked bool
}

func (f OwnerRevoked) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if a.Over() {
		return fmt.Errorf("application %s has ended", a.ID)
	}
	a.Outcome.Revoked = 0
	if f.Revoked {
		a.Outcome.Revoked = l.now
	}
	return nil
}

// RunEnded: an application has ended without a word of its driver: it has failed, or how is not
// known.
type RunEnded struct {
	App    api.AppID
	State  api.AppState
	At     units.Seconds
	By     api.EndedBy
	Reason string
}

func (f RunEnded) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if !slices.Contains([]api.AppState{api.AppFailed, api.AppUnknown}, f.State) {
		return fmt.Errorf("application %s ends as %s without its driver's word", a.ID, f.State)
	}
	return l.end(a, Outcome{State: f.State, Ended: f.At, EndedBy: f.By, Reason: f.Reason})
}

// end takes an application out of the Plans.
func (l *Ledger) end(a *App, how Outcome) error {
	if a.Over() {
		return fmt.Errorf("application %s has ended", a.ID)
	}
	if a.Queued() {
		l.waiting = nil
		l.changed.touch(PartTurns | PartWaiting)
	}
	l.changed.touch(PartApps)
	o := &a.Outcome
	o.State, o.Ended, o.EndedBy, o.Reason, a.Clocks.EndWait = how.State, how.Ended, how.EndedBy, how.Reason, 0
	l.batch.dropTargets(a)
	pend(l, a, nil)
	return nil
}

// Exited: when the driver's process has ended is known, or when it went on to another context, and what there is to
// know of how: whether the driver said that it Failed, or proved that its exit code is 0 (Clean), and the
// Code that pacer submit saw. The record is saved, and Plans do not name it as exiting any more.
type Exited struct {
	App       api.AppID
	At        units.Seconds
	By        api.EndedBy
	Failed    bool
	Reason    string
	Clean     bool
	Code      int
	Suspended units.Seconds
	// Next names the profile of the context that has followed (EndedByNext).
	Next string
}

func (f Exited) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if !a.Over() {
		return fmt.Errorf("application %s has not ended", a.ID)
	}
	o := &a.Outcome
	if f.Failed {
		o.State = api.AppFailed
	}
	o.State = Settled(o.State, f.By, f.Clean, f.Code)
	o.Ended, o.EndedBy, o.Reason = f.At, f.By, f.Reason
	o.Clean, o.ExitCode, o.Suspended, o.Next = f.Clean, f.Code, f.Suspended, f.Next
	return nil
}
