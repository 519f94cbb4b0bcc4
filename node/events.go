package node

import (
	"fmt"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// EventKind says what an Event tells.
type EventKind int

// The kinds of events, in the order in which a node meets them.
const (
	// EventPlanApplied: a newer Plan is in force.
	EventPlanApplied EventKind = iota
	// EventPlanIgnored: a Plan older than the one in force, or of an older term, came.
	EventPlanIgnored
	// EventPlanRefused: a Plan for another node or of another version came. Said once for as long as it lasts.
	EventPlanRefused
	// EventPartRefused: a Plan is followed but for an application, whose part in it has a fault; it goes on as it was.
	// Said once for as long as it lasts.
	EventPartRefused
	// EventPlanForeign: another planner's Plan came while executors run here; it
	// is not obeyed. Said once for as long as that planner goes on.
	EventPlanForeign
	// EventOrphaned: the Plan in force knows nothing of an application with executors here;
	// these go on without targets.
	EventOrphaned
	// EventOrphanStopped: nobody has named such an application in the grace period; its
	// executors are stopped.
	EventOrphanStopped
	// EventTargetRefused: a target with impossible numbers or without its
	// executor; the stage runs with all cores.
	EventTargetRefused
	// EventSecretsAwaited: an executor is started once the planner has its secrets.
	EventSecretsAwaited
	// EventExecutorRunning: the first progress page of an executor.
	EventExecutorRunning
	// EventExecutorRecovered: an executor of an earlier incarnation runs on.
	EventExecutorRecovered
	// EventExecutorFound: an executor of another cluster manager was found.
	EventExecutorFound
	// EventExecutorExited: an executor ended, whether asked to or not.
	EventExecutorExited
	// EventBound: a stage executor is controlled from now on.
	EventBound
	// EventUnbound: it is not any more (the Plan dropped it or it exited).
	EventUnbound
	// EventPageStale: an executor's page is too old; it has all cores.
	EventPageStale
	// EventPageFresh: its page is back and it is controlled again.
	EventPageFresh
	// EventResynchronised: progress was allowed to fall; Detail says why: a task failed,
	// or its tasks turned out to work in child processes.
	EventResynchronised
	// EventQuotaTaken: a restart found a quota and took it over.
	EventQuotaTaken
	// EventQuotaConflict: somebody else has written a quota; said once a conflict.
	EventQuotaConflict
	// EventSampleRefused: a page or a reading with impossible numbers or from
	// another time; what was last good stands. Said once for as long as it lasts.
	EventSampleRefused
	// EventControlError: a controller refused its input and kept its output.
	EventControlError
	// EventActionFailed: the shell could not carry out an action.
	EventActionFailed
	// EventShortage: an application with a deadline that can be kept has less than it asks
	// for; Detail says who has it. Said once until it is over.
	EventShortage
	// EventShortageOver: it has had what it asks for in the last ticks.
	EventShortageOver
	// EventGivenUp: an application that is short yields to others, since not all can be in
	// time; Detail says why it does. Said once for a shortage, or when it is given up again.
	EventGivenUp
	// EventDivision: cores are divided otherwise from now on; Detail says how.
	EventDivision
	// EventDivisionRefused: the Plan wants them divided in a way that is not known here.
	EventDivisionRefused
	// EventMemoryShort: executors need more memory at their least than the node has.
	EventMemoryShort
	// EventMemoryOwed: an executor has had more memory than is wanted for a while; it counts
	// as used.
	EventMemoryOwed
	// EventMemoryTaken: executors use nearly all memory, and what one is lent is taken back.
	EventMemoryTaken
	// EventTicksSkipped: the tick came late and slots were skipped.
	EventTicksSkipped
)

var eventNames = [...]string{
	"plan applied", "plan ignored", "plan refused", "application refused", "plan of another planner",
	"application not known",
	"unknown application stopped", "target refused", "secrets awaited", "executor running", "executor recovered",
	"executor found",
	"executor exited", "stage bound", "stage unbound", "page stale", "page fresh", "resynchronised", "quota taken over",
	"quota conflict",
	"sample refused", "control error", "action failed", "short of cores", "shortage over", "given up", "division changed",
	"division refused", "short of memory", "memory owed", "memory taken back",
	"ticks skipped",
}

// String returns the kind's name in lower case.
func (k EventKind) String() string {
	if k < 0 || int(k) >= len(eventNames) {
		return "unknown event"
	}
	return eventNames[k]
}

// Trouble reports whether an operator should see events of the kind without
// asking for detail.
func (k EventKind) Trouble() bool {
	switch k {
	case EventPlanRefused, EventPartRefused, EventPlanForeign,
		EventOrphaned, EventOrphanStopped, EventTargetRefused, EventSecretsAwaited,
		EventPageStale, EventQuotaConflict, EventSampleRefused, EventControlError, EventActionFailed, EventDivisionRefused,
		EventMemoryShort, EventMemoryOwed, EventMemoryTaken, EventTicksSkipped:
		return true
	}
	return false
}

// Event is something that happened, for logs and counters. Fields that do not
// belong to its kind are zero.
type Event struct {
	Kind EventKind
	// Key is the executor, Stage its stage (when HasStage).
	Key      Key
	Stage    api.StageKey
	HasStage bool
	// Epoch goes with the kinds about Plans, Count with EventTicksSkipped.
	Epoch uint64
	Count int
	// Detail says the rest.
	Detail string
}

// String prints e on one line, as in
// `page stale app-1/2 stage 3.0: 2.4s old`.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if e.Key != (Key{}) {
		b.WriteString(" " + e.Key.String())
	}
	if e.HasStage {
		fmt.Fprintf(&b, " stage %d.%d", e.Stage.Stage, e.Stage.Attempt)
	}
	if e.Epoch > 0 {
		fmt.Fprintf(&b, " epoch %d", e.Epoch)
	}
	if e.Count > 0 {
		fmt.Fprintf(&b, " %d", e.Count)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// Counters count, since the engine was made, what should be rare.
type Counters struct {
	// TicksSkipped are slots that were missed, PagesStale releases because of a stale page. QuotaWrites and QuotaFailures
	// are quota actions and those that failed, Failures all failed actions, Refused Plans and targets refused.
	// ControlErrors are inputs that a controller refused, SamplesRefused pages and readings that were impossible,
	// Conflicts quotas that were found changed by somebody else.
	TicksSkipped   uint64
	PagesStale     uint64
	QuotaWrites    uint64
	QuotaFailures  uint64
	Failures       uint64
	Refused        uint64
	ControlErrors  uint64
	SamplesRefused uint64
	Conflicts      uint64
}
