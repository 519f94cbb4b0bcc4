package planner

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor"
)

// operators empty nodes and have them divide otherwise.
type operators struct {
	*core
	agenda *agenda
}

// drain empties a node: it gets no new executors, and those that it has
// leave as soon as their applications have others to go on with.
func (d operators) drain(q api.ControlRequest) (api.ControlReply, error) {
	n, err := d.known(q.Node)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !n.Drained {
		d.record(ledger.NodeDrained{Node: n.Node, Draining: true})
	}
	d.agenda.ask(d.core, onDrain, nil)
	stay := 0
	for a := range d.view.Running() {
		if d.view.Allocation(a, n.Node).Stays() {
			stay++
		}
	}
	message := fmt.Sprintf("node %s drains: it gets no new executors", n.Node)
	if stay > 0 {
		message += fmt.Sprintf("; %d of its applications have no executors elsewhere and stay until they have or end", stay)
	}
	return api.ControlReply{Message: message}, nil
}

// undrain lets a node have executors again, of running applications too.
func (d operators) undrain(q api.ControlRequest) (api.ControlReply, error) {
	n, err := d.known(q.Node)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !n.Draining() {
		return api.ControlReply{Message: fmt.Sprintf("node %s was not draining", n.Node)}, nil
	}
	d.record(ledger.NodeDrained{Node: n.Node, Offered: n.Offered, Memory: n.Memory})
	return api.ControlReply{Message: fmt.Sprintf("node %s takes executors again", n.Node)}, nil
}

// divide has a node, or all of them, divide its cores by another strategy from now on.
func (d operators) divide(q api.ControlRequest) (api.ControlReply, error) {
	if q.Node != "" {
		if _, err := d.known(q.Node); err != nil {
			return api.ControlReply{}, err
		}
	}
	if d := q.Division; d != nil {
		if err := (supervisor.Config{Strategy: d.Strategy, Gamma: d.Gamma, Eq21: d.Eq21}).Validate(); err != nil {
			return api.ControlReply{}, api.Errorf(api.KindInvalid, "%v", err)
		}
	}
	fact := ledger.DivisionSet{Node: q.Node, Division: q.Division}
	d.record(fact)
	return api.ControlReply{Message: ledger.Change{Fact: fact}.Line().Text + " from now on"}, nil
}

func (d operators) known(name string) (*ledger.Node, error) {
	if n := d.view.Node(name); n != nil {
		return n, nil
	}
	return nil, api.Errorf(api.KindNotFound, "node %q is not known: `pacer nodes` lists them", name)
}

// consolidate has the least used node sleep, or says who is in the way.
func (d operators) consolidate(api.ControlRequest) (api.ControlReply, error) {
	advice := placement.Empty(d.outlook, sleeper{d.core}.tables())
	if !advice.Sleeps {
		return api.ControlReply{Message: advice.String()}, nil
	}
	if !d.apply(slept(advice.Node, true, advice.Why)) {
		return api.ControlReply{}, api.Errorf(api.KindTransient, "node %s could not be put to sleep", advice.Node)
	}
	d.agenda.ask(d.core, onDrain, nil)
	return api.ControlReply{Message: fmt.Sprintf("node %s drains and sleeps: %s", advice.Node, advice.Why)}, nil
}
