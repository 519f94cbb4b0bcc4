package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/memory/forecast"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// driverOf is a submission in cluster mode: a driver of so much memory for an application.
func driverOf(name string, memory units.Bytes) (api.RegisterRequest, api.ControlRequest) {
	r := registration(name, 0)
	submitted := r
	submitted.Launch.DriverURL = ""
	return r, api.ControlRequest{Query: &api.Query{Submit: &api.Submit{Register: &submitted,
		Driver: &api.Component{Name: api.DriverName, Class: api.ComponentCore, Cores: 1, Memory: memory, Command: []string{"app.py"}}}}}
}

// submit has a driver taken, or refused.
func (w *world) submit(q api.ControlRequest) (api.AppID, error) {
	w.Helper()
	r := w.control(api.VerbSubmit, q)
	if r.Error != nil {
		return "", r.Error
	}
	return r.Apps[0].ID, nil
}

// driver has a node say how an application's driver stands.
func (w *world) driver(node string, id api.AppID, state api.ExecutorState, code int) {
	w.Helper()
	s := w.status(node)
	s.Executors = []api.ExecutorStatus{{App: id, ID: api.DriverName, State: state, ExitCode: code, PID: 7}}
	if state == api.ExecutorExited {
		s.Executors[0].Exit = fmt.Sprintf("exit status %d", code)
	}
	w.step(planner.Status{Status: &s})
}

// where is the node whose Plan has the application's driver, "" for none, and how many executors Plans have of it.
func (w *world) where(id api.AppID) (driver string, executors int) {
	for node, p := range w.plans {
		for _, a := range p.Apps {
			for _, x := range a.Executors {
				switch {
				case a.ID != id:
				case x.Component():
					driver = node
				default:
					executors++
				}
			}
		}
	}
	return driver, executors
}

// A driver is a node's to start: the application is in the queue, and has its verdict, before it runs. It registers as the
// application, which ends with its exit code; a planner that is killed at any moment goes on with it.
func TestADriverOnANode(t *testing.T) {
	for _, killed := range []string{"never", "when it is taken", "when it runs", "when it has registered"} {
		w := newWorld(t, "a", "b")
		restart := func(now string) {
			if now == killed {
				w.restart()
				w.hello("a")
				w.hello("b")
			}
		}
		r, q := driverOf("p", units.GiB)
		id, err := w.submit(q)
		if err != nil {
			t.Fatal(err)
		}
		restart("when it is taken")
		if again, err := w.submit(q); err != nil || again != id {
			t.Errorf("killed %s: submitted twice it is %s, %v", killed, again, err)
		}
		node, executors := w.where(id)
		if node == "" || executors != 0 {
			t.Fatalf("killed %s: the driver starts on %q, beside %d executors", killed, node, executors)
		}
		w.live(2 * time.Minute) // A driver takes long to start, and nobody takes it for lost while its node is there.
		w.driver(node, id, api.ExecutorRunning, api.Unknown)
		restart("when it runs")
		r.Name, r.Key, r.Elapsed = "as its program says", "", 121
		reply := w.register(r)
		if reply.Error != nil || reply.AppID != id {
			t.Fatalf("killed %s: it registers as %s: %v", killed, reply.AppID, reply.Error)
		}
		restart("when it has registered")
		w.register(r)
		if _, executors := w.where(id); executors != 2 || w.app(id).Name != r.Name {
			t.Errorf("killed %s: %d executors run of %q", killed, executors, w.app(id).Name)
		}
		w.driver(node, id, api.ExecutorExited, 3)
		if a := w.app(id); a.State != api.AppFailed || a.ExitCode != 3 || a.EndedBy != api.EndedByExit {
			t.Errorf("killed %s: it ended as %s with code %d by %s", killed, a.State, a.ExitCode, a.EndedBy)
		}
		if node, executors := w.where(id); node != "" || executors != 0 {
			t.Errorf("killed %s: %d executors and a driver on %q run on", killed, executors, node)
		}
	}
}

// A driver and executors start, or nothing does: 20 drivers where there is memory for three all end, one after the other.
func TestDriversDoNotHoldWhatTheyWaitFor(t *testing.T) {
	w := newWorld(t, "a")
	w.memory["a"] = 10 * units.GiB
	w.hello("a")
	var waiting []api.AppID
	for i := range 20 {
		_, q := driverOf(fmt.Sprintf("p%d", i), 1500*units.MiB)
		q.Query.Submit.Register.Launch.OffHeapFixed = true
		id, err := w.submit(q)
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, id)
	}
	ended := 0
	for range 60 {
		for _, id := range waiting {
			a := w.app(id)
			node, executors := w.where(id)
			switch {
			case a.State == api.AppQueued && (node != "" || executors > 0):
				t.Fatalf("%s waits, with a driver on %q and %d executors", id, node, executors)
			case a.State == api.AppRunning && node == "a":
				r, _ := driverOf(strings.TrimPrefix(a.Submission, "submission of "), 0)
				r.Launch.OffHeapFixed = true
				w.driver("a", id, api.ExecutorRunning, api.Unknown)
				if reply := w.register(r); reply.Error != nil {
					t.Fatal(reply.Error)
				}
				if _, executors := w.where(id); executors == 0 {
					t.Fatalf("%s has a driver and no executor", id)
				}
				w.driver("a", id, api.ExecutorExited, 0)
				ended++
			}
		}
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	if ended != len(waiting) {
		t.Errorf("%d of %d ended", ended, len(waiting))
	}
}

