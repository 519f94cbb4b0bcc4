package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// faultKind is an entry of the table of faults, which happen to the world from
// outside at a moment of its time: what it takes and what it does.
type faultKind struct {
	name string
	// node and value say whether it names a node and has a size, at most most.
	node, value bool
	most        float64
	does        func(w *World, a *agent, value float64)
	// bytes says that its size is one of memory.
	bytes bool
	// restarts says that what node controllers save has to be kept.
	restarts bool
}

// faultOthers is that anything but executors takes cores.
const faultOthers = "others"

// faultOutputs is that an executor is lost with what its tasks have written.
const faultOutputs = "outputs-lost"

// faultTable is where a new fault is entered.
func faultTable() []faultKind {
	return []faultKind{
		{name: "planner-down", does: func(w *World, _ *agent, _ float64) { w.control.down() }},
		{name: "planner-up", does: func(w *World, _ *agent, _ float64) { w.control.restart() }},
		{name: "planner-lost", does: func(w *World, _ *agent, _ float64) { w.control.lose() }},
		{name: "planner-torn", value: true, most: 1, does: func(w *World, _ *agent, v float64) {
			w.control.torn, w.control.kept = w.control.engine != nil, v >= 0.5
		}},
		{name: "planner-second", value: true, most: 60, does: func(w *World, _ *agent, v float64) {
			w.secondPlanner(units.Seconds(v).Duration())
		}},
		{name: "saves-refused", does: func(w *World, _ *agent, _ float64) { w.control.failing = true }},
		{name: "saves-taken", does: func(w *World, _ *agent, _ float64) { w.control.failing = false }},
		{name: "clock-ahead", value: true, most: 1e6, does: func(w *World, _ *agent, v float64) {
			w.skew += units.Seconds(v).Duration()
		}},
		{name: "clock-back", value: true, most: 1e6, does: func(w *World, _ *agent, v float64) {
			w.skew -= units.Seconds(v).Duration()
		}},
		{name: "bus-down", does: func(w *World, _ *agent, _ float64) { w.net.Out = true }},
		{name: "bus-up", does: func(w *World, _ *agent, _ float64) { w.busUp() }},
		{name: "drivers-cut", node: true, does: func(w *World, a *agent, _ float64) { a.cutDrivers(true) }},
		{name: "drivers-back", node: true, does: func(w *World, a *agent, _ float64) { a.cutDrivers(false) }},
		{name: "statuses-mutated", node: true, value: true, most: 1000, does: func(w *World, a *agent, v float64) {
			a.ills.poisons = int(v)
		}},
		{name: "plans-mutated", node: true, does: func(w *World, a *agent, _ float64) { a.mutatedPlans() }},
		{name: "controller-down", node: true, restarts: true, does: func(w *World, a *agent, _ float64) { a.crash() }},
		{name: "controller-up", node: true, restarts: true, does: func(w *World, a *agent, _ float64) { w.must(a.up()) }},
		{name: "executor-lost", node: true, does: func(w *World, a *agent, _ float64) { a.loseExecutor(false) }},
		{name: faultOutputs, node: true, does: func(w *World, a *agent, _ float64) { a.loseExecutor(true) }},
		{name: "node-lost", node: true, does: func(w *World, a *agent, _ float64) { a.lose() }},
		{name: "link-cut", node: true, does: func(w *World, a *agent, _ float64) { a.link.Cut = true }},
		{name: "link-up", node: true, does: func(w *World, a *agent, _ float64) { a.link.Cut = false; a.reconnect() }},
		{name: "link-stalled", node: true, value: true, most: 60, does: func(w *World, a *agent, v float64) {
			a.link.Stalled = w.clock.Now().Add(units.Seconds(v).Duration())
		}},
		{name: faultOthers, node: true, value: true, most: 1e4, does: func(w *World, a *agent, v float64) { a.m.Disturb(v) }},
		{name: "speed", node: true, value: true, most: 100, does: func(w *World, a *agent, v float64) { a.m.Slow(v) }},
		{name: "quotas-refused", node: true, does: func(w *World, a *agent, _ float64) { a.ills.refusing = true }},
		{name: "quotas-taken", node: true, does: func(w *World, a *agent, _ float64) { a.ills.refusing = false }},
		{name: "pages-frozen", node: true, does: func(w *World, a *agent, _ float64) { a.m.Frozen = true }},
		{name: "pages-thawed", node: true, does: func(w *World, a *agent, _ float64) { a.m.Frozen = false }},
		{name: "samples-garbled", node: true, does: func(w *World, a *agent, _ float64) { a.ills.garbled = true }},
		{name: "samples-mended", node: true, does: func(w *World, a *agent, _ float64) { a.ills.garbled = false }},
		{name: "wishes-unread", node: true, does: func(w *World, a *agent, _ float64) { a.hush(true) }},
		{name: "wishes-read", node: true, does: func(w *World, a *agent, _ float64) { a.hush(false) }},
		{name: "memory", node: true, value: true, bytes: true, most: 1 << 50, restarts: true,
			does: func(w *World, a *agent, v float64) {
				a.give(units.Bytes(v))
			}},
		{name: "drain", node: true, does: func(w *World, a *agent, _ float64) { a.drain(api.VerbDrain) }},
		{name: "undrain", node: true, does: func(w *World, a *agent, _ float64) { a.drain(api.VerbUndrain) }},
	}
}

