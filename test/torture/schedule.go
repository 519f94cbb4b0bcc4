package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Kind names what a fault does.
type Kind string

// The kinds of faults. What is killed gets SIGKILL, but for OOM, which is the kernel's.
const (
	KillPlanner    Kind = "kill-planner" // The one that serves, as for other faults of a planner.
	KillStandby    Kind = "kill-standby"
	KillController Kind = "kill-controller"
	KillGuard      Kind = "kill-guard"
	KillNATS       Kind = "kill-nats"
	KillExecutor   Kind = "kill-executor"
	KillDriver     Kind = "kill-driver"
	OOM            Kind = "oom"
	// LoseNode kills all that runs on a node and cuts it off until it comes back.
	LoseNode Kind = "lose-node"
	// CutNode cuts a node off from everybody, CutBus from the NATS server alone, CutDrivers
	// from the drivers alone, CutPlanner the planner from everybody.
	CutNode    Kind = "cut-node"
	CutBus     Kind = "cut-bus"
	CutDrivers Kind = "cut-drivers"
	CutPlanner Kind = "cut-planner"
	// Drop loses packets of a node at random, Delay delays what passes the proxy before the
	// NATS server.
	Drop  Kind = "drop"
	Delay Kind = "delay"
	// StopExecutor, StopController and StopPlanner suspend a process.
	StopExecutor   Kind = "stop-executor"
	StopController Kind = "stop-controller"
	StopPlanner    Kind = "stop-planner"
	// FillDisk fills the disk of a node's work directory.
	FillDisk Kind = "fill-disk"
	// Rolling restarts all daemons in order, one after the other.
	Rolling Kind = "rolling-restart"
)

// Fault is one disturbance of the cluster.
type Fault struct {
	// At is its time from the start of the schedule, For how long it lasts: a daemon that is
	// killed stays away for so long.
	At, For time.Duration
	Kind    Kind
	// Node is whom it hits, "" for a kind that hits no node.
	Node string
	// Amount is the part of packets that Drop loses, and the seconds of Delay.
	Amount float64
	// Pick, in [0, 1), chooses among those that can be hit at that moment.
	Pick float64
}

func (f Fault) String() string {
	s := fmt.Sprintf("%6.1f s %s", f.At.Seconds(), f.Kind)
	if f.Node != "" {
		s += " " + f.Node
	}
	if f.For > 0 {
		s += fmt.Sprintf(" for %.1f s", f.For.Seconds())
	}
	if f.Amount > 0 {
		s += fmt.Sprintf(" by %.2f", f.Amount)
	}
	return s
}

// kindOf says how a kind is drawn and counted.
type kindOf struct {
	kind Kind
	// weight is how often it is drawn, relative to the others.
	weight int
	// part is the part of the cluster that is disturbed: no two faults disturb one at a time.
	// A node's is drawn.
	part           string
	shortest, most time.Duration
	amount         float64
	counts         counted
}

// counted is what a fault adds to in a Tally.
type counted int

const (
	aFault counted = iota
	aKill
	aPartition
	aNodeLoss
)

const (
	onNode    = "node"
	onPlanner = "planner"
	onNATS    = "nats"
	onDriver  = "driver"
)

// kinds is the table of faults. Weights are per mille.
var kinds = []kindOf{
	{KillPlanner, 110, onPlanner, 0, 6 * time.Second, 0, aKill},
	{KillStandby, 50, onPlanner, 0, 6 * time.Second, 0, aKill},
	{KillController, 150, onNode, 0, 8 * time.Second, 0, aKill},
	{KillGuard, 70, onNode, 0, 0, 0, aKill},
	{KillNATS, 90, onNATS, 0, 5 * time.Second, 0, aKill},
	{KillExecutor, 80, "", 0, 0, 0, aKill},
	{KillDriver, 20, onDriver, 0, 0, 0, aKill},
	{OOM, 20, "", 0, 0, 0, aKill},
	{LoseNode, 60, onNode, 3 * time.Second, 20 * time.Second, 0, aNodeLoss},
	{CutNode, 40, onNode, 2 * time.Second, 20 * time.Second, 0, aPartition},
	{CutBus, 40, onNode, 2 * time.Second, 20 * time.Second, 0, aPartition},
	{CutDrivers, 30, onNode, 2 * time.Second, 8 * time.Second, 0, aPartition},
	{CutPlanner, 40, onPlanner, 2 * time.Second, 15 * time.Second, 0, aPartition},
	{Drop, 40, onNode, 3 * time.Second, 10 * time.Second, 0.3, aFault},
	{Delay, 40, onNATS, 3 * time.Second, 10 * time.Second, 0.5, aFault},
	{StopExecutor, 30, "", time.Second, 8 * time.Second, 0, aFault},
	{StopController, 30, onNode, time.Second, 12 * time.Second, 0, aFault},
	{StopPlanner, 20, onPlanner, time.Second, 12 * time.Second, 0, aFault},
	{FillDisk, 10, onNode, 2 * time.Second, 5 * time.Second, 0, aFault},
	{Rolling, 30, onPlanner, 10 * time.Second, 10 * time.Second, 0, aFault},
}

// rest is how long a part is left alone after a fault.
const rest = 3 * time.Second

// Draw makes a schedule of faults that are gap apart in the mean, until the last one is over
// before length. Two nodes at most are disturbed at a time, and no part by two faults at once:
// applications cannot go on without any node.
func Draw(seed uint64, length, gap time.Duration, nodes []string) []Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	free := map[string]time.Duration{}
	var out []Fault
	for at := time.Duration(0); ; {
		at += time.Duration((0.2 + 0.8*random.ExpFloat64()) * float64(gap))
		if at >= length {
			return out
		}
		n, k := random.IntN(total), 0
		for ; n >= kinds[k].weight; k++ {
			n -= kinds[k].weight
		}
		kind := kinds[k]
		f := Fault{At: at, Kind: kind.kind, For: kind.shortest +
			time.Duration(random.Float64()*float64(kind.most-kind.shortest)),
			Amount: kind.amount * random.Float64(), Pick: random.Float64()}
		node := nodes[random.IntN(len(nodes))]
		part := kind.part
		if part == onNode {
			f.Node, part = node, node
			disturbed := slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return n == node || free[n] <= at })
			if len(disturbed) > 1 {
				continue
			}
		}
		if free[part] > at || at+f.For > length {
			continue
		}
		if kind.kind == Rolling { // It is everybody's.
			if slices.ContainsFunc(append([]string{onNATS, onPlanner}, nodes...), func(p string) bool { return free[p] > at }) {
				continue
			}
			for _, p := range append([]string{onNATS, onPlanner}, nodes...) {
				free[p] = at + f.For + rest
			}
		}
		if part != "" {
			free[part] = max(free[part], at+f.For+rest)
		}
		out = append(out, f)
	}
}

// Count adds f, which was carried out, to t.
func (t *Tally) Count(f Fault) {
	t.Faults++
	for _, k := range kinds {
		if k.kind != f.Kind {
			continue
		}
		switch k.counts {
		case aKill:
			t.Kills++
		case aPartition:
			t.Partitions++
		case aNodeLoss:
			t.NodeLosses++
		}
	}
}
