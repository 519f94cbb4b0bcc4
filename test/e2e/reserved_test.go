package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// had is the line that says what was reserved for an application, and what it has had between its first and its last task.
var had = regexp.MustCompile(`([0-9.]+) cores were reserved from .* on, and it has had ([0-9.]+)`)

// TestCoresAreReserved has two runs with deadlines teach what deadlines need here. A first run with a deadline, beside
// one without that would take all cores, then has what is reserved for it, by CPU time. Both answers are right,
// and the other one goes on.
func TestCoresAreReserved(t *testing.T) {
	realenv.RequireAll(t)
	want, hogWant := realenv.Results(realenv.Stock(t, "testdata/chain.py", scale)), realenv.Results(realenv.Stock(t, "testdata/again.py"))
	s := realenv.StartUp(t)
	if code, out := s.Pacer("policy", "set", "--admission", "pythia"); code != 0 {
		t.Fatalf("pacer policy set: exit %d: %s", code, out)
	}
	first := func(profile, deadline string, args ...string) *realenv.Process {
		return s.Submit(append([]string{"--conf", "spark.pacer.profile=" + profile, "--pacer-deadline", deadline}, args...)...)
	}
	// By the first, deadlines here need a good part of what they can use. It teaches when it is due, or ends before.
	for _, lesson := range []*realenv.Process{first("lesson-1", "16s", "testdata/chain.py", "1"),
		first("lesson-2", "40s", "testdata/chain.py", "0.1")} {
		if code := lesson.Wait(patience); code != 0 {
			t.Fatalf("a run that teaches ended with %d:\n%s", code, lesson.Output())
		}
	}
	s.Await("both to have taught", patience, func() bool {
		_, out := s.Pacer("policy", "show")
		return strings.Contains(out, "2 runs")
	})
	enough := filepath.Join(t.TempDir(), "enough")
	hog := s.Submit("testdata/again.py", enough)
	beside := awaitTasks(t, s, hog)
	attempt := 0
	realenv.Repeat(t, func() error {
		attempt++
		wantAnswer(t, first(fmt.Sprintf("new-%d", attempt), "60s", "testdata/chain.py", scale), want)
		ended := s.AwaitApp("it to have ended", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
		said := had.FindStringSubmatch(strings.Join(ended.Notices, "\n"))
		if said == nil {
			t.Fatalf("nothing was reserved: %s, %q", ended.Reason, ended.Notices)
		}
		reserved, err1 := strconv.ParseFloat(said[1], 64)
		cores, err2 := strconv.ParseFloat(said[2], 64)
		t.Logf("%s: %v, %v", said[0], err1, err2)
		if cores < 0.85*reserved {
			return realenv.Timing("it has had %.2f cores, and %.2f were reserved", cores, reserved)
		}
		return nil
	})
	if state := s.App(beside.ID).State; state != api.AppRunning {
		t.Errorf("the other one is %s", state)
	}
	if err := os.WriteFile(enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, hog, hogWant)
}
