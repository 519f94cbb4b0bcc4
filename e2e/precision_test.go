package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/internal/realenv"
)

// chain are the arguments of an application of some 20 s whose plan is known whole when its
// query begins: adaptive execution is off. Its two stages are long enough to be steered; an
// application of that length that ends with stages of a second or two misses the bounds
// of the tests that run it (docs/STATUS.md). The session records it once.
var chain = []string{"--conf", "spark.sql.adaptive.enabled=false", "testdata/chain.py", "3"}

// TestPrecision holds one application to 1.4 times its recorded run, as its
// user sees it: from the start of `pacer submit` to its exit, by this test's clock. The
// median of three runs ends in the last 3 % before the deadline, and no run has a second
// attempt.
func TestPrecision(t *testing.T) {
	realenv.RequireSpark(t)
	t.Setenv("SPARK_SUBMIT_OPTS", "") // A user's driver.
	s := realenv.StartUp(t)
	recorded, answer := s.Record(chain...)
	deadline := (recorded.Duration * 1.4).Duration().Round(time.Millisecond)
	var left []float64 // Per cent of the deadline; negative is late.
	for range 3 {
		run := s.Submit(append([]string{"--pacer-deadline", deadline.String()}, chain...)...)
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
