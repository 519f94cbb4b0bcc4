package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// tree makes files, and directories where a name ends with a slash.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		} else {
			err = errors.Join(err, os.WriteFile(path, nil, 0o755))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func mounted(mounts []Mount, path string) string {
	for _, m := range mounts {
		if m.Path == path && m.Writable {
			return "rw"
		}
		if m.Path == path || within(path, m.Path) {
			return "ro"
		}
	}
	return ""
}

func TestHostImageSeesWhatTheCommandLineNames(t *testing.T) {
	root := tree(t, "venv/pyvenv.cfg", "venv/bin/pip", "pyenv/3.11/bin/python3.11", "conda/bin/python3", "venv/lib/pyspark/jars/core.jar", "jdk/bin/java", "pacer/pacer.jar",
		"user/lib/first.jar", "archive/spark.jsa", "tools/bin/", "data/", "secret/", "apps/app-1/local/", "apps/app-1/1/")
	if err := os.Symlink(filepath.Join(root, "jdk"), filepath.Join(root, "default-java")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "pyenv/3.11/bin/python3.11"), filepath.Join(root, "venv/bin/python3")); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	s := executor.Spec{CommandLine: executor.CommandLine{
		Args: []string{at("default-java/bin/java"), "-XX:SharedArchiveFile=" + at("archive/spark.jsa"), "-cp",
			at("pacer/pacer.jar") + ":" + at("user/lib/*") + ":" + at("venv/lib/pyspark/jars/*") + ":/no/such.jar"},
		Env: []string{"SPARK_HOME=" + at("venv/lib/pyspark"), "JAVA_HOME=" + at("default-java"), "PATH=" + at("tools/bin") + ":relative:" + at("conda/bin") + ":",
			"PYSPARK_PYTHON=python3"},
		Reads: []string{at("default-java/bin/java"), at("venv/lib/pyspark/jars"), at("pacer/pacer.jar")},
	}}
	paths := executor.Paths{Dir: at("apps/app-1/1"), Local: at("apps/app-1/local")}
	mounts := hostMounts(s, paths, []Mount{{Path: at("data")}})
	for path, want := range map[string]string{
		"/usr": "ro", "/etc": "ro", "/usr/bin": "ro",
		at("venv/bin/python3"): "ro", at("pyenv/3.11"): "ro", at("pyenv"): "", at("conda"): "ro", at("jdk"): "ro", at("default-java"): "ro", at("pacer"): "ro", at("user/lib"): "ro", at("archive"): "ro",
		at("tools/bin"): "ro", at("data"): "ro", at("apps/app-1/1"): "rw", at("apps/app-1/local"): "rw",
		at("secret"): "", root: "", "/": "", "/root": "", "/home": "",
	} {
		if got := mounted(mounts, path); got != want {
			t.Errorf("%s is mounted %q, want %q", path, got, want)
		}
	}
	seen := map[string]bool{}
	for _, m := range mounts {
		if seen[m.Path] {
			t.Errorf("%s is mounted twice", m.Path)
		}
		seen[m.Path] = true
	}
}

