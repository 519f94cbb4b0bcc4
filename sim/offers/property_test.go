package offers

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/sim/des"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// resources draws up to most.
func resources(t *rapid.T, what string, least, most Resources) Resources {
	return Resources{rapid.IntRange(least.MilliCPU, most.MilliCPU).Draw(t, what+" CPU"),
		rapid.IntRange(least.MB, most.MB).Draw(t, what+" MB")}
}

// At every event each node has given exactly what is not free, in either dimension, and never more than it has. After
// the offers of a moment nobody can take a slot, and in the end all have run and all is free.
func TestWhatIsHeldAndFreeIsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(what string, least, most int) int { return rapid.IntRange(least, most).Draw(t, what) }
		c := Cluster{Nodes: number("nodes", 1, 4), Node: resources(t, "node", Resources{500, 500}, Resources{4000, 4000}),
			ReleaseTask: rapid.Bool().Draw(t, "release"), RevokeShrink: rapid.Bool().Draw(t, "shrink")}
		var all []Framework
		for i := range number("frameworks", 1, 4) {
			f := Framework{Name: fmt.Sprint(i), Coarse: rapid.Bool().Draw(t, "coarse"), Tasks: number("tasks", 1, 30),
				Executor: resources(t, "executor", Resources{0, 1}, c.Node), Arrives: time.Duration(number("arrives", 0, 5)),
				Start: time.Duration(number("start", 0, 5)), Task: time.Duration(number("task", 1, 5))}
			f.Slot = resources(t, "slot", Resources{}, c.Node.plus(-1, f.Executor))
			all = append(all, f)
		}
		w, err := newWorld(c, all)
		if err != nil {
			t.Fatal(err)
		}
		noted, had := 0, Resources{}.plus(c.Nodes, c.Node)
		for {
			more, err := w.clock.Turn(des.Never - 1)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			for n, free := range w.free {
				given := free
				for _, f := range w.all {
					given.MilliCPU += f.on[n].executor.MilliCPU + f.on[n].slots*f.Slot.MilliCPU
					given.MB += f.on[n].executor.MB + f.on[n].slots*f.Slot.MB
					if f.on[n].running > f.on[n].slots || f.on[n].slots > 0 && f.on[n].executor == (Resources{}) {
						t.Fatalf("%s has %+v on node %d", f.Name, f.on[n], n)
					}
				}
				if free.MilliCPU < 0 || free.MB < 0 || given != c.Node {
					t.Fatalf("node %d has %v free, with what it gave %v, of %v", n, free, given, c.Node)
				}
			}
			if len(w.moments) == noted {
				continue
			}
			noted = len(w.moments)
			sum := Resources{}
			for i, s := range w.moments[noted-1].Of {
				sum = sum.plus(1, s.Held)
				if s.Running+s.Waiting > all[i].Tasks || s.Share > 1 {
					t.Fatalf("%s has %+v of %d tasks", s.Framework, s, all[i].Tasks)
				}
			}
			for n, free := range w.moments[noted-1].Free {
				sum = sum.plus(1, free)
				for _, f := range w.all {
					cpu, mb := f.Executor.MilliCPU-f.on[n].executor.MilliCPU, f.Executor.MB-f.on[n].executor.MB
					if f.waiting > 0 && cpu+f.Slot.MilliCPU <= free.MilliCPU && mb+f.Slot.MB <= free.MB {
						t.Fatalf("node %d has %v free, and %s waits", n, free, f.Name)
					}
				}
			}
			if sum != had {
				t.Fatalf("held and free are %v of %v", sum, had)
			}
		}
		for _, f := range w.all {
			if f.waiting+f.running > 0 {
				t.Fatalf("%s waits with %d tasks and runs %d at the end", f.Name, f.waiting, f.running)
			}
		}
		for n, free := range w.free {
			if free != c.Node {
				t.Fatalf("node %d has %v free at the end, of %v", n, free, c.Node)
			}
		}
	})
}
