package planner

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/versions"
	"github.com/sparkpacer/pacer/ledger"
)

// Ticket ties a Reply to the request it answers. The engine's caller chooses
// it; 0 asks for no reply.
type Ticket uint64

// Event is what reaches the engine: one of Register, DriverEvents, Hello,
// Status, Silence, Standing, Control, Packed, PlanQuery, Look, Driver, Configure, Settle and Tick.
type Event interface{ isEvent() }

// Register is a driver's registration; answered with an api.RegisterReply.
type Register struct {
	To      Ticket
	By      api.Principal
	Request api.RegisterRequest
}

// DriverEvents is a batch of a driver's events, empty for a heartbeat; answered
// with an api.EventsReply.
type DriverEvents struct {
	To    Ticket
	Batch api.Events
}

// Hello is the first status of a node that has connected; answered with an
// api.HelloReply.
type Hello struct {
	To     Ticket
	Status api.NodeStatus
}

// Status is a later status of a node; not answered. The engine keeps nothing of it
// after the step but text.
type Status struct {
	Status *api.NodeStatus
}

// Silence is what a planner has heard of nodes while it stood by, before all else: nodes that are
// silent at its start may have been lost with the planner before. Listened is for how long they
// could have been heard, Last for how long each has not been that was. Not answered.
type Silence struct {
	Listened time.Duration
	Last     map[string]time.Duration
}

// Standing says that the credentials of a user or a node were revoked, or that it has some again.
// Not answered.
type Standing struct {
	Principal api.Principal
	Revoked   bool
}

// Control is a request of the command line; answered with an api.ControlReply. Packed is the profile that it puts,
// packed (profiles.Pack), nil where nobody has.
type Control struct {
	To      Ticket
	By      api.Principal
	Verb    api.Verb
	Request api.ControlRequest
	Packed  []byte
}

// Packed says that a version of a stored profile is packed. Not answered.
type Packed struct{ Fact versions.Packed }

// PlanQuery asks what a deadline would mean; answered with an api.PlanReply.
type PlanQuery struct {
	To      Ticket
	By      api.Principal
	Request api.PlanRequest
}

// Look asks what has changed since a version, 0 for all there is; answered with an api.Changes.
type Look struct {
	To    Ticket
	Since uint64
}

// Driver asks for the driver of an application that Node is to run; answered with a DriverAnswer.
type Driver struct {
	To   Ticket
	Node string
	App  api.AppID
}

// DriverAnswer is such a driver: whose it is and what it is started with, or an error.
type DriverAnswer struct {
	Err       error
	User      string
	Component *api.Component
}

// Configure has the engine go by Config from now on, of which what is stored stays as it was;
// answered with an api.ControlReply. An event that is not valid changes nothing.
type Configure struct {
	To     Ticket
	Config Config
}

// Tick lets time pass: send one every TickInterval. Deaf says that the planner could not be
// reached since the one before: nobody has been silent then. Busy says that the queue of applications is to be
// asked by a later one.
type Tick struct{ Deaf, Busy bool }

// Settle has it decided what steps before have left to be decided once for all of them (Engine.Hold).
type Settle struct{}

// TickInterval is the time between two Ticks.
const TickInterval = 250 * time.Millisecond

func (Register) isEvent()     {}
func (DriverEvents) isEvent() {}
func (Hello) isEvent()        {}
func (Status) isEvent()       {}
func (Silence) isEvent()      {}
func (Standing) isEvent()     {}
func (Control) isEvent()      {}
func (Packed) isEvent()       {}
func (PlanQuery) isEvent()    {}
func (Look) isEvent()         {}
func (Driver) isEvent()       {}
func (Configure) isEvent()    {}
func (Settle) isEvent()       {}
func (Tick) isEvent()         {}

// Action is one effect that the engine's caller has to carry out: Save,
// PublishPlan, PublishDirective, Reply or Answer. A step returns at most one Save,
// and first; it must be on disk before the others take effect (Turn).
type Action interface{ isAction() }

// Save stores Changes, all or none; a nil Value removes its Key.
type Save struct{ Changes []api.Pair }

// PublishPlan sends a node its Plan.
type PublishPlan struct{ Plan api.Plan }

// PublishDirective sends a driver its Directive.
type PublishDirective struct {
	App       api.AppID
	Directive api.Directive
}

// Reply answers the request with ticket To. Body is the value of the api's reply
// type that the request's event names.
type Reply struct {
	To   Ticket
	Body any
	// Reads says that it promises nothing: it shows what there is.
	Reads bool
}

// Answer answers a question, which changes nothing and promises nothing: Work makes the value of
// the api's reply type. It takes its time, so it is called apart from the engine, by whom and when
// the caller likes, once at most, with a snapshot of Engine.View from after the step. kept has what
// the caller's earlier answers have left to it, or is nil; it is nobody else's meanwhile.
type Answer struct {
	To   Ticket
	Work func(view ledger.View, kept *report.Kept) any
}

// Dropped is of a Turn alone: the store will never take a record, which is lost.
type Dropped struct{ Err error }

func (Save) isAction()             {}
func (PublishPlan) isAction()      {}
func (PublishDirective) isAction() {}
func (Reply) isAction()            {}
func (Answer) isAction()           {}
func (Dropped) isAction()          {}
