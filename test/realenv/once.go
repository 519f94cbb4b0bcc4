package realenv

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// oldestEnv has the settings, one a line, of an environment with the oldest Spark
// that Pacer works with, as scripts/on-spark.sh makes it. `make test` sets it.
const oldestEnv = "PACER_TEST_OLDEST"

// madeEnv names a directory in which binaries, archives and stock Spark's answers stay for other
// processes, for `make test` has several. It is the caller's to delete, and has one process at a
// time make archives.
const madeEnv = "PACER_TEST_MADE"

// What takes long to make and is the same for all tests is made once a process.
// Remove deletes it. Tests side by side wait for what another makes.
var (
	made     = sync.OnceValues(makeRoom)
	binaries = sync.OnceValues(build)
	archives struct {
		begin, end sync.Once
		dir        string
		by         *System
	}
	making   sync.Mutex // Guards recorded.
	recorded = map[string]recording{}
)

type recording struct {
	app             api.AppDetail
	answer, profile string
}

// makeRoom returns the directory for what is made: that of madeEnv, else a new one.
func makeRoom() (string, error) {
	if dir := os.Getenv(madeEnv); dir != "" {
		return dir, nil
	}
	return os.MkdirTemp("", "pacer-made-")
}

func build() (string, error) {
	room, err := made()
	if err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(room, "bin.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	kept := filepath.Join(room, "bin")
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	dir, err := os.MkdirTemp(room, "pacer-bin-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir+"/", "github.com/sparkpacer/pacer/cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binaries: %w: %s", err, out)
	}
	return kept, os.Rename(dir, kept) // Whole or not at all.
}

// Binary returns the path of a freshly built command: "pacer", "planner" or
// "nodecontroller".
func Binary(t testing.TB, name string) string {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// Remove deletes what was made for all tests of the process; for TestMain.
func Remove() {
	if os.Getenv(madeEnv) != "" {
		return
	}
	if room, err := made(); err == nil {
		os.RemoveAll(room)
	}
}

// Main runs the tests of a package of stories, and removes what was made for all of them.
func Main(m *testing.M) {
	DefaultSignals()
	code := m.Run()
	if os.Getenv("PACER_TEST_SPARK") != "" {
		Remove()
	}
	os.Exit(code)
}

// BeginArchives has an idle `pacer up` begin to make the archive of the
// environment's Spark: it waits for quiet, then works behind all else. The first
// System to start waits until it is made.
func BeginArchives(t testing.TB) {
	t.Helper()
	archives.begin.Do(func() {
		room, err := made()
		if err != nil {
			t.Fatal(err)
		}
		archives.dir = filepath.Join(room, "archives")
		if kept, err := filepath.Glob(filepath.Join(archives.dir, "*.jsa")); err != nil || len(kept) > 0 {
			return
		}
		archives.by = New(t)
		archives.by.archives = archives.dir
		archives.by.StartUp()
	})
}

// sharedArchives is a directory with the archive of the environment's Spark, as
// an idle `pacer up` makes it.
func sharedArchives(t testing.TB) string {
	t.Helper()
	BeginArchives(t)
	archives.end.Do(func() {
		if archives.by == nil {
			return
		}
		// Behind all else, which may be every other test of the machine.
		archives.by.Up.Await("class-data archive made", 15*time.Minute)
		archives.by.Up.Stop()
	})
	return archives.dir
}

// Stock returns what a script prints on its standard output on stock Spark
// without Pacer, where it ends well. The same script with the same arguments is run once.
func Stock(t testing.TB, args ...string) string {
	t.Helper()
	answer, code := StockExit(t, nil, args...)
	if code != 0 {
		t.Fatalf("stock spark-submit: exit %d", code)
	}
	return answer
}

// StockExit is Stock of a script that may fail, with more environment, and with its exit code.
func StockExit(t testing.TB, env []string, args ...string) (answer string, code int) {
	t.Helper()
	room, err := made()
	dir, failed := os.Getwd()
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	command := append([]string{filepath.Join(SparkHome(t), "bin", "spark-submit"), "--master", "local[2]", "--conf",
		"spark.ui.enabled=false"}, args...)
	kept := filepath.Join(room, fmt.Sprintf("stock-%x.json",
		sha256.Sum256([]byte(strings.Join(slices.Concat(env, command, []string{dir}), "\x00")))))
	var ended struct {
		Answer string
		Code   int
	}
	if body, err := os.ReadFile(kept); err == nil {
		if err := json.Unmarshal(body, &ended); err != nil {
			t.Fatalf("%s: %v", kept, err)
		}
		return ended.Answer, ended.Code
	}
	run := Start(t, append([]string{"SPARK_SUBMIT_OPTS="}, env...), command[0], command[1:]...) // This driver computes.
	if ended.Code, ended.Answer = run.Wait(Patience), run.Answer(); ended.Code != 0 {
		t.Logf("stock spark-submit: exit %d: %s", ended.Code, run.LastWords())
	}
	body, err := json.Marshal(ended)
	if err == nil {
		err = os.WriteFile(kept, body, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ended.Answer, ended.Code
}

// RecordAlone records a script with its arguments for Record, on a system of its own with the
// machine to itself, unless an earlier test has.
func RecordAlone(t testing.TB, args ...string) {
	t.Helper()
	making.Lock()
	_, done := recorded[strings.Join(args, "\x00")]
	making.Unlock()
	if done {
		return
	}
	s := StartUp(t)
	s.Record(args...)
	s.Up.Stop()
}

// Record makes s know the profile of a script with its arguments. It returns the
// run that recorded it, one of this system or of an earlier one of the process,
// and what that printed on its standard output.
func (s *System) Record(args ...string) (api.AppDetail, string) {
	s.t.Helper()
	making.Lock()
	defer making.Unlock()
	key := strings.Join(args, "\x00")
	if r, ok := recorded[key]; ok {
		file := filepath.Join(s.t.TempDir(), "profile.json")
		if err := os.WriteFile(file, []byte(r.profile), 0o600); err != nil {
			s.t.Fatal(err)
		}
		if code, out := s.Pacer("profiles", "put", file); code != 0 {
			s.t.Fatalf("pacer profiles put: exit %d: %s", code, out)
		}
		return r.app, r.answer
	}
	run := s.Submit(args...)
	if code := run.Wait(Patience); code != 0 {
		s.t.Fatalf("recording run: exit %d", code)
	}
	app := s.AwaitApp("the recording run to be finished", Patience, func(a api.AppDetail) bool {
		return a.State == api.AppFinished
	})
	var profile string
	// It is recorded when the exit code is known, a moment after the end.
	s.Await("the profile "+app.Name, Patience, func() (there bool) {
		var code int
		code, profile = s.Pacer("profiles", "show", app.Name)
		return code == 0
	})
	recorded[key] = recording{app, run.Answer(), profile}
	return app, run.Answer()
}
