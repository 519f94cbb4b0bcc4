package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// Conflict says what becomes of a quota that somebody else has written.
type Conflict string

const (
	// Insist writes ours again: at once the first time, then ever more rarely
	// while the other writer keeps on.
	Insist Conflict = "insist"
	// Yield leaves the other's value in force until the stage ends, is released
	// or gets a new target.
	Yield Conflict = "yield"
)

// Config says how a node engine works. The zero value is not valid: start from
// Default and set Node, Total and Offered.
//
// [1] is Baresi et al., "Fine-grained Dynamic Resource Allocation for Big-Data
// Applications" (xSpark).
type Config struct {
	// Node is the name under which the planner knows this node. Host is the
	// name or address of its executors. Incarnation is new with each start of
	// the node controller.
	Node        string
	Host        string
	Incarnation string
	// Hosts are names of the machine of a node that attaches: it finds executors of other cluster
	// managers, which know it by Boot, and starts none. A node that starts executors has none.
	Hosts []string `json:",omitempty"`
	// Release is this build's version.
	Release string
	// Boot identifies the machine's boot. Instants of another boot mean
	// nothing: state saved under another Boot gives up its anchors. Empty
	// compares equal to empty.
	Boot string
	// Total is what the node may use of the machine, Offered (<= Total) what Pacer may give
	// to applications; in cores. Machine is what the machine has, of which it is told what
	// is used (Ports.Host); 0 for Total.
	Total   units.Cores
	Offered units.Cores
	Machine units.Cores
	// Memory is what the node gives to executors.
	Memory units.Bytes

	// Interval is q of [1]: the time between two ticks. 0.5 s as in [1].
	Interval time.Duration
	// Meter says what counts as progress.
	Meter meter.Settings
	// Quantum is cq of [1]: smaller changes of a quota are not written. In
	// cores; 0.05 as in [1].
	Quantum units.Cores
	// Floor is the least that an executor with running tasks is given, so that
	// its JVM goes on sending heartbeats. In cores; 0.10.
	Floor units.Cores
	// Stale is how old a progress page may be before its executor is released
	// to all cores. 2 s: the oldest page seen of a healthy JVM at 0.05 core was
	// 0.8 s (docs/decisions/016).
	Stale time.Duration
	// Grace is for how long executors of applications run on that the Plan in force knows nothing of, without a task and
	// while planners can be heard. 15 min is longer than a planner takes to come back, and a driver to find it.
	Grace time.Duration
	// Conflict is Insist by default: a quota is the plan's, and whoever changes
	// one mostly does not know that.
	Conflict Conflict

	// Smoothing is the time constant of the estimate of what others use; 2 s,
	// four ticks, lets a burst of one tick pass with a fifth of its height.
	Smoothing time.Duration
	// LeastCapacity is the share of Offered that others cannot take away,
	// whatever is measured; 0.85. The parent group's weight entitles Pacer to four fifths of a contended machine (package
	// cgroup), and what others use while our quotas leave cores idle says nothing about what we could get. With 0.5 a busy
	// neighbour holds two branches at half of what they need.
	LeastCapacity units.Fraction

	// StatusEvery is the least time between two NodeStatuses unless an executor
	// changed state; 1 s. Linger is how long a stage is reported after its last
	// change; 10 s. SaveEvery is the most that a crash loses of the
	// controllers' states; 5 s.
	StatusEvery time.Duration
	Linger      time.Duration
	SaveEvery   time.Duration

	// Controller and Supervisor choose the law and the strategy. The Interval of
	// the one and the Floor of the other are set from those above.
	Controller controller.Config
	Supervisor supervisor.Config
	// Sharing are the rules of life beside others, nil for sharing.Default's.
	Sharing *sharing.Params `json:",omitempty"`
}

// Default returns what daemons use: [1] with the corrections of docs/decisions; Node, Total and
// Offered are left to the caller.
func Default() Config {
	return Config{
		Interval:      500 * time.Millisecond,
		Meter:         meter.Default(),
		Quantum:       0.05,
		Floor:         dag.LeastCores,
		Stale:         2 * time.Second,
		Grace:         15 * time.Minute,
		Conflict:      Insist,
		Smoothing:     2 * time.Second,
		LeastCapacity: 0.85,
		StatusEvery:   time.Second,
		Linger:        10 * time.Second,
		SaveEvery:     5 * time.Second,
		Controller:    controller.Default(),
		Supervisor:    supervisor.Default(),
	}
}

// attaches reports whether the node finds executors of other managers.
func (c *Config) attaches() bool { return len(c.Hosts) > 0 }

// machine is what a node that attaches tells as the id of its machine's boot.
func (c *Config) machine() string {
	if !c.attaches() {
		return ""
	}
	return c.Boot
}

// joined returns c with what its parts share made equal.
func (c Config) joined() Config {
	c.Controller.Interval = c.Interval
	c.Supervisor.Floor = c.Floor
	c.Sharing = sharing.Of(c.Sharing)
	c.Supervisor.Sharing = c.Sharing
	return c
}

// Validate reports every fault of c at once.
func (c Config) Validate() error {
	c = c.joined()
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(api.ValidNodeName(c.Node), "node: %q is not a name of letters, digits, - and _", c.Node)
	check(c.Incarnation != "", "incarnation is empty")
	check(c.Total > 0 && !c.Total.IsUnlimited(), "total: %v cores, want a finite number > 0", float64(c.Total))
	check(c.Offered > 0 && c.Offered <= c.Total, "offered: %v cores, want more than 0 and at most the total of %v",
		float64(c.Offered), float64(c.Total))
	check(c.Machine >= 0 && !c.Machine.IsUnlimited(), "machine: %v cores, want a finite number, 0 for the total",
		float64(c.Machine))
	check(c.Memory >= 0, "memory is negative")
	check(c.Interval > 0, "interval: %v, want more than 0", c.Interval)
	check(c.Quantum > 0 && c.Quantum <= c.Offered, "quantum: %v cores, want more than 0 and at most what is offered",
		float64(c.Quantum))
	check(c.Floor >= 0 && c.Floor <= c.Offered, "floor: %v cores, want 0 to what is offered", float64(c.Floor))
	check(c.Stale > c.Interval, "stale: %v, want more than the interval of %v", c.Stale, c.Interval)
	check(c.Grace > 0, "grace: %v, want more than 0", c.Grace)
	check(c.Conflict == Insist || c.Conflict == Yield, "conflict: %q, want %q or %q", c.Conflict, Insist, Yield)
	check(c.Smoothing >= 0, "smoothing is negative")
	check(c.LeastCapacity > 0 && c.LeastCapacity <= 1, "least capacity: %v, want more than 0 and at most 1",
		float64(c.LeastCapacity))
	check(c.StatusEvery > 0 && c.Linger > 0 && c.SaveEvery > 0, "a reporting or saving period is not positive")
	faults = append(faults, c.Meter.Validate(), c.Controller.Validate(), c.Supervisor.Validate())
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("node configuration: %w", err)
	}
	return nil
}
