package field

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/realenv"
)

// bare makes a machine as a bare container is one: nothing resolves its name, loopback has its only address, and root
// is its only user. Its argument is a directory with what the machine says of users.
const bare = `hostname c0ffee7f3a && ip link set lo up && mount --bind "$0/passwd" /etc/passwd && touch /etc/nsswitch.conf &&
	mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf && echo ready && exec sleep infinity`

// hardened is a Pacer on such a machine, where all is started under a mask, with a state directory that a mask of 077
// has closed. Spark's users are told to give their drivers an address there.
func hardened(t *testing.T, mask, executorUser string) *realenv.System {
	t.Helper()
	dir := directory(t, map[string]string{
		"passwd":        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
	})
	machine := realenv.Start(t, nil, "unshare", "--uts", "--net", "--mount", "sh", "-c", bare, dir)
	machine.Await("ready", realenv.Patience)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := realenv.New(t)
	if err := os.Mkdir(filepath.Join(s.Dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.ExecutorUser, s.Env = executorUser, []string{"SPARK_LOCAL_IP=127.0.0.1"}
	s.Inside = []string{"nsenter", "--target", strconv.Itoa(machine.PID()), "--uts", "--net", "--mount", "--",
		"sh", "-c", `cd "$0" && umask ` + mask + ` && exec env -u SUDO_USER "$@"`, here}
	s.StartUp()
	return s
}

// directory is one with files.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// belowHome makes a Python environment below the home of the user, of which executors of another user see nothing by
// themselves.
func belowHome(t *testing.T, how string) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(home, ".field-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	environment := filepath.Join(dir, "environment")
	if out, err := exec.Command(os.Getenv("PYSPARK_PYTHON"), "-m", "venv", "--without-pip", how, environment).CombinedOutput(); err != nil {
		t.Fatalf("make a Python environment: %v: %s", err, out)
	}
	return environment
}

// told holds a run to have told a line with text, once.
func told(t *testing.T, run *realenv.Process, text string) {
	t.Helper()
	n := 0
	for line := range strings.Lines(run.Output()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d lines tell %q", n, text)
	}
}

// called is the newest application of a name.
func called(t *testing.T, s *realenv.System, name string) (found api.AppDetail) {
	t.Helper()
	for _, a := range s.Apps() {
		if a.Name == name && a.ID > found.ID {
			found.AppSummary = a
		}
	}
	if found.ID == "" {
		t.Fatalf("no application is called %q", name)
	}
	return s.App(found.ID)
}

// The first minute of somebody with a hardened machine: nothing there is what Pacer takes for granted, and what the
// line says of the run is so at once.
func TestAFirstRunOnAHardenedMachine(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.Beside(t)
	want := stock(t, script("nameless.py"))
	s := hardened(t, "027", daemon.EachUser)
	run := s.Submit(append(program{"--name", "field first"}, script("nameless.py")...)...)
	want.wants(t, run)
	told(t, run, "recorded profile field first")
	for _, c := range []struct {
		ask  []string
		says string
	}{
		{[]string{"plan", "--profile", "field first", "--deadline", "1h"}, "feasible"},
		{[]string{"profiles", "show", "field first"}, "field first"},
		{[]string{"profiles", "list"}, "field first"},
		{[]string{"report"}, "field first"},
	} {
		if code, out := s.Pacer(c.ask...); code != 0 || !strings.Contains(out, c.says) {
			t.Errorf("pacer %s knows nothing of it: exit %d: %s", strings.Join(c.ask, " "), code, out)
		}
	}
}

// Where root is alone its executors are root, and save a model where only root may write.
func TestRootAloneSavesAModel(t *testing.T) {
	realenv.RequireAll(t)
	want := stock(t, script("saves.py", filepath.Join(t.TempDir(), "stock")))
	s := hardened(t, "077", "")
	told(t, s.Up, "executors run as root, for nobody else can log in")
	model := filepath.Join(t.TempDir(), "model")
	want.wants(t, s.Submit(script("saves.py", model)...))
	for n := range 4 {
		st, err := os.Stat(filepath.Join(model, fmt.Sprintf("part-%05d", n)))
		if err != nil {
			t.Fatal(err)
		}
		if owner := st.Sys().(*syscall.Stat_t).Uid; owner != 0 {
			t.Errorf("%s is of user %d", st.Name(), owner)
		}
	}
}