func TestOwnImageSeesItsOwnFilesOnly(t *testing.T) {
	root := tree(t, "pacer/pacer.jar", "apps/app-1/local/", "apps/app-1/1/", "out/")
	paths := executor.Paths{Dir: filepath.Join(root, "apps/app-1/1"), Local: filepath.Join(root, "apps/app-1/local")}
	s := executor.Spec{CommandLine: executor.CommandLine{Image: "spark:4", Env: []string{"PATH=/usr/bin"}, Reads: []string{filepath.Join(root, "pacer/pacer.jar")}}}
	want := []Mount{{Path: paths.Dir, Writable: true}, {Path: paths.Local, Writable: true}, {Path: filepath.Join(root, "out"), Writable: true},
		{Path: filepath.Join(root, "pacer")}}
	if diff := cmp.Diff(want, imageMounts(s, paths, []Mount{{Path: filepath.Join(root, "out"), Writable: true}}), cmpopts.EquateComparable(Mount{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseMounts(t *testing.T) {
	got, err := ParseMounts("/data, /results/:rw /x:ro")
	if diff := cmp.Diff([]Mount{{Path: "/data"}, {Path: "/results", Writable: true}, {Path: "/x"}}, got, cmpopts.EquateComparable(Mount{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, bad := range []string{"data", "/", "/data:wo", "/..", "ok,/:rw"} {
		if _, err := ParseMounts(bad); err == nil || !strings.Contains(err.Error(), "want an absolute path") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if got, err := ParseMounts(""); err != nil || got != nil {
		t.Errorf("nothing is %v, %v", got, err)
	}
}

func TestMountThatDoesNotExist(t *testing.T) {
	if _, err := binds([]Mount{{Path: "/usr"}, {Path: "/no/such"}, {Path: "/none"}}); err == nil ||
		err.Error() != "mount /no/such does not exist on this node\nmount /none does not exist on this node" {
		t.Errorf("error %v", err)
	}
}

// Every way in which a container ends has a line of its own.
func TestVerdict(t *testing.T) {
	gone := api.Errorf(api.KindTransient, "the Docker daemon is gone")
	for want, got := range map[string]executor.Status{
		"exit status 0":       verdict(ended{}, nil, false, 7, 7),
		"exit status 1":       verdict(ended{code: 1}, nil, false, 7, 7),
		"killed by signal 15": verdict(ended{code: 143}, nil, true, 7, 7),
		"killed by signal 9":  verdict(ended{code: 137}, nil, true, 7, 0),
		"killed by the kernel: it took more than its 1400m of memory (heap, overhead and off-heap)": verdict(ended{code: 137, oom: true,
			limit: 1400 * units.MiB}, nil, false, 7, 7),
		"killed by signal 9 from outside, not by Pacer":                   verdict(ended{code: 137}, nil, false, 7, 7),
		"killed by signal 9 with a restart of the Docker daemon":          verdict(ended{code: 137}, nil, false, 7, 8),
		"killed by signal 15 with the Docker daemon, which is gone":       verdict(ended{code: 143}, nil, false, 7, 0),
		"killed by signal 9 while no node controller watched":             verdict(ended{code: 137}, nil, false, 0, 8),
		"ended while the Docker daemon was gone":                          verdict(ended{}, gone, false, 7, 0),
		"ended: its container was removed from outside":                   verdict(ended{}, missing{}, false, 7, 7),
		"ended, and Docker does not say how: " + context.Canceled.Error(): verdict(ended{}, context.Canceled, false, 7, 7),
	} {
		if got.Exit != want || got.State != api.ExecutorExited {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	if got := verdict(ended{oom: true}, nil, false, 7, 7); got.Exit != "exit status 0" {
		t.Errorf("a child of it was killed: %+v", got)
	}
	if got := verdict(ended{}, context.DeadlineExceeded, false, 7, 7); got.Exit != "ended while the Docker daemon was gone" {
		t.Errorf("a daemon that hangs: %+v", got)
	}
	for _, err := range []error{gone, missing{}, context.Canceled} {
		if got := verdict(ended{}, err, false, 7, 7); got.ExitCode != api.Unknown {
			t.Errorf("%v: exit code %d", err, got.ExitCode)
		}
	}
}

type missing struct{}

func (missing) Error() string { return "No such container" }
func (missing) NotFound()     {}

func TestRuntimeErrorsAreShortened(t *testing.T) {
	long := errors.New("Error response from daemon: failed to create task for container: failed to create shim task: " +
		"OCI runtime create failed: runc create failed: unable to start container process: exec: \"/bin/sh\": stat /bin/sh: no such file or directory: unknown")
	want := `unable to start container process: exec: "/bin/sh": stat /bin/sh: no such file or directory`
	if got := shortened(long).Error(); got != want {
		t.Errorf("got %q", got)
	}
}

// What a command line names is mounted only if the executor's user can reach it outside; what
// the node shows is mounted in any case.
func TestAContainerSeesNoMoreThanItsUserMay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	hidden := t.TempDir() // Its parent is root's alone.
	open, err := os.MkdirTemp("", "pacer-docker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	s := executor.Spec{User: executor.Credential{Name: "x", UID: 4242, GID: 4242}, CommandLine: executor.CommandLine{
		Args: []string{"/bin/java", "-cp", hidden + ":" + open, "Main"},
		Env:  []string{"SPARK_HOME=" + hidden, "PYSPARK_PYTHON=" + hidden + "/bin/python", "PATH=" + hidden},
	}}
	seen := func(path string) bool {
		mounts := hostMounts(s, executor.Paths{Dir: "/d", Local: "/l"}, nil)
		return slices.ContainsFunc(mounts, func(m Mount) bool { return m.Path == path })
	}
	if seen(hidden) || !seen(open) {
		t.Errorf("%s: %v, %s: %v", hidden, seen(hidden), open, seen(open))
	}
	s.Shows = []string{hidden}
	if !seen(hidden) {
		t.Errorf("%s, which the node shows, is not seen", hidden)
	}
}
