package ledger

import (
	"slices"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Executor is one executor of an application.
type Executor struct {
	ID    api.ExecutorID    `json:"id"`
	Node  string            `json:"node"`
	State api.ExecutorState `json:"state"`
	// Registered says that the driver has it or, of one that is Gone, had it.
	Registered bool `json:"registered,omitempty"`
	Gone       bool `json:"gone,omitempty"`
	// Named says of one that is Gone because nothing is known of it that the driver has it: it
	// runs on a node that is not here.
	Named bool `json:"named,omitempty"`
	// Unstarted says of one that is Gone that neither its driver nor its node had told that it
	// runs, and that its node was lost.
	Unstarted bool   `json:"unstarted,omitempty"`
	Exit      string `json:"exit,omitempty"`
	// Leaving says that it was asked to go, because its node drains or another application waits for its memory.
	Leaving bool `json:"leaving,omitempty"`
	// Loan is how its memory is lent, "" of one that is promised it.
	Loan Loan `json:"loan,omitempty"`
	// Since is when it was asked for, on the deadline clock. CPU is what it has
	// used, Base the part of that from before the first task (once Based).
	Since units.Seconds `json:"since_s"`
	CPU   units.Work    `json:"core_seconds,omitempty"`
	Base  units.Work    `json:"base_core_seconds,omitempty"`
	Based bool          `json:"based,omitempty"`
	// Attached is set of one that another cluster manager has started.
	Attached *Attached `json:"attached,omitempty"`
	// Memory is what its node said last of it.
	Memory api.ExecutorMemory `json:"memory,omitzero"`
	// Idle is for how long it has had nothing to do since it was asked to go; Moved is
	// View.Uptime when it was asked for, or its node last saw it work or show a live page, Worked when its node
	// last told of a stage whose tasks it runs or has just run. Starts says that by its node's
	// last word it is being started. None is saved.
	Idle   time.Duration `json:"-"`
	Moved  time.Duration `json:"-"`
	Worked time.Duration `json:"-"`
	Starts bool          `json:"-"`

	// planEpoch is that of its node's Plan when targets were last changed there for
	// its application: the node's own record is not saved for that.
	planEpoch uint64
	points    []usagePoint // Oldest first.
}

// Loan is how an executor's memory is lent.
type Loan string

// The loans: its memory is lent, and was taken back. Such a one is Leaving.
const (
	LoanGiven Loan = "lent"
	LoanTaken Loan = "taken"
)

// loanOf is the loan of an executor that comes, whose memory is lent or not.
func loanOf(lent bool) Loan {
	if lent {
		return LoanGiven
	}
	return ""
}

// Lent reports whether x's memory is lent, Taken whether it is taken back.
func (x *Executor) Lent() bool { return x.Loan != "" }

// Taken is described with Lent.
func (x *Executor) Taken() bool { return x.Loan == LoanTaken }

// Shown is x's state as far as it is known: an executor that the driver lost
// counts as exited, whatever its node said last.
func (x *Executor) Shown() api.ExecutorState {
	switch {
	case x.Gone:
		return api.ExecutorExited
	case x.State == api.ExecutorStarting && x.Registered && (x.Attached == nil || x.Node == ""):
		return api.ExecutorRunning // In mode off it has no page to show.
	}
	return x.State
}

// Free reports whether nobody can hold x back, an attached executor: no node is where it runs, or the node cannot write
// its quota.
func (x *Executor) Free() bool {
	return x.Attached != nil && (x.Node == "" || x.Attached.Unpaced != "")
}

// attach takes in what its node says of x, an attached executor, and reports whether it is news.
func (x *Executor) attach(s *api.ExecutorStatus) (news bool) {
	now := *x.Attached
	now.Ceiling, now.Unguarded, now.Unpaced = s.Ceiling, s.Unguarded, s.Unpaced
	if now == *x.Attached {
		return false
	}
	x.Attached = &now
	return true
}

// unknownExecutor is the exit of an executor that is Unknown.
const unknownExecutor = "it was another planner's"

// Unknown reports whether nothing is known of x but that there may have been one of its id.
func (x *Executor) Unknown() bool { return x.Gone && x.Node == "" && x.Exit == unknownExecutor }

// MayRun reports whether x is not known to have ended: its driver has not lost it, or its node
// has not said that it exited.
func (x *Executor) MayRun() bool {
	return !x.Gone || x.State != api.ExecutorExited && !x.Unknown()
}

// Elsewhere reports whether a has an executor of which its driver alone has told.
func (a *App) Elsewhere() bool {
	return slices.ContainsFunc(a.Tenant.Executors, func(x *Executor) bool { return x.Named })
}

// Number is an executor's, from 1: ids are decimal; 0 for what is none.
func Number(id api.ExecutorID) int {
	n, err := strconv.Atoi(string(id))
	if err != nil || n < 1 || id[0] < '1' {
		return 0 // Of a number there is one id: "01" and "+1" are none.
	}
	return n
}

// usagePoint is what an executor had used at a moment of the deadline clock.
type usagePoint struct {
	at  units.Seconds
	cpu units.Work
}

// maxPoints bounds the points kept of an executor: a minute of statuses, more
// than lies between the last task's end and the final figures.
const maxPoints = 64

// use notes that x had used cpu at the given time.
func (x *Executor) use(at units.Seconds, cpu units.Work) {
	x.CPU = cpu
	if len(x.points) == maxPoints {
		x.points = append(make([]usagePoint, 0, maxPoints), x.points[maxPoints/2:]...) // Snapshots have the old ones.
	}
	x.points = append(x.points, usagePoint{at, cpu})
}

// UsedAt returns what x had used at the given time, between two statuses by
// linear interpolation, since a status a second old would be wrong by a second
// of all its cores.
func (x *Executor) UsedAt(at units.Seconds) units.Work {
	before := usagePoint{at: x.Since, cpu: 0}
	if at <= before.at {
		return 0
	}
	for _, p := range x.points {
		if p.at >= at {
			share := float64((at - before.at) / (p.at - before.at))
			return before.cpu + units.Work(share)*(p.cpu-before.cpu)
		}
		before = p
	}
	return x.CPU
}

// CoreSeconds is what a's executors have used from the first task's launch to
// the last task's end (or until now). Where no node has said anything it is what
// the stages' tasks reported.
func (a *App) CoreSeconds() units.Work {
	var sum units.Work
	for _, x := range a.Tenant.Executors {
		if !x.Based {
			continue
		}
		used := x.CPU
		if end := lastTask(a); !a.Running() && end > 0 {
			used = x.UsedAt(end)
		}
		sum += max(0, used-x.Base)
	}
	if sum > 0 && !slices.ContainsFunc(a.Tenant.Executors, (*Executor).Free) {
		return sum
	}
	var stages units.Work
	for _, s := range a.Order {
		stages += s.CPU()
	}
	return max(sum, stages) // No node tells of those that are free.
}

// lastTask is when the last task of a ended, on its deadline clock; 0 while none has. One that
// ended while stages ran had tasks to its end.
func lastTask(a *App) units.Seconds {
	switch o := &a.Outcome; {
	case !a.Over() || len(a.opened) == 0:
		return a.Marks.LastTask
	case o.DriverEnd:
		return max(a.Marks.LastTask, o.Stopped)
	default:
		return max(a.Marks.LastTask, o.Ended)
	}
}

// MeanCores is work over the time from the first task's launch to the last one's end.
func (a *App) MeanCores(work units.Work, now units.Instant) units.Cores {
	end := lastTask(a)
	if a.Running() {
		end = a.At(now)
	}
	if !a.Promise.Launched || end <= a.Promise.First {
		return 0
	}
	return units.Cores(float64(work) / float64(end-a.Promise.First))
}
