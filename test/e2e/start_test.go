package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestClassDataArchive has an idle node controller make the archive of its Spark,
// one file. `make test` runs it beside other packages' tests first, so that nothing
// waits for it; TestModeObserve shows that the archive is used.
func TestClassDataArchive(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.BeginArchives(t)
	realenv.Stock(t, "testdata/branches.py", scale) // What others want, while the node waits for quiet.
	archiveIn(t, realenv.New(t))
}

// archiveIn returns the one archive that a system's applications use.
func archiveIn(t *testing.T, s *realenv.System) string {
	t.Helper()
	made, err := filepath.Glob(filepath.Join(s.ArchiveDir(), "*.jsa"))
	if err != nil || len(made) != 1 {
		t.Fatalf("archives %v, %v, want one", made, err)
	}
	return made[0]
}

// usesArchive holds the executors and the driver of a running application to the
// archive: they map it.
func usesArchive(t *testing.T, s *realenv.System, run *realenv.Process, app api.AppDetail) {
	t.Helper()
	archive := archiveIn(t, s)
	if pid := executorPID(t, s, app.ID, app.Executors[0].ID); !maps(t, pid, archive) {
		t.Errorf("the executor does not map %s", archive)
	}
	driver := false
	for _, pid := range driverPIDs(t, run.PID()) {
		driver = driver || maps(t, pid, archive)
	}
	if !driver {
		t.Errorf("the driver does not map %s", archive)
	}
}

// archiveUnsaid reads the logs of an executor that has ended: they say nothing of
// an archive.
func archiveUnsaid(t *testing.T, s *realenv.System, app api.AppDetail) {
	t.Helper()
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
