package ledger

import "fmt"

// NodeSlept: a node that others have room for drains until it is woken, or is woken and stays awake for awakeFor. What
// an operator drains neither sleeps nor wakes.
type NodeSlept struct {
	Node   string
	Asleep bool
	Why    string
}

func (f NodeSlept) apply(l *Ledger) error {
	n, err := l.node(f.Node, nodeState)
	switch {
	case err != nil:
		return err
	case f.Asleep && (!n.Live() || len(l.View().Live()) < 2):
		return fmt.Errorf("node %s cannot sleep: it takes no executors, or no other one does", f.Node)
	case !f.Asleep && !n.Sleep.Asleep:
		return fmt.Errorf("node %s does not sleep", f.Node)
	}
	n.sleeps(l.now, f.Asleep)
	n.Draining = f.Asleep
	l.relist()
	l.growth++
	return nil
}
