package e2e

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestTheSecondOneWaits has a node whose memory holds one executor: the second application
// is queued, told so, started when the first one ends, and ends well; a third one that waits
// is killed, and its driver ends with a line that says so.
func TestTheSecondOneWaits(t *testing.T) {
	realenv.RequireAll(t)
	s := realenv.StartUp(t, "--set", "node.memory=2g")
	first := s.Submit("--name", "first", "testdata/branches.py", "1")
	s.AwaitApp("the first one runs", realenv.Patience, func(a api.AppDetail) bool { return a.State == api.AppRunning })
	refused := s.Submit("--pacer-no-wait", "--name", "refused", "testdata/branches.py", "1")
	if code := refused.Wait(realenv.Patience); code == 0 || !strings.Contains(refused.Output(), "would fit") {
		t.Errorf("one that does not want to wait ended with %d:\n%s", code, refused.Output())
	}
	second := s.Submit("--name", "second", "testdata/branches.py", "1")
	second.Await("pacer: queued at place 1 of 1", realenv.Patience)
	two := s.Newest()
	if two.State != api.AppQueued || two.Queue == nil || two.Queue.Place != 1 || len(two.Executors) != 0 {
		t.Errorf("the second one: %+v", two.AppSummary)
	}
	third := s.Submit("--name", "third", "testdata/branches.py", "1")
	third.Await("pacer: queued at place 2 of 2", realenv.Patience)
	if code, out := s.Pacer("apps", "kill", string(s.Newest().ID)); code != 0 {
		t.Errorf("kill: %d, %s", code, out)
	}
	if code := third.Wait(realenv.Patience); code == 0 || !strings.Contains(third.Output(), "killed by ") {
		t.Errorf("the killed one ended with %d:\n%s", code, third.Output())
	}
	if code := first.Wait(realenv.Patience); code != 0 {
		t.Fatalf("the first one ended with %d:\n%s", code, first.Output())
	}
	if code := second.Wait(realenv.Patience); code != 0 || !strings.Contains(second.Output(), "pacer: started after ") {
		t.Fatalf("the second one ended with %d:\n%s", code, second.Output())
	}
	if a := s.App(two.ID); a.State != api.AppFinished && a.State != api.AppEnding {
		t.Errorf("the second one in the end: %+v", a.AppSummary)
	}
}
