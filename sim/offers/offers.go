package offers

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Resources is an amount of CPU and memory, in whole numbers: what is held and what is free is exactly the whole.
type Resources struct {
	MilliCPU int `json:"milli_cpu"`
	MB       int `json:"mb"`
}

// String is as in "2 CPU, 2931 MB".
func (r Resources) String() string {
	return fmt.Sprintf("%v CPU, %d MB", float64(r.MilliCPU)/1000, r.MB)
}

func (r Resources) plus(n int, o Resources) Resources {
	return Resources{r.MilliCPU + n*o.MilliCPU, r.MB + n*o.MB}
}

// Share is the dominant share of a framework that is charged r: the largest part of any resource of the whole.
func (r Resources) Share(whole Resources) float64 {
	return max(float64(r.MilliCPU)/float64(whole.MilliCPU), float64(r.MB)/float64(whole.MB))
}

// Cluster is nodes that are all alike, and the rules by which they are given away.
type Cluster struct {
	Nodes int       `json:"nodes"`
	Node  Resources `json:"node"`
	// ReleaseTask has all frameworks give a slot back when its task ends, and an executor when it runs nothing.
	ReleaseTask bool `json:"release_task"`
	// RevokeShrink leaves an idle executor its memory and a tenth of a CPU, uncharged, until a task is to run there.
	RevokeShrink bool `json:"revoke_shrink"`
}

// Framework is an application. Start is how long an executor takes before it runs tasks, Task how long each of them.
type Framework struct {
	Name                 string
	Coarse               bool
	Executor, Slot       Resources
	Tasks                int
	Arrives, Start, Task time.Duration
}

// Standing is what a framework has at a moment. Executors is a part of Held; nothing waits before it has come.
type Standing struct {
	Framework string    `json:"framework"`
	Held      Resources `json:"held"`
	Executors Resources `json:"executors"`
	Share     float64   `json:"share"`
	Running   int       `json:"running"`
	Waiting   int       `json:"waiting"`
}

// Stuck reports whether it holds executors and has tasks that wait, and none of it runs.
func (s Standing) Stuck() bool { return s.Executors != Resources{} && s.Waiting > 0 && s.Running == 0 }

// Moment is what there is after the offers of a moment: what is free by node, what frameworks have in their order.
type Moment struct {
	At   units.Seconds `json:"at_s"`
	Free []Resources   `json:"free"`
	Of   []Standing    `json:"of"`
}

// Run returns the moments at which anything came or ended, until all tasks have, or every fault of the arguments.
func Run(c Cluster, all []Framework) ([]Moment, error) {
	w, err := newWorld(c, all)
	if err == nil {
		err = w.clock.Pass(des.Never - 1)
	}
	return w.moments, err
}

func newWorld(c Cluster, all []Framework) (w *world, faults error) {
	if min(c.Nodes, c.Node.MilliCPU, c.Node.MB) < 1 {
		faults = fmt.Errorf("offers: %d nodes of %v, want one at least, with CPU and memory", c.Nodes, c.Node)
	}
	w = &world{Cluster: c, free: slices.Repeat([]Resources{c.Node}, max(c.Nodes, 0))}
	w.next = des.NewTimer(1, 0, des.Call(w.offer))
	for _, f := range all {
		e, s := f.Executor, f.Slot
		left := c.Node.plus(-1, e).plus(-1, s)
		if min(e.MilliCPU, e.MB, s.MilliCPU, s.MB, left.MilliCPU, left.MB) < 0 || e == (Resources{}) ||
			f.Tasks < 1 || f.Task < 1 || min(f.Start, f.Arrives) < 0 {
			faults = errors.Join(faults, fmt.Errorf("offers: %+v, want an executor that fits a node of %v with a slot, "+
				"a task at least, that takes time, and nothing below 0", f, c.Node))
		}
		t := &tenant{Framework: f, on: make([]place, len(w.free))}
		w.all = append(w.all, t)
		w.clock.At(units.Instant(f.Arrives), 0, 0, func() {
			t.waiting = t.Tasks
			w.clock.Set(&w.next, w.clock.Now())
		})
	}
	return w, faults
}

