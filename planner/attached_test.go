package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// attachedWorld has two nodes that attach, on hosts of two names each, and one that starts executors.
func attachedWorld(t tb) *world {
	w := newWorld(t, "own")
	w.hosts["a"], w.hosts["b"] = []string{"host-a", "10.0.0.1"}, []string{"host-b", "10.0.0.2"}
	w.hello("a")
	w.hello("b")
	w.put(chain("chain"))
	return w
}

func attachedTo(name string, deadline units.Seconds) api.RegisterRequest {
	r := registration(name, deadline)
	r.Launch.Cores, r.Launch.Attach = 2, &api.Attach{Manager: api.ManagerYARN, App: "application_1_0001", Most: 4}
	return r
}

// upOn is what an attached driver says of an executor that has come, and whose plugin has told its machine.
func upOn(id api.ExecutorID, host string) api.Event {
	return api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: id, Host: host, Machine: bootOf(host), Cores: 2, Memory: units.GiB, Container: "container_" + string(id)}}
}

// bootOf is the machine of host-X, and of 10.0.0.1 for a, and so on; "" of the address of a pod.
func bootOf(host string) string {
	if x, is := strings.CutPrefix(strings.ToLower(host), "host-"); is {
		return "boot-" + x
	}
	if n, is := strings.CutPrefix(host, "10.0.0."); is {
		return "boot-" + string('a'+n[0]-'1')
	}
	return ""
}

func goneFrom(id api.ExecutorID) api.Event {
	return api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: id, Reason: "preempted"}}
}

// onNodes are the executors of an application in the Plans, by node.
func (w *world) onNodes(id api.AppID) map[string][]api.ExecutorID {
	found := map[string][]api.ExecutorID{}
	for n, p := range w.plans {
		for _, a := range p.Apps {
			if a.ID == id {
				found[n] = a.Executors
			}
		}
	}
	return found
}

func TestAnAttachedApplicationIsPacedOnWhatComes(t *testing.T) {
	w := attachedWorld(t)
	r := attachedTo("chain", 100)
	reply := w.register(r)
	if reply.Error != nil || reply.Executors != 0 || len(reply.Directive.Executors) != 0 || reply.Verdict != api.VerdictFeasible {
		t.Fatalf("registered: %+v", reply)
	}
	id := reply.AppID
	d := w.tell(id, r.Submission, upOn("3", "HOST-A"), upOn("1", "10.0.0.2"), upOn("4", "host-a")).Directive
	want := []api.DirectiveExecutor{{ID: "1", Node: "b", Cores: 2, PerStage: api.MostExecutorID},
		{ID: "3", Node: "a", Cores: 2, PerStage: api.MostExecutorID}, {ID: "4", Node: "a", Cores: 2, PerStage: api.MostExecutorID}}
	if diff := cmp.Diff(want, d.Executors); diff != "" {
		t.Fatalf("executors of the directive: %s", diff)
	}
	if diff := cmp.Diff(map[string][]api.ExecutorID{"a": {"3", "4"}, "b": {"1"}}, w.onNodes(id)); diff != "" {
		t.Fatalf("plans: %s", diff)
	}
	if launch := w.plans["a"].Apps[0].Launch; launch == nil || launch.Attach == nil || launch.Attach.App != "application_1_0001" {
		t.Fatalf("launch: %+v", launch)
	}
	w.to(10)
	w.tell(id, r.Submission, ready(10, 0, "read", 1000, "1", "3", "4"))
	if got := w.targets(id); len(got) != 3 {
		t.Fatalf("targets: %v", got)
	}
	for key, target := range w.targets(id) {
		if !(target.InitCores > 0 && target.InitCores <= 2) {
			t.Fatalf("%s begins with %v of 2 cores", key, target.InitCores)
		}
	}
	for _, a := range w.plans["a"].Apps {
		if b := w.plans["b"].Apps[0]; !near(float64(a.Least), 2*float64(b.Least), 1e-9) || b.Least <= 0 {
			t.Fatalf("least cores by node: %v and %v", a.Least, b.Least)
		}
	}

	before := w.app(id)
	w.tell(id, r.Submission, goneFrom("3"))
	w.live(30*time.Second, id)
	if diff := cmp.Diff(map[string][]api.ExecutorID{"a": {"4"}, "b": {"1"}}, w.onNodes(id)); diff != "" {
		t.Fatalf("an executor is replaced: %s", diff)
	}
	if got := w.targets(id); len(got) != 2 {
		t.Fatalf("targets: %v", got)
	}
	if x := before.Executors[2]; x.Host != "HOST-A" || x.Container != "container_3" || x.Cores != 2 || x.State != api.ExecutorStarting {
		t.Fatalf("executor: %+v", x)
	}
	w.tell(id, r.Submission, end(130))
	if got := w.onNodes(id); len(got) != 0 {
		t.Fatalf("after the end: %v", got)
	}
}

