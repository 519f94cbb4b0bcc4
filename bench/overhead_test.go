package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/realenv"
)

// pairs of runs, and the application's size: about 15 s of tasks on two cores.
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
	var ratios, yardstick []float64
	for i := range pairs {
		stock := stockWall(t, master)
		paced := pacerWall(t, s)
		again := stockWall(t, master)
		ratios = append(ratios, 2*paced/(stock+again))
		yardstick = append(yardstick, again/stock)
		t.Logf("pair %d: stock %.2f s, pacer %.2f s, stock again %.2f s", i+1, stock, paced, again)
	}
	t.Logf("pacer/stock: %s; stock/stock: %s", spread(ratios), spread(yardstick))
	add(t, "overhead.wall_ratio", median(ratios), "ratio")
	add(t, "overhead.stock_wall_ratio", median(yardstick), "ratio")
}

// pacerWall runs the application without a deadline: all cores, ungated.
func pacerWall(t *testing.T, s *realenv.System) float64 {
	t.Helper()
	if code := s.Submit("--executor-memory", "1g", app, scale).Wait(4 * time.Minute); code != 0 {
		t.Fatalf("under Pacer: exit %d", code)
	}
	return wall(realenv.ReadLog(t, s.Events(), ended(s).ID))
}

func stockWall(t *testing.T, master string) float64 {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(eventDir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	run := realenv.Start(t, nil, filepath.Join(realenv.SparkHome(t), "bin", "spark-submit"), "--master", master,
		"--driver-memory", "512m", "--executor-memory", "1g", "--conf", "spark.ui.enabled=false",
		"--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1",
		"--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.dir=file://"+eventDir(dir),
		"--conf", "spark.eventLog.compress=false", "--conf", "spark.eventLog.rolling.enabled=false", app, scale)
	if code := run.Wait(4 * time.Minute); code != 0 {
		t.Fatalf("stock: exit %d", code)
	}
	logs, err := os.ReadDir(eventDir(dir))
	if err != nil || len(logs) != 1 {
		t.Fatalf("event logs of the stock run: %v, %v", logs, err)
	}
	return wall(realenv.ReadLog(t, eventDir(dir), api.AppID(logs[0].Name())))
}

// wall is from the first task's launch to the last one's end, in seconds.
func wall(log realenv.Log) float64 {
	first, last := int64(0), int64(0)
	for _, task := range log.Tasks {
		if first == 0 || task.Launch < first {
			first = task.Launch
		}
		last = max(last, task.Finish)
	}
	return float64(last-first) / 1000
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
