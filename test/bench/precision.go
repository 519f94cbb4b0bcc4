package main

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

// precisionRuns are the paced runs of precision, all of which count.
const precisionRuns = 7

// precise is an application of some 20 s with two long stages.
var precise = []string{"--conf", "spark.sql.adaptive.enabled=false", "test/e2e/testdata/chain.py", "3"}

// precision holds one application to 1.4 times its recorded run, and measures what is left of
// the deadline when `pacer submit` has exited, in per cent of it: negative is late.
func precision(t testing.TB, add adder) {
	s := realenv.StartUp(t)
	if code := s.Submit(precise...).Wait(3 * time.Minute); code != 0 {
		t.Fatalf("recording run: exit %d", code)
	}
	deadline := (ended(s).Duration * 1.4).Duration().Round(time.Millisecond)
	var left []float64
	late := 0
	for range precisionRuns {
		run := s.Submit(append([]string{"--pacer-deadline", deadline.String()}, precise...)...)
		if code := run.Wait(4 * time.Minute); code != 0 {
			t.Fatalf("paced run: exit %d", code)
		}
		left = append(left, 100*float64(deadline-run.Took())/float64(deadline))
		if run.Took() > deadline {
			late++
		}
	}
	add("precision.left_pct", benchline.Median(left), "%")
	add("precision.late", benchline.Measured{Value: float64(late), N: precisionRuns, Spread: [2]float64{0, 1}}, "runs")
}
