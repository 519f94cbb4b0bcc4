package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// What follows changes nothing of the ledger: it is recorded for those who read the changes.

// DecisionRefused: what a decider decided cannot be true, and was left out.
type DecisionRefused struct{ Err error }

// MessageRefused: a message was not understood, of a node without a reply or of a driver.
type MessageRefused struct {
	From string
	Err  error
}

// NodeClash: two node controllers use one name; Incarnation is that of the second.
type NodeClash struct{ Node, Incarnation string }

// MachineDisputed: a node that attaches says that its machine is the one of Nodes, itself among them: none of them gets
// an executor there.
type MachineDisputed struct{ Node, Nodes string }

// NodeForeign: a node runs executors for another planner and obeys that one.
type NodeForeign struct{ Node, Planner string }

// NodesForgotten: what was learnt of executors that share nodes cannot be read, and is learnt anew.
type NodesForgotten struct{ Why string }

// RunNotRecorded: a run could not become a profile.
type RunNotRecorded struct {
	App api.AppID
	Err error
}

// ExecutorRefused: an application has named an executor on a node that is another application's, and does not get it.
// User is who has registered it.
type ExecutorRefused struct {
	App             api.AppID
	ID              api.ExecutorID
	Node, User, Why string
}

// PublishFailed: a Plan or a Directive could not be sent; it will be again.
type PublishFailed struct {
	To  string
	Err error
}

// StoreFailed: the state cannot be stored. Said once until it can again.
type StoreFailed struct{ Err error }

// StoreWorks: the state can be stored again, and is.
type StoreWorks struct{}

// RecordLost: a record could not be read at the start, could not be encoded, or will never be
// taken by the store. All others are there.
type RecordLost struct{ Err error }

func (DecisionRefused) apply(*Ledger) error { return nil }
func (MessageRefused) apply(*Ledger) error  { return nil }
func (NodeClash) apply(*Ledger) error       { return nil }
func (MachineDisputed) apply(*Ledger) error { return nil }
func (NodeForeign) apply(*Ledger) error     { return nil }
func (NodesForgotten) apply(*Ledger) error  { return nil }
func (RunNotRecorded) apply(*Ledger) error  { return nil }
func (ExecutorRefused) apply(*Ledger) error { return nil }
func (PublishFailed) apply(*Ledger) error   { return nil }
func (StoreFailed) apply(*Ledger) error     { return nil }
func (StoreWorks) apply(*Ledger) error      { return nil }
func (RecordLost) apply(*Ledger) error      { return nil }

// TurnedDown: an application that registers, or that waits, is refused. App is that of one that
// waits, which ends by it; of one that registers nothing is kept but what Refused keeps.
type TurnedDown struct {
	App  api.AppID
	Name string
	Err  error
	// At is when on the deadline clock of one that waits, Judgement what is thought of it.
	At units.Seconds
	Judgement
}

func (f TurnedDown) apply(l *Ledger) error {
	if f.App == "" {
		return nil
	}
	a, err := queued(l, f.App)
	if err != nil {
		return err
	}
	if f.Err == nil {
		return fmt.Errorf("application %s is refused for nothing", a.ID)
	}
	if err := f.Judgement.check(); err != nil {
		return err
	}
	a.Promise.Judgement = f.Judgement
	return l.end(a, Outcome{State: api.AppRefused, Ended: f.At, EndedBy: api.EndedByKill, Reason: f.Err.Error()})
}
