package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// given are the driver's properties that Pacer sets for every application and that
// stock Spark knows too: tuned stock Spark gets what a run under Pacer had of them.
var given = []string{"spark.memory.offHeap.enabled", "spark.memory.offHeap.size", "spark.driver.defaultJavaOptions",
	"spark.locality.wait"}

// own are variables that say where an executor is and whose, not how it works; Spark's
// worker sets them itself.
var own = []string{"PATH", "HOME", "USER", "SPARK_USER", "SPARK_HOME", "JAVA_HOME", "SPARK_LOCAL_DIRS",
	executor.PageEnv, executor.WishEnv}

// tunedConf are the options of spark-submit that give stock Spark what Pacer gives. The
// executors' come from the function that makes their command lines, the driver's from
// the properties of a run under Pacer.
func tunedConf(t testing.TB, properties map[string]string, archives string) []string {
	t.Helper()
	user, err := executor.CurrentUser()
	if err != nil {
		t.Fatal(err)
	}
	jar, err := filepath.Abs("spark/pacer-spark.jar")
	if err != nil {
		t.Fatal(err)
	}
	line, err := executor.Command("app-1", "1", api.Launch{DriverURL: "spark://driver", SparkHome: realenv.SparkHome(t),
		JavaHome: os.Getenv("JAVA_HOME"), Heap: units.GiB},
		executor.Paths{}, executor.NodeSettings{Jar: jar, Host: "127.0.0.1", Slots: runtime.NumCPU(), User: user,
			Archives: archives})
	if err != nil {
		t.Fatal(err)
	}
	return tuning(line, properties)
}

// tuning is tunedConf of a command line.
func tuning(line executor.CommandLine, properties map[string]string) []string {
	set := map[string]string{}
	for _, key := range given {
		if value, ok := properties[key]; ok {
			set[key] = value
		}
	}
	var options []string
	for _, option := range line.Args[1:slices.Index(line.Args, "-cp")] {
		if !strings.HasPrefix(option, "-Xmx") { // Spark sets the heap's size and refuses it here.
			options = append(options, option)
		}
	}
	set["spark.executor.extraJavaOptions"] = strings.Join(options, " ")
	for _, variable := range line.Env {
		if key, value, _ := strings.Cut(variable, "="); !slices.Contains(own, key) {
			set["spark.executorEnv."+key] = value
		}
	}
	var conf []string
	for key, value := range set {
		conf = append(conf, key+"="+value)
	}
	slices.Sort(conf)
	var args []string
	for _, c := range conf {
		args = append(args, "--conf", c)
	}
	return args
}
