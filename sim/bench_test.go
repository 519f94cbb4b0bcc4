package sim

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkEvents is a world of the paper's size with the invariants on; events/s
// is what counts.
func BenchmarkEvents(b *testing.B) {
	w := must(b, Default())
	load, err := FindWorkload("group-by")
	if err != nil {
		b.Fatal(err)
	}
	submit(b, w, load.App)
	load.App.Deadline = 180
	b.ResetTimer()
	before := w.Events()
	for b.Loop() {
		submit(b, w, load.App)
	}
	b.ReportMetric(float64(w.Events()-before)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkTenThousandNodes is a minute of 10,000 idle nodes.
func BenchmarkTenThousandNodes(b *testing.B) {
	c := Default()
	c.Nodes = nil
	for i := range 10_000 {
		c.Nodes = append(c.Nodes, NodeSpec{Name: fmt.Sprintf("n%05d", i), Cores: 16})
	}
	w := must(b, c)
	for b.Loop() {
		if err := w.Pass(time.Minute); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(60*b.Elapsed().Seconds()/float64(b.N), "s/hour")
}