type world struct {
	Cluster
	clock   des.Clock
	next    des.Timer   // Of the next offers, after all that ends at that moment.
	free    []Resources // By node.
	all     []*tenant
	moments []Moment
}

// tenant is a framework with what it has.
type tenant struct {
	Framework
	waiting, running int
	on               []place // By node.
}

type place struct {
	executor       Resources     // Nothing where it has none,
	ready          units.Instant // which can run tasks from then on.
	slots, running int
}

func (t *tenant) standing(c Cluster) Standing {
	s := Standing{Framework: t.Name, Running: t.running, Waiting: t.waiting}
	var uncharged Resources
	for _, p := range t.on {
		s.Executors = s.Executors.plus(1, p.executor)
		s.Held = s.Held.plus(1, p.executor).plus(p.slots, t.Slot)
		if p.executor != t.Executor {
			uncharged = uncharged.plus(1, p.executor)
		}
	}
	s.Share = s.Held.plus(-1, uncharged).Share(Resources{}.plus(c.Nodes, c.Node))
	return s
}

// choose returns the node where t takes one more slot, -1 if none has room, and what is left there.
func (w *world) choose(t *tenant) (best int, left Resources) {
	best = -1
	for n, free := range w.free {
		has := t.on[n].slots
		free = free.plus(1, t.on[n].executor).plus(-1, t.Executor).plus(-1, t.Slot)
		if t.waiting > 0 && min(free.MilliCPU, free.MB) >= 0 &&
			(best < 0 || has != t.on[best].slots && t.Coarse == (has > t.on[best].slots)) {
			best, left = n, free
		}
	}
	return best, left
}

// offer gives a slot to the smallest share, and again, until none is taken; then it notes what there is.
func (w *world) offer() {
	m, to := Moment{At: units.Seconds(des.Seconds(0, w.clock.Now())), Free: slices.Clone(w.free)}, -1
	for i, t := range w.all {
		m.Of = append(m.Of, t.standing(w.Cluster))
		if n, _ := w.choose(t); n >= 0 && (to < 0 || m.Of[i].Share < m.Of[to].Share) {
			to = i
		}
	}
	if to < 0 {
		w.moments = append(w.moments, m)
		return
	}
	w.grant(w.all[to])
	w.clock.Set(&w.next, w.clock.Now())
}

// grant gives t one more slot, in which its next task runs.
func (w *world) grant(t *tenant) {
	n, left := w.choose(t)
	p := &t.on[n]
	if p.executor == (Resources{}) {
		p.ready = w.clock.Now().Add(t.Start)
	}
	w.free[n], p.executor, p.slots = left, t.Executor, p.slots+1
	w.begin(t, n)
}

func (w *world) begin(t *tenant, node int) {
	p := &t.on[node]
	t.waiting, t.running, p.running = t.waiting-1, t.running+1, p.running+1
	w.clock.At(max(w.clock.Now(), p.ready).Add(t.Task), 0, 0, func() { w.end(t, node) })
}

// end is a task's: what its framework does not keep is free again.
func (w *world) end(t *tenant, node int) {
	p := &t.on[node]
	t.running, p.running = t.running-1, p.running-1
	w.clock.Set(&w.next, w.clock.Now())
	if keeps := t.Coarse && !w.ReleaseTask; keeps && t.waiting > 0 {
		w.begin(t, node)
	} else if !keeps {
		p.slots--
		w.free[node] = w.free[node].plus(1, t.Slot)
	}
	const floor = 100 // Of an executor's CPU.
	if taken := p.executor.MilliCPU - floor; p.running == 0 && w.RevokeShrink && taken > 0 {
		p.executor.MilliCPU -= taken
		w.free[node].MilliCPU += taken
	}
	for n, p := range t.on {
		if t.waiting+t.running == 0 || w.ReleaseTask && p.running == 0 {
			w.free[n] = w.free[n].plus(1, p.executor).plus(p.slots, t.Slot)
			t.on[n] = place{}
		}
	}
}
