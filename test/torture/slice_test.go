package torture

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestALostNodeIsLostToItsDriver is a slice of the torture: in mid-run one of two nodes is cut
// off for good, and NATS server, the planner that stands by, node controller and guard of the
// other one are killed; then the planner that serves. The driver gives the lost node's executor
// up soon after the planner has lost the node, not when Spark does, after two minutes; the answer
// is right, and nothing is left.
func TestALostNodeIsLostToItsDriver(t *testing.T) {
	realenv.RequireSpark(t)
	want := wanted(t)
	c := newCluster(t, 2)
	w := newWorld(c)
	a, err := c.submit("app", 0)
	if err != nil {
		t.Fatal(err)
	}
	w.apps = append(w.apps, a)
	gone := c.names[1]
	var victim string
	c.await("tasks on both nodes", realenv.Patience, func() bool {
		log, err := a.log()
		for _, x := range c.executors(gone) {
			if err == nil && slices.ContainsFunc(log.Tasks, func(t eventlog.Task) bool { return string(t.Executor) == x.executor }) {
				victim = x.executor
			}
		}
		return victim != ""
	})
	var cut sync.WaitGroup
	cut.Go(func() {
		f := Fault{Kind: CutNode, For: time.Hour}
		w.ruled(f, gone, []string{"INPUT", "-i", "eth0"}, []string{"OUTPUT", "-o", "eth0"})
	})
	began := time.Now()
	w.killGuard(c.names[0])
	serves, standby := c.serving()
	for _, s := range []*service{c.nats, standby, c.nodes[c.names[0]]} {
		s.signal(syscall.SIGKILL, 0)
	}
	removed := poll(time.Minute, func() bool {
		log, err := a.log()
		return err == nil && log.Executor(api.ExecutorID(victim)).Removed > 0
	})
	if !removed {
		t.Errorf("executor %s is not removed", victim)
	}
	serves.signal(syscall.SIGKILL, 0)
	if !poll(3*time.Minute, func() bool { return !a.running() }) {
		_ = a.run.Stop(grace)
		t.Error("it does not end")
	}
	<-a.run.Done()
	if code, got := exitCode(a.run), realenv.Results(a.run.Answer()); code != 0 || got != want {
		t.Errorf("exit %d, the answer is\n%s\nstock Spark's\n%s", code, got, want)
	}
	if log, err := a.log(); err != nil {
		t.Error(err)
	} else {
		after := time.UnixMilli(log.Executor(api.ExecutorID(victim)).Removed).Sub(began)
		t.Logf("executor %s was removed %v after its node was cut off", victim, after)
		if after < 0 || after > 10*time.Second {
			t.Error("want it to be removed within 10 s, and not after Spark's 2 minutes")
		}
	}
	ended := time.Now()
	// What the lost node still runs ends, as where its machine does, and it comes back.
	for _, p := range c.these(func(p process) bool { return p.node == gone }) {
		kill(p.pid, syscall.SIGKILL)
	}
	close(w.over)
	cut.Wait()
	w.end()
	t.Logf("%v from the cluster's start to the cut, %v until the application ended, %v to the end of all", began.Sub(w.h.began), ended.Sub(began), time.Since(ended))
}
