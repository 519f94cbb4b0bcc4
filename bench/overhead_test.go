package bench

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/internal/realenv"
)

// pairs of runs, and the application's size: about 30 s on two cores.
const (
	pairs = 5
	scale = "0.3"
)

// overhead compares the same application under Pacer with all cores, without a
// reserve, to stock Spark standalone on the same cores: wall from the first
// task's launch to the last one's end. A stock-against-stock pair stands beside.
func overhead(t *testing.T, add adder) {
	cluster := startStandalone(t)
	s := realenv.StartUp(t, "--set", "node.reserve=0")
	var ratios, yardstick, gaps []float64
	for i := range pairs {
		first, second := stockRun(t, cluster, app, scale), pacerRun(t, s, scale)
		third := stockRun(t, cluster, app, scale)
		stock, paced, again := first.Wall(), second.Wall(), third.Wall()
		gaps = slices.Concat(gaps, stageGaps(first.Log), stageGaps(third.Log))
		ratios = append(ratios, 2*paced/(stock+again))
		yardstick = append(yardstick, again/stock)
		t.Logf("pair %d: stock %.2f s, pacer %.2f s, stock again %.2f s", i+1, stock, paced, again)
	}
	t.Logf("pacer/stock: %s; stock/stock: %s", spread(ratios), spread(yardstick))
	add(t, "overhead.wall_ratio", median(ratios), "ratio")
	add(t, "overhead.stock_wall_ratio", median(yardstick), "ratio")
	// The yardstick for rebind.parents_ms.median.
	add(t, "overhead.stock_parents_ms.median", median(gaps), "ms")
}

// pacerRun runs the application without a deadline: all cores, ungated.
func pacerRun(t *testing.T, s *realenv.System, scale string, args ...string) realenv.Log {
	t.Helper()
	if code := s.Submit(slices.Concat([]string{"--executor-memory", "1g"}, args, []string{app, scale})...).Wait(4 * time.Minute); code != 0 {
		t.Fatalf("under Pacer: exit %d", code)
	}
	return realenv.ReadLog(t, s.Events(), ended(s).ID)
}
