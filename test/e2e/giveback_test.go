package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// whole is a node that holds one executor.
var whole = []string{"--cores", "0.9", "--memory", "2g"}

// TestAPersonGetsTheNodeThatIsSpare has two nodes that hold one executor each and an application on both, which
// goes on for as long as the test wants. One that a person waits for is given the node that the other can spare,
// and ends before it. That one has lost this executor and no other, no task, and nothing of its answer.
func TestAPersonGetsTheNodeThatIsSpare(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.Beside(t)
	want := realenv.Results(realenv.Stock(t, "testdata/again.py"))
	s := realenv.NewOn(t, realenv.NewNetwork(t, "n1", "n2"))
	s.StartPlanner()
	if code, out := s.Pacer("policy", "set", "flexible-preemptive"); code != 0 {
		t.Fatalf("pacer policy set: exit %d: %s", code, out)
	}
	s.StartNamed("n1", whole...)
	s.StartNamed("n2", whole...)
	enough := filepath.Join(t.TempDir(), "enough")
	long := s.Submit("--pacer-class", "batch", "testdata/again.py", enough)
	for _, node := range []string{"n1", "n2"} {
		if _, _, err := busyOn(s, long, node); err != nil {
			t.Fatal(err)
		}
	}
	first := s.Newest()
	person := s.Submit("--pacer-class", "interactive", "testdata/chain.py", "0.1")
	if code := person.Wait(patience); code != 0 {
		t.Fatalf("the one that a person waits for ended with %d:\n%s", code, person.Output())
	}
	second := s.Newest()
	if state := s.App(first.ID).State; state != api.AppRunning {
		t.Errorf("the long one is %s when the other has ended", state)
	}
	if err := os.WriteFile(enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, long, want)
	t.Logf("the one that a person waited for took %v, the long one %v", person.Took(), long.Took())
	if len(second.Executors) != 1 {
		t.Fatalf("the executors that a person waited for: %+v", second.Executors)
	}
	node, log := second.Executors[0].Node, s.Log(first.ID)
	for _, x := range first.Executors {
		if slices.Contains(log.Removed, x.ID) != (x.Node == node) {
			t.Errorf("executor %s of %s: removed are %v, want that of %s", x.ID, x.Node, log.Removed, node)
		}
	}
	// A task that reads from an executor when that leaves is run again, as in joinAndDrain.
	for _, task := range log.Tasks {
		if !task.OK && task.Reason != "FetchFailed" {
			t.Errorf("a task of stage %d failed on executor %s: %s", task.Stage, task.Executor, task.Reason)
		}
	}
	if said := "gave node " + node + " to " + string(second.ID); !strings.Contains(long.Output(), said) {
		t.Errorf("the long one did not say %q:\n%s", said, long.Output())
	}
}
