package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
)

// TestADeadlineTakesWhatBatchWorkIsLent has a node that holds one executor and a batch application on it, which goes on
// for as long as the test wants. One with a deadline registers and needs that memory: its executor starts while the
// batch application lives on without one. That gets another one afterwards, has lost no task by a fault of its own, and
// nothing of its answer.
func TestADeadlineTakesWhatBatchWorkIsLent(t *testing.T) {
	realenv.RequireSpark(t)
	want := realenv.Results(realenv.Stock(t, "testdata/again.py"))
	s := realenv.New(t)
	s.Env = []string{"PACER_PLANNER_LEND=peak", "PACER_TEST_LEND_EVERY=1s"}
	s.StartUp("--memory", "1700m")
	enough := filepath.Join(t.TempDir(), "enough")
	long := s.Submit("--pacer-class", "batch", "testdata/again.py", enough)
	if _, _, err := busyOn(s, long, s.Node); err != nil {
		t.Fatal(err)
	}
	first := s.Newest().ID
	due := s.Submit("--pacer-deadline", "5m", "testdata/chain.py", "0.1")
	if code := due.Wait(patience); code != 0 {
		t.Fatalf("the one with a deadline ended with %d:\n%s", code, due.Output())
	}
	second := s.Newest()
	if state := s.App(first).State; state != api.AppRunning {
		t.Errorf("the batch application is %s when the other has ended", state)
	}
	if len(second.Executors) != 1 {
		t.Errorf("the one with a deadline had %+v", second.Executors)
	}
	if err := os.WriteFile(enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, long, want)
	t.Logf("the one with a deadline took %v, the batch application %v", due.Took(), long.Took())
	log := s.Log(first)
	if len(log.Removed) == 0 || log.Removed[0] != "1" || len(s.App(first).Executors) != 2 {
		t.Errorf("executors %v of the batch application were removed, it had %+v", log.Removed, s.App(first).Executors)
	}
	for _, task := range log.Tasks {
		if !task.OK && !sparklog.WithExecutor(task) {
			t.Errorf("a task of stage %d failed on executor %s: %s", task.Stage, task.Executor, task.Reason)
		}
	}
	if said := "its memory was lent and is taken back"; !strings.Contains(long.Output(), said) {
		t.Errorf("the batch application did not say %q:\n%s", said, long.Output())
	}
}
