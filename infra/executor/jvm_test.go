package executor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// The command line starts stock Spark's executor: with a driver that is not
// there it gets as far as the connection. PACER_TEST_SPARK_HOME names a Spark.
func TestCommandStartsARealExecutor(t *testing.T) {
	spark := os.Getenv("PACER_TEST_SPARK_HOME")
	if spark == "" {
		t.Skip("needs PACER_TEST_SPARK_HOME")
	}
	found, err := filepath.Glob(filepath.Join(spark, "jars", "spark-core_2.13-*.jar"))
	if err != nil || len(found) != 1 {
		t.Fatalf("spark-core in %s: %v, %v", spark, found, err)
	}
	h := processHarness(t, realGroups(t), currentUser(t))
	paths, err := h.Layout.Paths("app-1", "1")
	if err != nil {
		t.Fatal(err)
	}
	command, err := executor.Command("app-1", "1",
		api.Launch{DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:1", SparkHome: spark, Heap: 512 * units.MiB},
		paths, executor.NodeSettings{Jar: found[0], Host: "127.0.0.1", Slots: 2, User: h.User})
	if err != nil {
		t.Fatal(err)
	}
	group, err := h.Groups.Group(cgroup.GroupName("app-1", "1"))
	if err != nil {
		t.Fatal(err)
	}
	r := h.New()
	handle, _ := startShell(t, h, r, executor.Spec{App: "app-1", ID: "1", CommandLine: command, Group: group, User: h.User})
	awaitExit(t, r, handle, 2*time.Minute)
	log := string(h.Layout.ReadLog(api.LogRequest{V: api.Version, App: "app-1", Executor: "1", Stream: "stderr"}).Data)
	used, _, err := group.Usage()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("it used %.2f core-seconds", used)
	if !strings.Contains(log, "Connection refused") || strings.Contains(log, "ClassNotFound") || strings.Contains(log, "InaccessibleObject") {
		t.Errorf("it did not come to the connection:\n%s", log)
	}
}
