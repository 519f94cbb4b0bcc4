package sharing

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Params are the numbers of the rules. A share is a part of 1.
type Params struct {
	Aims    Aims
	Later   Later
	Doubts  Doubts
	Again   Again
	Room    Room
	Weights Weights
	Nice    Nice
}

// Aims are where stages that others follow are aimed at beside other applications. The cores that an application can
// have of a machine there differ from second to second, and time that is lost early can be made up for only while
// stages are to come.
type Aims struct {
	// Unheld is the share of the deadline beside executors without a quota; 0.94. First is that
	// beside others on nodes that serve in order, and for the one that is due first on the others;
	// 0.88. 1 is no aim of their own.
	Unheld float64
	First  float64
	// Slower is by which part of its recorded time a driver may be taken to need longer between
	// stages, at most; 0.5. Seen is how much of that time, by the profile, has to have passed
	// before that is said, in seconds; 1.
	Slower float64
	Seen   units.Seconds
}

// Later is what is promised, and what of it can be done later.
type Later struct {
	// Nodes is the part of its nodes' cores, and Speed that of its own speed at all cores, that counts
	// for work which is put off until after another deadline; 0.85 each. No prediction has the cores of drivers and of
	// JVMs that start, and work that is put off cannot be put off again. With 0 nodes nothing is put off.
	Nodes, Speed float64
	// Yield is the part of the nodes that may have been promised where an application that is due
	// later asks for less, on nodes that do not serve in order; 0.95. Of more than that some will
	// be late, and the one that yields would be one of them. With 0 none yields.
	Yield float64
	// LeftAlone is the part of a node that an application has that is left alone (api.Mode) where
	// there are others; 0.5: no quota holds it back, and the kernel divides alike.
	LeftAlone float64
}

// Doubts are how far a prediction is trusted where applications that need a node cannot all be
// in time.
type Doubts struct {
	// Late is by how many seconds of the whole node a prediction may say that a deadline will be
	// missed before an application is given up for it; 0.3. It is no better than that, stages are
	// aimed earlier by as much, and one that is given up in its last second is late by far more.
	Late float64
	// Reserve is by which part those need more than is predicted before whom an application keeps its place that cannot be
	// in time, and of whose deadlines it is asked whether all can be kept. It is 0.1: the cores of drivers and of JVMs
	// that start are not in the prediction.
	Reserve float64
	// Overdue is the part of its deadline for which an application that is late keeps its place
	// among those that can be in time, on nodes that serve in order; 0.1. An application that is nearly done is late by
	// less then, and the others have what it takes back at its end.
	Overdue float64
}

// Again is which share of the time left has to be spare at all cores before an application is paced
// that was judged infeasible.
type Again struct {
	// Alone is 0.03: what showed it to be faster than its profile may have been noise. Turning, 0.05,
	// is for one whose stages will take turns, which costs what tails and gaps leave unused
	// (dag.Graph.Choose). Beside, 0.1, is for one beside others whose deadlines can be kept: should
	// it need more than it seems to, it takes that from them, where it is due first.
	Alone, Turning, Beside float64
}

// Room is what a node keeps back, and for whom.
type Room struct {
	// Wait is for how long a stage's driver has a core that makes the stage, and Exit for how long one that exits. Both
	// are 3 s: exits of 0.7 to 2.8 s are seen, and a driver that takes longer between stages may wait itself.
	Wait time.Duration
	Exit time.Duration
	// Driver is what such a driver can use, in cores; 1: one thread makes the next stage.
	Driver units.Cores
	// Drivers and LeftAlone are the most that is kept for drivers that exit and taken off for executors that are left
	// alone, as shares of what is offered. Both are 0.5: with less left a quota would keep what those have taken from ever
	// coming back.
	Drivers   units.Cores
	LeftAlone units.Cores
	// Pressed is the share of the capacity from which on an application that needs it has no time
	// to lose; 0.9. While it is short its own driver comes before those that share, which have
	// their part as a quota: all executors together have one weight against a driver.
	Pressed units.Cores
	// Relief is how much more than the least that it keeps others have to leave a node until they
	// count as few again, as a share of what is offered; 0.05.
	Relief units.Cores
	// Unbound says that the stage which asks for more than there is, and is granted most, has no
	// quota. The cores that others use are a mean of the last seconds, and a quota would hold the stage to that.
	Unbound bool
}

