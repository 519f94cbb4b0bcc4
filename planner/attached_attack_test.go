package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// told are the lines of what has happened under a name.
func (w *world) told(name string) string {
	var all []string
	for _, n := range w.heard(name) {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

// A user who names another's application at YARN before its own user does keeps that one from nothing, and the secrets
// that nodes get for either are different ones.
func TestAttackFirstToNameAnApplication(t *testing.T) {
	w := attachedWorld(t)
	by := func(user, secret string) (api.RegisterRequest, api.AppID) {
		t.Helper()
		r := attachedTo("chain", 100)
		r.Submission, r.Launch.Attach.Secret = "of "+user, strings.Repeat(secret, api.LeastSecret)
		reply := w.step(planner.Register{To: 1, By: api.Principal{Kind: api.PrincipalUser, Name: user, Role: api.RoleSubmit}, Request: r}).(api.RegisterReply)
		if reply.Error != nil {
			t.Fatalf("%s: %v", user, reply.Error)
		}
		w.directives[reply.AppID] = reply.Directive
		w.tell(reply.AppID, r.Submission, upOn("1", "host-a"))
		return r, reply.AppID
	}
	mallory, hers := by("mallory", "m")
	ann, anns := by("ann", "a")
	seen := map[string]bool{}
	for _, a := range w.plans["a"].Apps {
		if a.Launch == nil || a.Launch.Attach == nil {
			t.Fatalf("%s: launch %+v", a.ID, a.Launch)
		}
		seen[a.Launch.Attach.Secret] = true
		want := map[api.AppID]*api.Attach{hers: mallory.Launch.Attach, anns: ann.Launch.Attach}[a.ID].On("boot-a").Secret
		if a.Launch.Attach.Secret != want {
			t.Errorf("%s has the secret %q, want %q", a.ID, a.Launch.Attach.Secret, want)
		}
	}
	if len(seen) != 2 || seen[""] {
		t.Errorf("node a has the secrets %v", seen)
	}
}

// What a node learns of an application's secret is of no use on another machine, and is not the secret.
func TestAttackANodeUsesASecretElsewhere(t *testing.T) {
	w := attachedWorld(t)
	r := attachedTo("chain", 100)
	r.Launch.Attach.Secret = strings.Repeat("s", api.LeastSecret)
	id := w.register(r).AppID
	w.tell(id, r.Submission, upOn("1", "host-a"), upOn("2", "host-b"))
	of := func(node string) *api.Attach {
		for _, a := range w.plans[node].Apps {
			if a.ID == id {
				return a.Launch.Attach
			}
		}
		t.Fatalf("node %s has nothing", node)
		return nil
	}
	a, b := of("a"), of("b")
	if a.Secret == r.Launch.Attach.Secret || a.Secret == b.Secret || len(a.Secret) < api.LeastSecret {
		t.Errorf("secrets %q and %q", a.Secret, b.Secret)
	}
	if a.Proof("2", 7, 9) == b.Proof("2", 7, 9) {
		t.Error("a node proves what is another one's")
	}
}

// A secret is in no store and comes again with its driver.
func TestAttackTheStoreTellsNoSecret(t *testing.T) {
	w := attachedWorld(t)
	r := attachedTo("chain", 100)
	r.Launch.Attach.Secret = strings.Repeat("s3", api.LeastSecret)
	id := w.register(r).AppID
	w.tell(id, r.Submission, upOn("1", "host-a"))
	for key, body := range w.disk {
		if strings.Contains(string(body), r.Launch.Attach.Secret) {
			t.Errorf("record %q has it: %.200s", key, body)
		}
	}
	w.restart()
	for _, n := range []string{"a", "b", "own"} {
		w.hello(n)
	}
	if got := w.plans["a"].Apps[0].Launch; got.Withheld == 0 || got.Attach.Secret != "" {
		t.Errorf("after the restart: %+v, %+v", got, got.Attach)
	}
	if reply := w.register(r); reply.Error != nil || reply.AppID != id {
		t.Fatalf("registered again: %+v", reply)
	}
	if got := w.plans["a"].Apps[0].Launch; got.Withheld != 0 || got.Attach.Secret != r.Launch.Attach.On("boot-a").Secret {
		t.Errorf("with its driver: %+v, %+v", got, got.Attach)
	}
}

// A node is its own machine alone, whatever it says.
func TestAttackANodeNamesOthersMachines(t *testing.T) {
	both := []string{"host-a", "host-b", "10.0.0.2"}
	for name, c := range map[string]struct {
		hosts []string
		boot  string
		// free is whether nobody has the executor of host-b.
		free bool
	}{
		"it has others' hosts and addresses":       {both, "", false},
		"it has the id of another one's boot, too": {both, "boot-b", true},
		"it names the boot as a host":              {append(slices.Clone(both), "boot-b"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := attachedWorld(t)
			r := attachedTo("chain", 100)
			id := w.register(r).AppID
			up := upOn("1", "host-b")
			w.hosts["a-rogue"], w.boots["a-rogue"] = c.hosts, c.boot
			order := []func(){func() { w.hello("a-rogue") }, func() { w.tell(id, r.Submission, up) }}
			if c.free { // It comes later.
				slices.Reverse(order)
			}
			for _, does := range order {
				does()
			}
			got := w.onNodes(id)
			if len(got["a-rogue"]) > 0 || (len(got["b"]) == 0) != c.free {
				t.Fatalf("the executor of host-b is in %v", got)
			}
			if !c.free {
				return
			}
			if told := w.told("machine disputed"); strings.Count(told, "\n") != 1 || !strings.Contains(told, "node a-rogue ") || !strings.Contains(told, "node b ") {
				t.Errorf("told %q", told)
			}
			if a := w.app(id); a.Pacing != "observed" || !strings.Contains(strings.Join(a.Notices, "\n"), "nodes a-rogue, b say that they are its machine") {
				t.Errorf("%s: %v", a.Pacing, a.Notices)
			}
			// As soon as there is one alone it has what is there.
			s := w.status("a-rogue")
			s.Leaving = true
			w.step(planner.Status{Status: &s})
			w.step(planner.Status{Status: new(w.status("b"))})
			if got := w.onNodes(id); len(got["b"]) != 1 {
				t.Errorf("afterwards: %v", got)
			}
		})
	}
}

// Before an executor's plugin has told its machine nobody has it, and no machine without a node controller is anybody's.
func TestAttackAHostWithoutANode(t *testing.T) {
	for name, machine := range map[string]string{"its plugin has told its machine": "boot-c", "it has not yet": ""} {
		t.Run(name, func(t *testing.T) {
			w := attachedWorld(t)
			r := attachedTo("chain", 100)
			id := w.register(r).AppID
			w.hosts["rogue"] = []string{"host-c", "10.0.0.3"}
			w.hello("rogue")
			up := upOn("1", "host-c")
			up.Executor.Machine = machine
			w.tell(id, r.Submission, up)
			w.live(10*time.Second, id)
			if got := w.onNodes(id); len(got) > 0 {
				t.Errorf("plans %v", got)
			}
		})
	}
}

// A node tells nothing of executors that are elsewhere.
func TestAttackANodeTellsOfOthersExecutors(t *testing.T) {
	w := attachedWorld(t)
	r := attachedTo("chain", 100)
	id := w.register(r).AppID
	w.tell(id, r.Submission, upOn("1", "host-b"), ready(1, 0, "read", 1000, "1"))
	w.pass(time.Second)
	from := func(node string) {
		s := w.status(node)
		s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorExited, Exit: "it says so"}}
		if node == "b" {
			s.Executors[0].State, s.Executors[0].Exit = api.ExecutorRunning, ""
		}
		s.Stages = []api.StageStatus{{App: id, Executor: "1", CPU: 3, Progress: 0.9, Finished: 5}}
		w.step(planner.Status{Status: &s})
	}
	x := w.e.View().App(id).Executor("1")
	if from("a"); x.Worked != 0 || x.Gone || x.State == api.ExecutorExited {
		t.Errorf("node a has said of node b's: %+v", x)
	}
	if from("b"); x.Worked == 0 || x.State != api.ExecutorRunning {
		t.Errorf("its own node has said: %+v", x)
	}
}