func TestAnExecutorRunsFreeWhereNoNodeAttaches(t *testing.T) {
	w := attachedWorld(t)
	r := attachedTo("chain", 100)
	id := w.register(r).AppID
	d := w.tell(id, r.Submission, upOn("1", "host-a"), upOn("2", "host-c")).Directive
	if x := d.Executors[1]; x.Node != "host-c" || x.Cores != 2 {
		t.Fatalf("a free executor: %+v", x)
	}
	if a := w.app(id); a.Pacing != "observed" || !slices.ContainsFunc(a.Notices, func(n string) bool {
		return strings.Contains(n, "executor 2: no node controller attaches on host host-c")
	}) {
		t.Fatalf("%s: %v", a.Pacing, a.Notices)
	}
	if launch := w.plans["a"].Apps[0].Launch; launch == nil || launch.Mode != api.ModeObserve {
		t.Fatalf("launch: %+v", launch)
	}
	w.to(10)
	w.tell(id, r.Submission, ready(10, 0, "read", 1000, "1", "2"))
	if got := w.targets(id); len(got) != 1 {
		t.Fatalf("targets: %v", got)
	}

	// A controller that comes late has it at once.
	w.hosts["c"] = []string{"host-c"}
	w.hello("c")
	if got := w.targets(id); len(got) != 2 || w.app(id).Pacing != "paced" {
		t.Fatalf("%s, targets: %v", w.app(id).Pacing, got)
	}
	if launch := w.plans["c"].Apps[0].Launch; launch == nil || launch.Mode.Unmanaged() {
		t.Fatalf("launch: %+v", launch)
	}

	// One whose quota cannot be written runs free, too.
	s := w.status("c")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "2", State: api.ExecutorRunning, Unpaced: "it runs in gVisor"}}
	w.step(planner.Status{Status: &s})
	a := w.app(id)
	if got := w.targets(id); len(got) != 1 || a.Pacing != "observed" || !strings.Contains(a.Notices[len(a.Notices)-1], "executor 2: it runs in gVisor") {
		t.Fatalf("%s %v, targets: %v", a.Pacing, a.Notices, got)
	}
	// A tenth may run free.
	var more []api.Event
	for _, x := range []api.ExecutorID{"3", "4", "5", "6", "7", "8", "9", "10", "11"} {
		more = append(more, upOn(x, "10.0.0.1"))
	}
	w.tell(id, r.Submission, more...)
	s = w.status("a")
	s.Offered, s.Total = 40, 40
	w.step(planner.Status{Status: &s})
	if a := w.app(id); a.Pacing != "paced" {
		t.Fatalf("%s: %v", a.Pacing, a.Notices)
	}
}

