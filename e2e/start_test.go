package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/internal/realenv"
)

// TestClassDataArchive has the archive that an idle node controller has made of
// its Spark: the executor and the driver of an application map it, the executor's
// log says nothing of it, and the answer is stock Spark's.
func TestClassDataArchive(t *testing.T) {
	realenv.RequireSpark(t)
	if testing.Short() {
		t.Skip("-short makes no archives")
	}
	t.Parallel()
	want := results(realenv.Stock(t, "testdata/branches.py", scale()))
	s := realenv.StartUp(t)
	made, err := filepath.Glob(filepath.Join(s.ArchiveDir(), "*.jsa"))
	if err != nil || len(made) != 1 {
		t.Fatalf("archives %v, %v, want one", made, err)
	}
	run := s.Submit("testdata/branches.py", scale())
	app := awaitTasks(t, s)
	if pid := executorPID(t, s, app.ID, app.Executors[0].ID); !maps(t, pid, made[0]) {
		t.Errorf("the executor does not map %s", made[0])
	}
	driver := false
	for _, pid := range driverPIDs(t, run.PID()) {
		driver = driver || maps(t, pid, made[0])
	}
	if !driver {
		t.Errorf("the driver does not map %s", made[0])
	}
	wantAnswer(t, run, want)
	for _, stream := range []string{"stdout", "stderr"} {
		body, err := os.ReadFile(filepath.Join(s.Dir, "state", "work", "apps", string(app.ID), string(app.Executors[0].ID), stream))
		if err != nil || strings.Contains(string(body), "cds") || strings.Contains(string(body), ".jsa") {
			t.Errorf("the executor's %s (%v) speaks of the archive:\n%s", stream, err, body)
		}
	}
}

// maps reports whether a process has mapped a file; one that has ended has not.
func maps(t *testing.T, pid int, file string) bool {
	t.Helper()
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil && !os.IsNotExist(err) && !strings.Contains(err.Error(), "no such process") {
		t.Fatal(err)
	}
	return strings.Contains(string(body), file)
}