// What no node could hold, what is no driver, and what its sender may not do is refused, in one line.
func TestDriversThatAreRefused(t *testing.T) {
	w := newWorld(t, "a")
	for want, change := range map[string]func(*api.Submit){
		"a driver of 64 GiB (spark.driver.memory and its overhead) fits no node":  func(s *api.Submit) { s.Driver.Memory = 64 * units.GiB },
		"own driver and components leave too little of the nodes: an executor of": func(s *api.Submit) { s.Driver.Memory = 15*units.GiB + 512*units.MiB },
		"is no driver of a new application":                                       func(s *api.Submit) { s.Driver.Name = "ps" },
		"memory_bytes is 0":                                                       func(s *api.Submit) { s.Driver.Memory = 0 },
	} {
		_, q := driverOf("p", units.GiB)
		change(q.Query.Submit)
		if id, err := w.submit(q); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s was taken, or refused as %v, want %q", id, err, want)
		}
	}
	_, q := driverOf("p", units.GiB)
	q.V = api.Version
	r := w.step(planner.Control{To: 1, By: api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleView}, Verb: api.VerbSubmit, Request: q}).(api.ControlReply)
	if api.KindOf(r.Error) != api.KindDenied || len(w.control(api.VerbApps, api.ControlRequest{}).Apps) != 0 {
		t.Errorf("one who only looks submits: %v", r.Error)
	}
}

// A driver that is killed by its user runs no more, whether it has registered or not.
func TestAKilledDriver(t *testing.T) {
	for _, registered := range []bool{false, true} {
		w := newWorld(t, "a")
		r, q := driverOf("p", units.GiB)
		id, err := w.submit(q)
		if err != nil {
			t.Fatal(err)
		}
		w.driver("a", id, api.ExecutorRunning, api.Unknown)
		if registered {
			w.register(r)
		}
		w.control(api.VerbKill, api.ControlRequest{App: id, User: "ann"})
		w.live(15 * time.Second)
		if node, executors := w.where(id); node != "" || executors != 0 || w.app(id).State != api.AppFailed {
			t.Errorf("registered %v: it is %s, with a driver on %q and %d executors", registered, w.app(id).State, node, executors)
		}
	}
}

// Where memory is lent, a batch application whose driver a node starts is promised that of the executors that wait for
// it: no node has started them, so none could give it back. The same application with its driver elsewhere is lent it.
func TestExecutorsThatWaitForTheirDriverAreNotLent(t *testing.T) {
	cfg := planner.Default()
	cfg.Lend.By = forecast.Names()[0]
	w := newWorldOf(t, cfg, "a", "b")
	loans := func(id api.AppID) (n int) {
		for _, p := range w.plans {
			for _, a := range p.Apps {
				if a.ID == id {
					n += len(a.Loans)
				}
			}
		}
		return n
	}
	r, q := driverOf("p", units.GiB)
	r.Class, q.Query.Submit.Register.Class = api.ClassBatch, api.ClassBatch
	id, err := w.submit(q)
	if err != nil {
		t.Fatal(err)
	}
	node, _ := w.where(id)
	w.driver(node, id, api.ExecutorRunning, api.Unknown)
	if reply := w.register(r); reply.Error != nil || reply.AppID != id {
		t.Fatalf("it registers as %s: %v", reply.AppID, reply.Error)
	}
	if _, executors := w.where(id); executors != 2 || loans(id) != 0 {
		t.Errorf("of %d executors %d are lent", executors, loans(id))
	}
	beside := registration("q", 0)
	beside.Class = api.ClassBatch
	if other := w.register(beside); other.Error != nil || loans(other.AppID) == 0 {
		t.Errorf("%s is lent %d executors: %v", other.AppID, loans(other.AppID), other.Error)
	}
}