// A pod has an address of its own: its executor is known to be on a node when it has said on which machine it runs.
func TestAPodIsOnTheNodeOfItsMachine(t *testing.T) {
	w := attachedWorld(t)
	w.hosts["c"] = []string{"10.0.0.3", "boot-c"}
	w.hello("c")
	r := attachedTo("chain", 100)
	id := w.register(r).AppID
	first, second := upOn("1", "10.244.0.7"), upOn("2", "10.244.0.8")
	second.Executor.Machine = "boot-c"
	w.tell(id, r.Submission, first, second)
	if diff := cmp.Diff(map[string][]api.ExecutorID{"c": {"2"}}, w.onNodes(id)); diff != "" {
		t.Fatalf("plans: %s", diff)
	}
	first.Executor.Machine = "boot-c"
	w.tell(id, r.Submission, first)
	if diff := cmp.Diff(map[string][]api.ExecutorID{"c": {"1", "2"}}, w.onNodes(id)); diff != "" {
		t.Fatalf("plans: %s", diff)
	}
	if a := w.app(id); a.Executors[0].Host != "10.244.0.7" || a.Pacing != "paced" {
		t.Fatalf("%s %q: %+v", a.Pacing, a.Notices, a.Executors[0])
	}
}

// Until the plugin of a pod's executor has spoken, or for a while, nobody says that no node has it.
func TestAPodIsAwaitedUntilItsPluginSpeaks(t *testing.T) {
	w := attachedWorld(t)
	w.hosts["c"] = []string{"10.0.0.3", "boot-c"}
	w.hello("c")
	r := attachedTo("chain", 100)
	r.Launch.Attach.Manager = api.ManagerKubernetes
	id := w.register(r).AppID
	up := func(x api.ExecutorID, machine string) {
		e := upOn(x, "10.244.0."+string(x))
		e.Executor.Machine = machine
		w.tell(id, r.Submission, e)
	}
	says := func(when, pacing string, free ...api.ExecutorID) {
		t.Helper()
		a := w.app(id)
		var told []api.ExecutorID
		for _, n := range a.Notices {
			if before, _, is := strings.Cut(n, ": no node controller attaches on host 10.244.0."); is {
				told = append(told, api.ExecutorID(before[strings.LastIndex(before, " ")+1:]))
			}
		}
		if a.Pacing != pacing || !slices.Equal(told, free) {
			t.Fatalf("%s: %s, %q", when, a.Pacing, a.Notices)
		}
	}
	up("1", "")
	w.live(4*time.Second, id)
	says("it has said nothing yet", "paced")
	up("1", "boot-c")
	says("it has spoken", "paced")
	up("2", "boot-d")
	says("it is where no node is", "observed", "2")
	w.tell(id, r.Submission, goneFrom("2"))
	w.live(3*time.Second, id)
	says("that one has gone", "paced", "2")
	up("3", "")
	w.live(8*time.Second, id)
	says("it has not spoken", "observed", "2", "3")

	w = newWorld(t, "own")
	w.put(chain("chain"))
	id = w.register(r).AppID
	up("1", "")
	says("no node attaches anywhere", "paced")
	for range 8 {
		w.pass(time.Second)
	}
	says("and it has not spoken", "observed", "1")
}

func TestANodeThatAttachesHasNoExecutorsOfOthers(t *testing.T) {
	w := attachedWorld(t)
	reply := w.mustRegister(registration("new", 0))
	for _, x := range reply.Directive.Executors {
		if x.Node != "own" {
			t.Fatalf("an executor on %s", x.Node)
		}
	}
	// Attached executors take nothing of a node's memory, and nodes start none of them.
	r := attachedTo("chain", 100)
	r.Launch.Heap = 100 * units.GiB
	id := w.register(r).AppID
	w.tell(id, r.Submission, upOn("1", "host-a"))
	if n := w.e.View().Node("a"); w.e.View().Claimed(n) != 0 {
		t.Fatalf("%v of node a are claimed", w.e.View().Claimed(n))
	}
	alone := newWorld(t)
	alone.hosts["a"] = []string{"host-a"}
	alone.hello("a")
	if reply := alone.register(registration("new", 0)); api.KindOf(reply.Error) != api.KindTransient {
		t.Fatalf("registered: %+v", reply)
	}
}

