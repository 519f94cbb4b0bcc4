package node

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/controller"
)

// Tasks whose work is done by Python workers are paced like others: as many tasks as
// slots, of which nothing is seen to end before the deadline is near, and several
// rounds. Where threads alone are looked at the first end two fifths too late: all their
// records are read at once, which counts as half.
func TestPythonWorkersArePaced(t *testing.T) {
	end := func(python bool, tasks int, cpu float64) float64 {
		cfg := testConfig(2)
		cfg.Controller.Law = controller.LawPacer
		w := newWorld(t, cfg)
		a := planApp(appA, 2, ids("1"))
		w.ready(1, a)
		x := w.exec(Key{appA, "1"})
		x.python = python
		s := x.submit(0, tasks, cpu)
		a.Stages = append(a.Stages, target(0, "1", tasks, float64(tasks)*cpu, 20*time.Second, 1))
		begin := w.now
		w.apply(plan(2, a))
		for !x.idle() {
			w.tick(t, w.e)
		}
		return s.end.Sub(begin).Seconds()
	}
	for name, c := range map[string]struct {
		tasks int
		cpu   float64
	}{"one round": {2, 12}, "two rounds": {4, 6}, "many": {60, 0.4}} {
		jvm, python := end(false, c.tasks, c.cpu), end(true, c.tasks, c.cpu)
		if python < 19 || python > 20.3 {
			t.Errorf("%s: it ended after %.2f s of 20, in the JVM's threads after %.2f s", name, python, jvm)
		}
	}
}
