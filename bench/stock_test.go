package bench

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/realenv"
)

// standalone is a stock master and worker of two cores on loopback.
type standalone struct {
	master string
	worker *realenv.Process
}

// startStandalone starts both; they stop when the test ends.
func startStandalone(t *testing.T) standalone {
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
	return standalone{master: "spark://" + address, worker: w}
}

// runLimit is how long one run of an application may take.
const runLimit = 20 * time.Minute

// stock is a run of stock Spark.
type stock struct {
	realenv.Log
	// Duration is from the execution of spark-submit to the end of the context, as
	// the deadline clock has it, in seconds.
	Duration float64
	// CoreSeconds is what its executor used from the first task's launch to the last
	// one's end.
	CoreSeconds float64
	// Answer is what it printed.
	Answer string
}

// stockRun runs an application, its arguments behind it, to its end.
func stockRun(t *testing.T, cluster standalone, args ...string) stock {
	t.Helper()
	dir := t.TempDir()
	args = slices.Concat([]string{"--master", cluster.master, "--driver-memory", "512m", "--executor-memory", "1g",
		"--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"}, realenv.EventLogConf(dir), args)
	ended, watched := make(chan struct{}), make(chan usage, 1)
	began := time.Now()
	go func() { watched <- watch(cluster.worker.PID(), ended) }()
	run := realenv.Start(t, nil, filepath.Join(realenv.SparkHome(t), "bin", "spark-submit"), args...)
	select {
	case <-run.Done():
	case <-time.After(runLimit):
	}
	close(ended)
	used := <-watched
	if code := run.Wait(time.Second); code != 0 {
		t.Fatalf("stock: exit %d", code)
	}
	logs, err := os.ReadDir(dir)
	if err != nil || len(logs) != 1 {
		t.Fatalf("event logs of the stock run: %v, %v", logs, err)
	}
	s := stock{Log: realenv.ReadLog(t, dir, api.AppID(logs[0].Name())), Answer: run.Answer()}
	s.Duration = float64(s.End-began.UnixMilli()) / 1000
	first, last := s.Bounds()
	s.CoreSeconds = used.at(last) - used.at(first)
	return s
}

// usage is the CPU time of a process over time, in order.
type usage []struct {
	at   int64 // Unix milliseconds.
	used float64
}

// watch reads the CPU time of the executor that a worker starts from now on, every
// 50 ms; one that has not quite ended is not it.
func watch(worker int, ended <-chan struct{}) usage {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var u usage
	earlier := realenv.Children(worker)
	for executor := 0; ; {
		select {
		case <-ended:
			return u
		case now := <-tick.C:
			if executor == 0 {
				for _, child := range realenv.Children(worker) {
					if !slices.Contains(earlier, child) {
						executor = child
					}
				}
				continue
			}
			if used := realenv.CPU(executor); used > 0 {
				u = append(u, struct {
					at   int64
					used float64
				}{now.UnixMilli(), used})
			}
		}
	}
}

// at is the CPU time at a moment, in proportion between two readings.
func (u usage) at(moment int64) float64 {
	i := sort.Search(len(u), func(i int) bool { return u[i].at >= moment })
	switch {
	case len(u) == 0:
		return 0
	case i == 0:
		return u[0].used
	case i == len(u):
		return u[i-1].used
	}
	share := float64(moment-u[i-1].at) / float64(u[i].at-u[i-1].at)
	return u[i-1].used + share*(u[i].used-u[i-1].used)
}
