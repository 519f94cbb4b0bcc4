package bench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
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
	master := startStandalone(t)
	s := realenv.StartUp(t, "--set", "node.reserve=0")
	var ratios, yardstick, gaps []float64
	for i := range pairs {
		first, second := stockRun(t, master, scale), pacerRun(t, s, scale)
		third := stockRun(t, master, scale)
		stock, paced, again := first.Wall(), second.Wall(), third.Wall()
		gaps = slices.Concat(gaps, stageGaps(first), stageGaps(third))
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

func stockRun(t *testing.T, master, scale string) realenv.Log {
	t.Helper()
	dir := t.TempDir()
	args := slices.Concat([]string{"--master", master, "--driver-memory", "512m", "--executor-memory", "1g",
		"--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"}, realenv.EventLogConf(dir), []string{app, scale})
	run := realenv.Start(t, nil, filepath.Join(realenv.SparkHome(t), "bin", "spark-submit"), args...)
	if code := run.Wait(4 * time.Minute); code != 0 {
		t.Fatalf("stock: exit %d", code)
	}
	logs, err := os.ReadDir(dir)
	if err != nil || len(logs) != 1 {
		t.Fatalf("event logs of the stock run: %v, %v", logs, err)
	}
	return realenv.ReadLog(t, dir, api.AppID(logs[0].Name()))
}

// startStandalone runs a stock master and worker of two cores on loopback.
func startStandalone(t *testing.T) (master string) {
	t.Helper()
	address := realenv.FreePort(t)
	port := address[len("127.0.0.1:"):]
	env := []string{"SPARK_LOCAL_IP=127.0.0.1"}
	class := filepath.Join(realenv.SparkHome(t), "bin", "spark-class")
	m := realenv.Start(t, env, class, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0")
	m.Await("New state: ALIVE", time.Minute)
	w := realenv.Start(t, env, class, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "-c", "2", "-m", "4g",
		"-d", t.TempDir(), "--webui-port", "0", "spark://"+address)
	w.Await("Successfully registered with master", time.Minute)
	return "spark://" + address
}
