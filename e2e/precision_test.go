package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/internal/realenv"
)

// TestPrecision holds an application of some 20 s to 1.4 times its recorded run, as its
// user sees it: from the start of `pacer submit` to its exit, by this test's clock. The
// median of three runs ends in the last 3 % before the deadline, and no run has a second
// attempt. Adaptive execution is off: the bound is for plans that are known whole when a
// query begins. Its two stages are long enough to be steered; an application of that
// length that ends with stages of a second or two misses the bound (docs/STATUS.md).
func TestPrecision(t *testing.T) {
	realenv.RequireSpark(t)
	t.Setenv("SPARK_SUBMIT_OPTS", "") // A user's driver.
	s := realenv.StartUp(t)
	args := []string{"--conf", "spark.sql.adaptive.enabled=false", "testdata/chain.py", "3"}
	recorded, answer := s.Record(args...)
	deadline := (recorded.Duration * 1.4).Duration().Round(time.Millisecond)
	var left []float64 // Per cent of the deadline; negative is late.
	for range 3 {
		run := s.Submit(append([]string{"--pacer-deadline", deadline.String()}, args...)...)
		wantAnswer(t, run, results(answer))
		left = append(left, 100*float64(deadline-run.Took())/float64(deadline))
	}
	slices.Sort(left)
	said := fmt.Sprintf("deadline %v, at the command's exit %+.2f %% of it were left", deadline, left)
	t.Log(said)
	if median := left[1]; median < 0 || median > 3 {
		t.Errorf("%s: want 0 to 3 %% in the median", said)
	}
}
