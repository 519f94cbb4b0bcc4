package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
)

// standaloneCores are those that a worker offers.
const standaloneCores = 2

// standalone is a stock master and worker on loopback.
type standalone struct {
	master  string
	account *account // Of both and of what is submitted to them.
}

// startStandalone starts both; they stop when the row ends. The memory that the worker
// offers is a number: it is to be no bound.
func startStandalone(t testing.TB) standalone {
	t.Helper()
	account := newAccount(t)
	address := realenv.FreePort(t)
	port := address[len("127.0.0.1:"):]
	env := []string{"SPARK_LOCAL_IP=127.0.0.1"}
	class := filepath.Join(realenv.SparkHome(t), "bin", "spark-class")
	start := func(args ...string) *realenv.Process {
		behind := slices.Concat(account.behind(), []string{class}, args)
		return realenv.Start(t, env, behind[0], behind[1:]...)
	}
	m := start("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0")
	m.Await("New state: ALIVE", time.Minute)
	w := start("org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "-c", strconv.Itoa(standaloneCores), "-m",
		"64g", "-d", t.TempDir(), "--webui-port", "0", "spark://"+address)
	w.Await("Successfully registered with master", time.Minute)
	return standalone{master: "spark://" + address, account: account}
}

// runLimit is how long one run of an application may take.
const runLimit = 20 * time.Minute

// endedRun is a run of an application that has ended well.
type endedRun struct {
	sparklog.Log
	// Began is when its command was started, Wall from there to its exit, in seconds.
	Began time.Time
	Wall  float64
	// CoreSeconds is what its account has counted meanwhile.
	CoreSeconds float64
	// Answer is what it printed.
	Answer string
}

// stockRun runs an application on stock Spark, arguments of spark-submit and its own
// behind each other, to its end.
func stockRun(t testing.TB, cluster standalone, args ...string) endedRun {
	t.Helper()
	dir := t.TempDir()
	args = cluster.submission(t, append(sparklog.Flags(dir), args...)...)
	before := cluster.account.used(t)
	run := realenv.Start(t, nil, args[0], args[1:]...)
	e := awaitRun(t, run, cluster.account, before)
	logs, err := os.ReadDir(dir)
	if err != nil || len(logs) != 1 {
		t.Fatalf("event logs of the stock run: %v, %v", logs, err)
	}
	if e.Log, err = sparklog.Read(dir, api.AppID(logs[0].Name())); err != nil {
		t.Fatal(err)
	}
	return e
}

// submission is the command line of spark-submit for the cluster.
func (c standalone) submission(t testing.TB, args ...string) []string {
	t.Helper()
	return slices.Concat(c.account.behind(), []string{filepath.Join(realenv.SparkHome(t), "bin", "spark-submit"),
		"--master", c.master, "--driver-memory", "512m", "--executor-memory", "1g",
		"--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"}, args)
}

// awaitRun waits for the end of a run, the account of which had used so much before.
func awaitRun(t testing.TB, run *realenv.Process, account *account, before float64) endedRun {
	t.Helper()
	exited := run.Exited()
	select {
	case <-exited:
	case <-time.After(runLimit):
	}
	used := account.used(t) - before
	if code := run.Wait(10 * time.Second); code != 0 {
		t.Fatalf("exit %d: %s", code, run.LastWords())
	}
	return endedRun{Began: run.Began(), Wall: run.Took().Seconds(), CoreSeconds: used, Answer: run.Answer()}
}
