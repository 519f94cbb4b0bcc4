package probe

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Node is who gets a message: workers count from 0 upwards, schedulers from -1 downwards.
type Node int32

// Shell is who runs the engines: it gets Run, Completed and Refused.
const Shell Node = math.MinInt32

// Probe stands for a task.
type Probe struct {
	Job, Task int32
	Scheduler Node
	Hops      int32         // How often it has been handed on.
	Arrival   units.Instant // Lambda.
	Estimate  time.Duration // Theta.
	Wait      time.Duration // Mu.
}

func (p *Probe) due() units.Instant { return p.Arrival.Add(p.Wait) }

// Shared is the shared state: a worker's mean number of probes (phi) and mean estimated work (omega), of one moment.
type Shared struct {
	Probes float64
	Load   time.Duration
	At     units.Instant
}

// Message is what an engine is told, and tells. An answer has the number of what it answers.
type Message struct {
	From Node
	Seq  uint32
	Body any // Its type is one of those below.
}

// Action has a message sent.
type Action struct {
	To      Node
	Message Message
}

// Attempt is a task that runs on a worker, by its number among those of the task; 0 is none.
type Attempt struct{ Job, Task, No int32 }

// Workers are told these.
type (
	// Enqueue brings probes of one job from its scheduler.
	Enqueue struct {
		Probes []Probe
		State  Shared
	}
	// Rotate brings what the worker before has marked.
	Rotate Enqueue
	// Task answers a GetTask. Number 0 is a Noop: the task needs nobody any more.
	Task struct {
		Attempt
		State Shared
	}
	// Ended tells that what Run has started is over.
	Ended Attempt
	// Ask asks whether an attempt still runs.
	Ask Attempt
	// Successors answers an AskRing: none where the worker is alone.
	Successors []Node
)

// Schedulers are told these.
type (
	// Submit is a new job of so many tasks, whose estimates are in Each where they differ.
	Submit struct {
		Job      int32
		Tasks    int
		Estimate time.Duration
		Each     []time.Duration
	}
	// GetTask asks for the task of a probe.
	GetTask struct{ Job, Task int32 }
	// Finished tells that an attempt has ended.
	Finished Attempt
	// Delta is how a peer's counts have changed.
	Delta Count
	// Total is all that a peer counts, in place of what its Deltas have come to.
	Total Count
	// Dead tells that a worker answers its predecessor no more.
	Dead Node
	// AskRing asks who comes after the worker that sends it.
	AskRing struct{}
)

// Both are told these.
type (
	// Ack acknowledges a Rotate, with those after the receiver; a Finished; and an Ask, with whether it still runs.
	Ack struct {
		Next []Node
		Runs bool
	}
	// Tick tells the time, when Due has asked for it.
	Tick struct{}
	// Undelivered brings back what was sent to a node that is not there. The shell says so, where it learns it.
	Undelivered Action
)

// The shell is told these.
type (
	// Run has an attempt run, and asks for its Ended.
	Run Attempt
	// Completed tells that all tasks of a job have been counted.
	Completed int32
	// Refused tells why a job is none.
	Refused struct {
		Job    int32
		Reason string
	}
)
