package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestWorkDirectoryFull fills the disk under the executors' directory: in mid-run
// the application ends with Spark's own error, before it with one that says why
// no executor comes; the daemons live on and the next run is as good as any.
func TestWorkDirectoryFull(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	work := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	// The application's files take 2 to 4 MiB. The node ends an application that has a tenth of what
	// is used; this one is to meet Spark's own error.
	if err := syscall.Mount("pacer-e2e", work, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(work, 0); err != nil {
			t.Error(err)
		}
	})
	s := realenv.StartUp(t, "--set", "node.work="+work)
	t.Cleanup(s.Up.Stop) // Before the disk goes.

	run := s.Submit("testdata/branches.py", scale)
	awaitTasks(t, s, run)
	fillers := []string{fill(t, work, "1")}
	if code := run.Wait(patience); code != 1 || !strings.Contains(run.Output(), "No space left on device") {
		t.Errorf("exit %d, want Spark's own error", code)
	}
	s.AwaitApp("the application to end", patience, func(a api.AppDetail) bool { return a.State != api.AppRunning })

	s.Await("its files to be removed", patience, func() bool {
		left, err := filepath.Glob(filepath.Join(work, "apps", "*", "local"))
		return err == nil && len(left) == 0
	})
	fillers = append(fillers, fill(t, work, "2"))
	run = s.Submit("testdata/branches.py", "1")
	if code := run.Wait(patience); code == 0 {
		t.Error("it ran without a disk")
	}
	said := func(line string) bool {
		return strings.HasPrefix(line, "pacer: ") && strings.Contains(line, "no more are started") && strings.Contains(line, "no space left on device")
	}
	lines := strings.Split(run.Output(), "\n")
	if first := slices.IndexFunc(lines, said); first < 0 || slices.ContainsFunc(lines[first+1:], said) {
		t.Error("want one line that says why no executor comes")
	}

	for _, filler := range fillers {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	run = s.Submit("testdata/branches.py", "0.2")
	if code := run.Wait(patience); code != 0 || realenv.Results(run.Answer()) == "" {
		t.Errorf("with room again: exit %d", code)
	}
}

// fill takes what is left of a small disk.
func fill(t *testing.T, dir, name string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "filler-"+name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return path
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
