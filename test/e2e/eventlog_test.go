package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/fromlog"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/test/realenv"
)

// keepLogs names a directory into which logs and profiles go: they are golden files of package eventlog.
const keepLogs = "PACER_TEST_KEEP_LOGS"

// TestALogIsSignedAsItsRun is the story of a user who has a log of a run and the profile that Pacer has recorded of it:
// both know the same stages.
func TestALogIsSignedAsItsRun(t *testing.T) {
	realenv.RequireAll(t)
	s := realenv.StartUp(t)
	for _, app := range []string{"branches.py", "daily.py", "chain.py"} {
		run := s.Submit("--conf", "spark.eventLog.compress=true", "--conf", "spark.eventLog.compression.codec=zstd",
			filepath.Join("testdata", app), "0.1")
		if code := run.Wait(patience); code != 0 {
			t.Fatalf("%s: exit %d:\n%s", app, code, run.Output())
		}
		ended := s.AwaitApp("the end of "+app, 20*time.Second, func(a api.AppDetail) bool { return a.State == api.AppFinished })
		logs, err := filepath.Glob(filepath.Join(s.Events(), string(ended.ID)+"*"))
		if err != nil || len(logs) != 1 {
			t.Fatalf("%v, %v", logs, err)
		}
		code, shown := s.Pacer("profiles", "show", ended.Profile)
		recorded, err := api.DecodeProfile(strings.NewReader(shown))
		if code != 0 || err != nil {
			t.Fatalf("the profile of %s: exit %d, %v", app, code, err)
		}
		if dir := os.Getenv(keepLogs); dir != "" {
			keep(t, filepath.Join(dir, filepath.Base(logs[0])), logs[0], []byte(shown))
		}
		sources, err := eventlog.Open(logs[0])
		if err != nil {
			t.Fatal(err)
		}
		log, err := eventlog.Read(sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name := fromlog.Name(&log); name != ended.Profile {
			t.Errorf("%s: the log names its profile %q, Pacer %q", app, name, ended.Profile)
		}
		made, _, err := fromlog.Run(&log, ended.Profile, nil)
		if err != nil || len(made.Stages) != len(recorded.Stages) {
			t.Fatalf("%s: %d stages, Pacer recorded %d: %v", app, len(made.Stages), len(recorded.Stages), err)
		}
		for i, want := range recorded.Stages {
			got := made.Stages[i]
			if got.Signature != want.Signature || got.Lineage != want.Lineage {
				t.Errorf("%s: stage %d, %s: %s and %s, the driver says %s and %s", app, i, got.Name, got.Signature, got.Lineage,
					want.Signature, want.Lineage)
			}
			t.Logf("%s: stage %d: %.2f core-seconds (%s), Pacer measured %.2f, factor %.2f", app, i, float64(got.CoreSeconds),
				made.Habit.Stages[i].Sure, float64(want.CoreSeconds), recorded.Habit.Stages[i].Factor)
		}
	}
}

// keep copies a log to a path, and its profile beside it.
func keep(t *testing.T, to, log string, profile []byte) {
	t.Helper()
	body, err := os.ReadFile(log)
	if err == nil {
		err = os.WriteFile(to, body, 0o644)
	}
	if err == nil {
		err = os.WriteFile(to+".json", profile, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