func TestARestartKeepsAttachedExecutors(t *testing.T) {
	w := attachedWorld(t)
	r := attachedTo("chain", 100)
	id := w.register(r).AppID
	w.tell(id, r.Submission, upOn("1", "host-a"), upOn("2", "host-c"), upOn("3", "host-b"))
	w.to(10)
	w.tell(id, r.Submission, ready(10, 0, "read", 1000, "1", "2", "3"))
	was, directive := w.app(id), w.directives[id]
	w.restart()
	for _, n := range []string{"a", "b", "own"} {
		w.hello(n)
	}
	reply := w.register(r)
	if reply.AppID != id || reply.Recall || !cmp.Equal(reply.Directive, directive) {
		t.Fatalf("registered again: %+v", reply)
	}
	if diff := cmp.Diff(was, w.app(id), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(api.StageMatch{}, "Sure")); diff != "" {
		t.Fatalf("after the restart: %s", diff)
	}

	// One that has lost its state has them from their nodes and their driver.
	lost := newWorldOf(t, func() planner.Config { cfg := planner.Default(); cfg.Identity = "planner-1"; return cfg }(), "own")
	lost.hosts = w.hosts
	lost.pass(10 * time.Second)
	s := lost.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorRunning}}
	s.Orphans = []api.Orphan{{App: id, Owner: api.OwnerOf(r.Submission)}}
	lost.helloAs(s)
	again := r
	again.AppID, again.Executors = id, 3
	if reply = lost.register(again); reply.Error != nil || reply.AppID != id || !reply.Recall {
		t.Fatalf("registered with another planner: %+v", reply)
	}
	lost.tell(id, r.Submission, upOn("1", "host-a"), upOn("2", "host-c"), upOn("3", "host-b"))
	lost.hello("b")
	if diff := cmp.Diff(map[string][]api.ExecutorID{"a": {"1"}, "b": {"3"}}, lost.onNodes(id)); diff != "" {
		t.Fatalf("plans: %s", diff)
	}
}

// A node whose controller stops, or is silent for too long, holds nobody back: its executors run free until it is back.
func TestExecutorsRunFreeWhenTheirNodeControllerStops(t *testing.T) {
	for name, stop := range map[string]func(w *world){
		"it says that it goes": func(w *world) {
			s := w.status("b")
			s.Leaving = true
			w.step(planner.Status{Status: &s})
		},
		"it is silent": func(w *world) {
			for range 10 {
				w.pass(time.Second)
				w.step(planner.Status{Status: new(w.status("a"))})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := attachedWorld(t)
			r := attachedTo("chain", 100)
			id := w.register(r).AppID
			w.tell(id, r.Submission, upOn("1", "host-a"), upOn("2", "host-b"))
			w.tell(id, r.Submission, ready(10, 0, "read", 1000, "1", "2"))
			if a := w.app(id); a.Pacing != "paced" || len(w.targets(id)) != 2 {
				t.Fatalf("%s, targets %v", a.Pacing, w.targets(id))
			}
			stop(w)
			a := w.app(id)
			if a.Pacing != "observed" || len(w.targets(id)) != 1 || len(w.onNodes(id)["b"]) != 0 ||
				!strings.Contains(strings.Join(a.Notices, "\n"), "executor 2: no node controller attaches on host host-b") {
				t.Fatalf("%s: %v, targets %v", a.Pacing, a.Notices, w.targets(id))
			}
			if x := a.Executors[1]; x.State != api.ExecutorRunning || x.Node != "" {
				t.Fatalf("executor: %+v", x)
			}
			w.hello("b")
			if a := w.app(id); a.Pacing != "paced" || len(w.targets(id)) != 2 || len(w.onNodes(id)["b"]) != 1 {
				t.Fatalf("back again, %s: %v, targets %v", a.Pacing, a.Notices, w.targets(id))
			}
		})
	}
}

