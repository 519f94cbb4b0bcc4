package e2e

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// TestTrouble has the stories of nodes and of daemons that come and go, one after the
// other: either starts a dozen JVMs, and what a deadline is held to is an application that
// has the machine to itself.
func TestTrouble(t *testing.T) {
	realenv.RequireAll(t)
	realenv.RecordAlone(t, "testdata/branches.py", scale)
	t.Run("nodes", nodesComeAndGo)
	t.Run("restarts", func(t *testing.T) {
		system := realenv.NewBehind
		if os.Getenv(realenv.RuntimeEnv) == "docker" {
			system = realenv.New // Either runtime, and either bus.
		}
		realenv.Repeat(t, func() error { return restarts(t, system(t)) })
	})
}

// busyOn waits until an executor of run's application on the node has registered
// and worked for a stage.
func busyOn(s *realenv.System, run *realenv.Process, node string) (api.AppDetail, api.AppExecutor, error) {
	var found api.AppExecutor
	app, err := s.AwaitWhile(run, "tasks on "+node, func(a api.AppDetail) bool {
		for _, x := range a.Executors {
			if x.Node != node || !x.Registered {
				continue
			}
			for _, stage := range a.Stages {
				for _, sample := range stage.Samples {
					if sample.Executor == x.ID && sample.Used > 0 {
						found = x
						return true
					}
				}
			}
		}
		return false
	})
	return app, found, err
}

// moving is an application that runs on two nodes, of which one comes or goes.
type moving struct {
	t *testing.T
	s *realenv.System
	// took is the time of its recording run, on both cores.
	took units.Seconds
	want string
	// second is the node controller of n2, when it runs.
	second *realenv.Process
}

// half is what each of the two nodes has of the machine.
var half = []string{"--cores", "0.9", "--memory", "4g"}

// nodesComeAndGo paces real Spark over two node controllers in network
// namespaces of their own. While the first application runs, its second node
// joins and its first one drains; while the next runs, a node dies with its
// executors. The answers are stock Spark's, and the deadlines are met.
func nodesComeAndGo(t *testing.T) {
	s := realenv.NewOn(t, realenv.NewNetwork(t, "n1", "n2"))
	s.StartPlanner()
	s.StartNamed("n1", half...)
	recorded, _ := s.Record("testdata/branches.py", scale)
	m := &moving{s: s, took: recorded.Duration, want: realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))}
	t.Run("join and drain", func(t *testing.T) {
		m.t = t
		realenv.Repeat(t, m.joinAndDrain)
	})
	m.awake(t)
	t.Run("loss", func(t *testing.T) {
		m.t = t
		realenv.Repeat(t, m.loss)
	})
}

// submit starts the application. One node is enough for its work, in twice the time of
// the recording run. Starting an executor on each, compiling in it, and that once more
// after a drain or a loss, take half as long again; more is for what else happens.
func (m *moving) submit(more units.Seconds) *realenv.Process {
	deadline := m.took*3 + more
	return m.s.Submit("--pacer-deadline", deadline.Duration().Round(time.Millisecond).String(), "testdata/branches.py", scale)
}

// awake has both nodes take executors again.
func (m *moving) awake(t *testing.T) {
	t.Helper()
	for _, node := range []string{"n1", "n2"} {
		if code, out := m.s.Pacer("nodes", "undrain", node); code != 0 {
			t.Fatalf("undrain: exit %d: %s", code, out)
		}
	}
}

// met returns how the application was not held to its deadline.
func (m *moving) met(app api.AppID) error {
	ended := m.s.AwaitApp("the end", patience, func(a api.AppDetail) bool { return a.ID == app && a.State == api.AppFinished })
	if err := realenv.Held(ended); err != nil {
		return err
	}
	m.t.Logf("deadline %v, error %.2f %%", ended.Deadline, *ended.ErrorPct)
	return nil
}

func (m *moving) joinAndDrain() error {
	if m.second != nil { // Once more: from the beginning.
		m.awake(m.t)
		m.second.Stop()
		m.s.Await("n2 to be gone", patience, func() bool { return m.s.Nodes()["n2"].State != "ready" })
		m.second = nil
	}
	run := m.submit(60) // A node sleeps only with twice its drain to spare.
	if _, _, err := busyOn(m.s, run, "n1"); err != nil {
		return err
	}
	m.second = m.s.StartNamed("n2", half...)
	app, _, err := busyOn(m.s, run, "n2")
	if err != nil {
		return err
	}
	node, err := m.consolidate(run)
	if err != nil {
		return err
	}
	began := time.Now()
	m.s.Await(node+" to be empty", patience, func() bool {
		n := m.s.Nodes()[node]
		return n.State == "asleep" && n.Executors == 0
	})
	m.t.Logf("%s was empty after %v", node, time.Since(began))
	state := m.s.App(app.ID).State
	wantAnswer(m.t, run, m.want)
	if state != api.AppRunning {
		return realenv.Timing("the application was %s before the node was empty: the test shows nothing", state)
	}
	err = m.met(app.ID)
	log := m.s.Log(app.ID)
	for _, x := range m.s.App(app.ID).Executors {
		if slices.Contains(log.Removed, x.ID) != (x.Node == node) {
			m.t.Errorf("executor %s of %s: removed are %v, want those of %s to leave and the others to stay", x.ID, x.Node, log.Removed, node)
		}
	}
	// A task that reads from an executor when that leaves is run again: Spark tells no
	// running task where its blocks have gone (SPARK-44635).
	for _, task := range log.Tasks {
		if !task.OK && task.Reason != "FetchFailed" {
			m.t.Errorf("a task of stage %d failed on executor %s: %s", task.Stage, task.Executor, task.Reason)
		}
	}
	return err
}

// consolidate has the least used node sleep as soon as its executor, which has only started, needs no more than the
// other one has to spare.
func (m *moving) consolidate(run *realenv.Process) (node string, err error) {
	_, err = m.s.AwaitWhile(run, "a node to sleep", func(api.AppDetail) bool {
		code, out := m.s.Pacer("nodes", "consolidate", "--apply")
		if code != 0 {
			m.t.Fatalf("consolidate: exit %d: %s", code, out)
		}
		m.t.Log(strings.TrimSpace(out))
		said := strings.Contains(out, "drains and sleeps")
		if said {
			node = strings.Fields(out)[1]
		}
		return said
	})
	return node, err
}

func (m *moving) loss() error {
	run := m.submit(0)
	if _, _, err := busyOn(m.s, run, "n1"); err != nil {
		return err
	}
	app, victim, err := busyOn(m.s, run, "n2")
	if err != nil {
		return err
	}
	var lost []int
	for _, x := range app.Executors {
		if x.Node == victim.Node {
			lost = append(lost, executorPID(m.t, m.s, app.ID, x.ID))
		}
	}
	m.second.Signal(syscall.SIGKILL)
	for _, pid := range lost {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			m.t.Fatal(err)
		}
	}
	wantAnswer(m.t, run, m.want)
	log := m.s.Log(app.ID)
	if !slices.Contains(log.Removed, victim.ID) {
		m.t.Errorf("executors removed %v, want %s", log.Removed, victim.ID)
	}
	err = m.met(app.ID)
	m.s.Await("n2 to be lost", patience, func() bool { return m.s.Nodes()["n2"].State == "lost" })
	m.second = m.s.StartNamed("n2", half...)
	if n := m.s.Nodes()["n2"]; n.State != "ready" || n.Executors != 0 {
		m.t.Errorf("n2 came back as %+v", n)
	}
	return err
}
