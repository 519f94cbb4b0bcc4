package sim

import "testing"

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