// Faults are the names of what can happen to a world.
func Faults() []string {
	var names []string
	for _, k := range faultTable() {
		names = append(names, k.name)
	}
	return names
}

// Fault has something happen at the given time: one of Faults, to the node if it
// is one of a node's, with a size if it has one.
func (w *World) Fault(at units.Seconds, kind, node string, value float64) error {
	for _, k := range faultTable() {
		if k.name != kind {
			continue
		}
		a := w.byName[node]
		switch {
		case k.node && a == nil:
			return fmt.Errorf("fault %s: node %q is not known", kind, node)
		case k.value && !(value >= 0 && value <= k.most):
			return fmt.Errorf("fault %s: %v, want 0 to %v", kind, value, k.most)
		case k.restarts && !w.cfg.Restarts:
			return fmt.Errorf("fault %s: the world was made without Config.Restarts", kind)
		}
		w.clock.At(max(w.clock.Now(), units.Instant(at.Duration())), rankFault, 0, func() {
			w.history.said("fault", node, kind)
			k.does(w, a, value)
		})
		return nil
	}
	return fmt.Errorf("fault %q, want one of %v", kind, Faults())
}

func (w *World) must(err error) {
	if err != nil {
		w.fail("%v", err)
	}
}

// guardTime is how long after a node controller's death its guard lifts the
// quotas, if no other comes.
const guardTime = 10 * time.Second

// crash ends the node controller as kill -9 does.
func (a *agent) crash() {
	if a.engine == nil {
		return
	}
	a.down()
	starts := a.starts
	a.w.clock.After(guardTime, rankNode, a.m.ID, func() {
		if a.engine != nil || a.starts != starts {
			return
		}
		for _, p := range a.m.Processes() {
			p.SetQuota(math.Inf(1))
		}
	})
}

// loseExecutor ends the node's executor that is busiest, if there is one. What it has
// written stays, as where a shuffle service serves it, or is lost with it.
func (a *agent) loseExecutor(outputs bool) {
	victim := a.busiest()
	if victim == nil {
		return
	}
	victim.Forgets = outputs
	a.kill(victim, "killed by signal 9")
}

// kill ends an executor, which is not its driver's fault.
func (a *agent) kill(p *plant.Process, exit string) {
	d := a.w.driver(p)
	d.killed = append(d.killed, a.w.clock.Now())
	p.Kill(exit, 137)
}

// busiest is the node's executor with most tasks, the first of equals.
func (a *agent) busiest() *plant.Process {
	var victim *plant.Process
	for _, p := range a.m.Processes() {
		if !p.Exited && (victim == nil || p.Running() > victim.Running()) {
			victim = p
		}
	}
	return victim
}

// garble makes a sample what no healthy machine shows: CPU time below zero, or a
// page of another time or with impossible numbers. NaN is left to the node's own
// tests: a history in JSON has none.
func garble(s *node.ExecutorSample, draw func(n int) int) {
	switch draw(4) {
	case 0:
		s.CPU = -s.CPU
	case 1:
		s.Page.At -= units.Instant(time.Hour)
	case 2:
		s.Page.At += units.Instant(time.Hour)
	case 3:
		s.Page.Stages = slices.Clone(s.Page.Stages)
		for i := range s.Page.Stages {
			s.Page.Stages[i].Weight, s.Page.Stages[i].CPU = -1, 1e300
		}
	}
}

// lose takes the node's power: controller and executors are gone without a word.
func (a *agent) lose() {
	a.down()
	a.link.Cut, a.ills.gone = true, true
	for _, p := range a.m.Processes() {
		a.kill(p, "power cut")
	}
	a.lodgers = nil
}

func (a *agent) drain(verb api.Verb) {
	a.draining = verb == api.VerbDrain
	a.w.control.query(verb, api.ControlRequest{Node: a.m.Name})
}

// give has a node give so much memory to executors from now on. Its node controller starts
// anew for that.
func (a *agent) give(memory units.Bytes) {
	running := a.engine != nil
	if running {
		a.crash()
	}
	a.cfg.Memory = memory
	if running {
		a.w.must(a.up())
	}
}

// hush has the node's executors see no wishes for memory, or see them again.
func (a *agent) hush(deaf bool) {
	for _, p := range a.m.Processes() {
		p.Pools()
	}
	a.m.Deaf = deaf
}