// Weights are how the kernel divides what quotas leave open, as multiples of its default.
type Weights struct {
	// Low is for an executor without a stage: it serves shuffle and cached blocks from what the
	// others leave; 0.1. Rest is how long it keeps its weight at work: the next stage usually comes
	// at once; 2 s.
	Low  Weight
	Rest time.Duration
	// Behind is for all that share together, while there are others; 1/15, which is 6 % of what all
	// use, and their floor is 5 %. A quota would leave idle what those do not use of theirs.
	Behind Weight
	// Least is that of a stage without a quota that is granted hardly anything beside the one that is granted most. Steps
	// is how many weights there are for a half of a grant, so that not each grant of a tick is written; 1/256 and 4. The
	// kernel has two for a 512th of its default.
	Least Weight
	Steps float64
	// Of all executors together, against one busy thread of the rest of the machine on each CPU: Shared while none has a
	// deadline to keep, 0.25, which leaves drivers four parts in five. The start of one takes twice as long with half of
	// it, and half a minute with a fifth. Even while one has, 1: with a fifth drivers hand tasks out so late that the
	// executors of others take their cores; with more, drivers of others do. Promised where the rest of the machine has
	// left those too little for Crowded ticks, 4 and 10: four parts in five are theirs then. A driver that has started
	// uses much for longer than its first tasks wait for it, by the mean of what others use; 5 s tell it from a load that
	// stays.
	Shared   Weight
	Even     Weight
	Promised Weight
	Crowded  int
	// Of a driver that a node runs, beside all executors together: DriverFirst is for one whose deadline can be kept,
	// DriverBehind for another; 9 and 1/3, which are what Nice gives those elsewhere. One whose band is not known has 1.
	DriverFirst  Weight
	DriverBehind Weight
	// Rise is by how much that rises in a tick at most; the root of 2. A kernel (6.18) that has it
	// raised at once, fourfold say, lets executors alone run for up to 3 s: drivers, node
	// controllers and shells stand still.
	Rise Weight
}

// Nice are the nice values of drivers' sessions, where Linux divides CPUs by session (autogroup).
type Nice struct {
	// First is for the driver of an application whose deadline can be kept; -10, nine times the
	// weight of another. Behind is for one that has no such deadline; 5, a third of it. Infeasible
	// is for one whose deadline cannot be kept until its driver has registered; 10, a tenth, about
	// a floor's part: it is late anyway, so it starts in what the others leave.
	First      int
	Behind     int
	Infeasible int
}

// Default returns what daemons use. Decisions 026, 029 and 036 have the measurements.
func Default() Params {
	return Params{
		Aims:   Aims{Unheld: 0.94, First: 0.88, Slower: 0.5, Seen: 1},
		Later:  Later{Nodes: 0.85, Speed: 0.85, Yield: 0.95, LeftAlone: 0.5},
		Doubts: Doubts{Late: 0.3, Reserve: 0.1, Overdue: 0.1},
		Again:  Again{Alone: 0.03, Turning: 0.05, Beside: 0.1},
		Room: Room{Wait: 3 * time.Second, Exit: 3 * time.Second, Driver: 1, Drivers: 0.5, LeftAlone: 0.5,
			Pressed: 0.9, Relief: 0.05, Unbound: true},
		Weights: Weights{Low: 0.1, Rest: 2 * time.Second, Behind: 1.0 / 15, Least: 1.0 / 256, Steps: 4,
			Shared: 0.25, Even: 1, Promised: 4, Crowded: 10, DriverFirst: 9, DriverBehind: 1.0 / 3, Rise: math.Sqrt2},
		Nice: Nice{First: -10, Behind: 5, Infeasible: 10},
	}
}

var standard = Default()

// Of returns p, or Default where that is nil: what a configuration without params of its own goes by.
func Of(p *Params) *Params {
	if p == nil {
		return &standard
	}
	return p
}
