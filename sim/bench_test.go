package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/paper"
)

// BenchmarkEvents is a world of the paper's size with the invariants on; events/s
// is what counts.
func BenchmarkEvents(b *testing.B) {
	w, err := sim.New(sim.Default())
	if err != nil {
		b.Fatal(err)
	}
	load, err := paper.FindWorkload("group-by")
	if err != nil {
		b.Fatal(err)
	}
	run := func() {
		if _, err := w.Submit(w.Now(), load); err != nil {
			b.Fatal(err)
		}
		if err := w.Run(); err != nil {
			b.Fatal(err)
		}
	}
	run()
	load.Deadline = 180
	b.ResetTimer()
	before := w.Events()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(w.Events()-before)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkTenThousandNodes is a minute of 10,000 idle nodes.
func BenchmarkTenThousandNodes(b *testing.B) {
	c := sim.Default()
	c.Nodes = nil
	for i := range 10_000 {
		c.Nodes = append(c.Nodes, sim.NodeSpec{Name: fmt.Sprintf("n%05d", i), Cores: 16})
	}
	w, err := sim.New(c)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := w.Pass(time.Minute); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(60*b.Elapsed().Seconds()/float64(b.N), "s/hour")
}
