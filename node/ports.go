package node

import (
	"context"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// Process is an executor's process as the runtime knows it.
type Process struct {
	Key      Key
	PID      int
	Exited   bool
	Exit     string
	ExitCode int
	// Refused says that it is another application's executor, which it is not shown as: Exited, with the reason in Exit.
	Refused bool
}

// Runtime starts and stops executors. Start and Stop are called from goroutines of the loop, never two at a time for
// one Key, in the order in which the engine asked. List is called from the loop's own goroutine and must not block.
type Runtime interface {
	// Start launches the executor, whose memory is lent or not, in a group of its own and returns once the
	// process exists. ctx bounds the starting, not the executor's life. An executor that another cluster manager starts
	// (api.Launch.Attach) it seeks from then on: List shows it once it is found.
	Start(ctx context.Context, key Key, launch api.Launch, lent bool) error
	// Stop ends the executor, if it runs, and removes what it leaves but its
	// logs: List does not show it any more. An unknown Key is no error. It lets an executor that it has found go, with
	// what that was found with.
	Stop(ctx context.Context, key Key) error
	// List appends all executors there are, recovered ones and exited ones that
	// were not stopped included.
	List(into []Process) []Process
}

// Components start what runs in the place of executors; called as a Runtime's Start. Runtime stops and lists them.
type Components interface {
	StartComponent(ctx context.Context, key Key, launch api.Launch, c api.Component) error
}

// Usage is what an executor's group shows.
type Usage struct {
	CPU       units.Work
	Throttled time.Duration
	// Quota is what is in force, units.Unlimited for none.
	Quota units.Cores
	// Writer names who was last seen to write it beside this node controller; ""
	// when that is not known.
	Writer string
	Found
}

// Quotas reads and writes executors' groups; called from the loop's goroutine.
type Quotas interface {
	SetQuota(key Key, cores units.Cores) error
	// SetWeight sets an executor's weight, with the zero Key that of all executors.
	SetWeight(key Key, weight Weight) error
	Read(key Key, into *Usage) error
}

// Pages reads progress pages; called from the loop's goroutine.
type Pages interface {
	// Read fills into, reusing its slices. An error means that there is no
	// readable page now, as while the JVM starts.
	Read(key Key, into *meter.Page) error
	// Forget closes the page of an executor that was stopped.
	Forget(key Key)
}

// Memory moves executors' memory; called from the loop's goroutine.
type Memory interface {
	// Want puts a wish on the executor's wish page, after its memory limit was raised to
	// limit, unless that is 0.
	Want(key Key, wanted, limit units.Bytes) error
	// Limit lowers the executor's memory limit to limit, or as far as what it uses allows.
	Limit(key Key, limit units.Bytes) error
	// Shield has the kernel protect that much of the executor's memory where memory is short, or take it first where it
	// is lent.
	Shield(key Key, size units.Bytes, yields bool) error
	// ReadMemory fills into. The resident memory may be so old.
	ReadMemory(key Key, every time.Duration, into *ExecutorMemory) error
}

// Publisher sends statuses to the planner. It must encode the status before it
// returns, and should not wait for the network. It is called by one goroutine at a
// time, mostly not the loop's own.
type Publisher interface {
	PublishStatus(status *api.NodeStatus) error
}

// Store keeps the newest State. It must encode the State before it returns. It is
// called by one goroutine at a time, mostly not the loop's own.
type Store interface {
	SaveState(state *State) error
}

// CallKind says what an engine was asked.
type CallKind string

// The calls of an Engine that change it.
const (
	CallStep     CallKind = "step"
	CallObserve  CallKind = "observe"
	CallApply    CallKind = "apply"
	CallStatus   CallKind = "status"
	CallShutdown CallKind = "shutdown"
	// CallConfigure is one that has changed something.
	CallConfigure CallKind = "configure"
)

// Call is one call of the engine: what it was told and what it answered. The same
// calls in the same order give the same answers (package replay). The values that it points to are valid until the
// engine's next call.
type Call struct {
	Kind CallKind
	Now  units.Instant
	// Sample goes with a step and an observe, Plan with an apply, Config with a configure,
	// Ending with a shutdown.
	Sample *Sample
	Plan   *api.Plan
	Config *Config
	Ending Ending
	// Actions are the answer, Events what has happened in the call.
	Actions []Action
	Events  []Event
}

// Ports are all that a Loop needs of the world; none may be nil but Components, Memory, Host,
// Deaf, Events and Calls.
type Ports struct {
	Runtime Runtime
	// Components is nil where a node starts none.
	Components Components
	Quotas     Quotas
	Pages      Pages
	// Memory is nil where nothing moves.
	Memory Memory
	Status Publisher
	Store  Store
	// Host returns the CPU time that the machine has used since its boot. nil:
	// nothing else uses the machine.
	Host func() (units.Work, error)
	// Deaf reports whether nothing of what a planner sends can come through. nil: it can.
	Deaf func() bool
	// Clock is the clock of the pages' timestamps: CLOCK_MONOTONIC.
	Clock func() units.Instant
	// Events receives each event, on the loop's goroutine.
	Events func(Event)
	// Calls receives each call of the engine, in their order and before its actions
	// are carried out, on the loop's goroutine: it must not block.
	Calls func(Call)
}
