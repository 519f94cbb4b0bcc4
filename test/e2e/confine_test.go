package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestExecutorsHaveUsersOfTheirOwn is the story of a root shell without any setting: the JVM and its
// Python workers run as a user of the application's own, with a Spark that may stand where
// only root can go, and leave nothing that others can read.
func TestExecutorsHaveUsersOfTheirOwn(t *testing.T) {
	realenv.RequireSpark(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	realenv.Beside(t)
	s := realenv.New(t)
	s.ExecutorUser = daemon.EachUser // On a machine that is root's alone, too.
	s.UseArchives(daemon.NoArchives)
	s.StartUp("--set", "node.runtime=process")
	salt := filepath.Join(t.TempDir(), "data.zip")
	zipped(t, salt, "salt.txt", "salt")
	run := s.Submit("--pacer-mode", "off", "--py-files", "testdata/toil.py", "--archives", salt+"#data", "testdata/workers.py")
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d: %s", code, run.Output())
	}
	if lines := realenv.Results(run.Answer()); !strings.HasPrefix(lines, "RESULT [(0, ") {
		t.Errorf("it answers %q", lines)
	}
	app := s.AwaitApp("the run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	dir := filepath.Join(s.Dir, "state", "work", "apps", string(app.ID))
	st, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	owner := st.Sys().(*syscall.Stat_t)
	if owner.Uid != 0 || owner.Gid < executor.DefaultUIDs.First || owner.Gid > executor.DefaultUIDs.Last || st.Mode().Perm() != 0o710 {
		t.Errorf("%s is %v of %d:%d", dir, st.Mode(), owner.Uid, owner.Gid)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*", "stderr"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs: %v, %v", logs, err)
	}
	for _, log := range logs {
		st, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		if owner := st.Sys().(*syscall.Stat_t); owner.Uid != owner.Gid || st.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v of %d:%d", log, st.Mode(), owner.Uid, owner.Gid)
		}
	}
	body, err := os.ReadFile(logs[0])
	if want := fmt.Sprintf("pacer-%d", owner.Gid); err != nil || !strings.Contains(string(body), want) {
		t.Errorf("Spark does not know itself as %s: %v", want, err)
	}
}