// nodesSay has each node but the lost ones say what it runs, every second for d: what its Plan has of an application and,
// while they are slow to end, what that has had.
func (w *world) nodesSay(d time.Duration, id api.AppID, slow bool, running map[string]map[api.ExecutorID]bool, lost ...string) {
	w.Helper()
	for end := w.now.Add(d); w.now < end; {
		w.pass(time.Second)
		for _, node := range slices.Sorted(maps.Keys(w.plans)) {
			p, was := w.plans[node], running[node]
			if running[node] = map[api.ExecutorID]bool{}; slow {
				running[node] = was
			}
			for _, a := range p.Apps {
				for _, x := range a.Executors {
					running[node][x] = a.ID == id
				}
			}
			s := w.status(node)
			for _, x := range slices.Sorted(maps.Keys(was)) {
				if was[x] && !running[node][x] {
					s.Executors = append(s.Executors, api.ExecutorStatus{App: id, ID: x, State: api.ExecutorExited, Exit: "stopped", ExitCode: api.Unknown})
				}
			}
			for _, x := range slices.Sorted(maps.Keys(running[node])) {
				if running[node][x] {
					s.Executors = append(s.Executors, api.ExecutorStatus{App: id, ID: x, State: api.ExecutorRunning, ExitCode: api.Unknown, PID: 7})
				}
			}
			if !slices.Contains(lost, node) {
				w.step(planner.Status{Status: &s})
			}
		}
	}
}

// A driver is lost with its node. Its application fails; or, supervised, the driver begins again elsewhere once the first
// one's executors have gone, three times at most, with the id and the deadline. A planner that is killed meanwhile goes on.
func TestTheNodeOfADriverIsLost(t *testing.T) {
	for _, c := range []struct{ supervised, killed bool }{{}, {supervised: true}, {supervised: true, killed: true}} {
		nodes := []string{"a", "b", "c", "d", "e", "f"}
		w := newWorld(t, nodes...)
		r, q := driverOf("p", units.GiB)
		r.Deadline, q.Query.Submit.Register.Deadline, q.Query.Submit.Driver.Supervise = 3600, 3600, c.supervised
		id, err := w.submit(q)
		if err != nil {
			t.Fatal(err)
		}
		running := map[string]map[api.ExecutorID]bool{}
		restart := func() {
			if c.killed {
				w.restart()
			}
		}
		var lost []string
		for attempt := 1; attempt <= 4; attempt++ {
			w.nodesSay(3*time.Second, id, false, running, lost...)
			node, executors := w.where(id)
			if node == "" || slices.Contains(lost, node) || executors != 0 {
				t.Fatalf("%+v: attempt %d is on node %q of which %v are lost, beside %d executors", c, attempt, node, lost, executors)
			}
			restart()
			w.nodesSay(2*time.Second, id, false, running, lost...)
			r.Elapsed = units.Seconds(w.now.Sub(epoch).Seconds())
			if reply := w.register(r); reply.Error != nil || reply.AppID != id {
				t.Fatalf("%+v: attempt %d registers as %q: %v", c, attempt, reply.AppID, reply.Error)
			}
			w.nodesSay(3*time.Second, id, false, running, lost...)
			if _, executors := w.where(id); executors == 0 || w.app(id).Deadline != 3600 {
				t.Fatalf("%+v: attempt %d has %d executors and %v s", c, attempt, executors, w.app(id).Deadline)
			}
			lost = append(lost, node)
			w.nodesSay(15*time.Second, id, true, running, lost...)
			if !c.supervised || attempt == 4 {
				break
			}
			restart()
			w.nodesSay(15*time.Second, id, true, running, lost...)
			if node, executors := w.where(id); node != "" || executors != 0 || w.app(id).State != api.AppRunning {
				t.Fatalf("%+v: while executors of attempt %d run, the next is on %q: %s", c, attempt, node, w.app(id).State)
			}
		}
		w.nodesSay(15*time.Second, id, false, running, lost...)
		if a, said := w.app(id), w.heard("driver lost"); a.State != api.AppFailed || a.EndedBy != api.EndedByExit || len(said) != 1 {
			t.Errorf("%+v: after %d attempts it is %s by %s: %v", c, len(lost), a.State, a.EndedBy, said)
		}
		if want := map[bool]int{false: 1, true: 4}[c.supervised]; len(lost) != want {
			t.Errorf("%+v: %d attempts, want %d", c, len(lost), want)
		}
		if node, executors := w.where(id); node != "" || executors != 0 {
			t.Errorf("%+v: %d executors and a driver on %q run on", c, executors, node)
		}
	}
}

// A driver on a node registers with a profile and a deadline, as any other: it has the verdict of its profile, before and
// after the planner is killed.
func TestADriverOnANodeHasAProfile(t *testing.T) {
	for _, killed := range []bool{false, true} {
		w := newWorld(t, "a", "b")
		p := chain("p")
		w.put(p)
		r, q := driverOf(p.Name, units.GiB)
		r.Deadline, q.Query.Submit.Register.Deadline = 300, 300
		id, err := w.submit(q)
		if err != nil {
			t.Fatal(err)
		}
		node, _ := w.where(id)
		w.driver(node, id, api.ExecutorRunning, api.Unknown)
		if killed {
			w.restart()
			w.hello("a")
			w.hello("b")
		}
		if reply := w.register(r); reply.Error != nil || reply.AppID != id || w.app(id).Profile != p.Name || w.app(id).Verdict == "" {
			t.Errorf("killed %v: %s has profile %q and verdict %q: %v", killed, reply.AppID, w.app(id).Profile, w.app(id).Verdict, reply.Error)
		}
	}
}