func TestWhoNamesAnothersExecutorIsRefused(t *testing.T) {
	w := attachedWorld(t)
	r := attachedTo("chain", 100)
	ann, eve := api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}, api.Principal{Kind: api.PrincipalUser, Name: "eve", Role: api.RoleSubmit}
	register := func(by api.Principal, r api.RegisterRequest) api.RegisterReply {
		return w.step(planner.Register{To: 1, By: by, Request: r}).(api.RegisterReply)
	}
	if reply := register(ann, r); reply.Error != nil {
		t.Fatal(reply.Error)
	}
	same := r
	same.Submission = "of eve"
	// She gets no executor: the node has looked.
	reply := register(eve, same)
	if reply.Error != nil {
		t.Fatal(reply.Error)
	}
	w.directives[reply.AppID] = reply.Directive
	w.tell(reply.AppID, same.Submission, upOn("1", "host-a"))
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{{App: reply.AppID, ID: "1", State: api.ExecutorExited, Refused: true, Exit: "it is another application's"}}
	for range 2 {
		w.step(planner.Status{Status: &s})
		s.Seq++
	}
	if told := w.heard("executor refused"); len(told) != 1 || !strings.Contains(told[0].Text, "it is another application's") {
		t.Fatalf("told %v", told)
	}
	if got := w.onNodes(reply.AppID); len(got) != 0 {
		t.Fatalf("plans: %v", got)
	}
	if a := w.app(reply.AppID); len(a.Notices) == 0 || !strings.Contains(a.Notices[len(a.Notices)-1], "does not hold executor 1") {
		t.Fatalf("notices: %v", a.Notices)
	}
}

// Where every node attaches, a plan is on what would be asked of the cluster manager: the fewest cores that keep the
// deadline, or all where there is none.
func TestAPlanIsOnWhatTheClusterManagerWouldBeAskedFor(t *testing.T) {
	w := newWorld(t)
	w.hosts["a"], w.hosts["b"] = []string{"host-a"}, []string{"host-b"}
	w.put(chain("chain"))
	plan := func(q api.PlanRequest) api.PlanReply {
		q.V, q.Profile = api.Version, "chain"
		return w.step(planner.PlanQuery{To: 1, Request: q}).(api.PlanReply)
	}
	if r := plan(api.PlanRequest{Deadline: 1000}); api.KindOf(r.Error) != api.KindTransient {
		t.Fatalf("no node is there: %+v", r)
	}
	w.hello("a")
	w.hello("b")
	far, near, never := plan(api.PlanRequest{Deadline: 1000}), plan(api.PlanRequest{Deadline: 160}), plan(api.PlanRequest{Deadline: 10})
	if far.Error != nil || far.Verdict != api.VerdictFeasible || far.Cores != 1 ||
		!strings.HasSuffix(far.Reason, "; its cluster manager would be asked for executors with 1 slots") {
		t.Errorf("far: %+v", far)
	}
	if near.Verdict != api.VerdictFeasible || near.Cores <= far.Cores || near.Cores > 8 {
		t.Errorf("near: %+v", near)
	}
	if never.Verdict != api.VerdictInfeasible {
		t.Errorf("never: %+v", never)
	}
	if r := plan(api.PlanRequest{Deadline: 1000, Cores: 8}); r.Cores != 8 || strings.Contains(r.Reason, "cluster manager") {
		t.Errorf("with cores: %+v", r)
	}
	w.hello("own")
	if r := plan(api.PlanRequest{Deadline: 1000}); r.Cores != 4 || strings.Contains(r.Reason, "cluster manager") {
		t.Errorf("beside a node that starts executors: %+v", r)
	}
}
