package planner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// part is a component of a description.
func part(name string, class api.ComponentClass, count int, memory units.Bytes) api.Component {
	return api.Component{Name: api.ExecutorID(name), Class: class, Cores: 1, Memory: memory, Count: count, Command: []string{"run"}}
}

// groupOf is the submission of a description without Spark.
func groupOf(name string, main api.ExecutorID, parts ...api.Component) api.ControlRequest {
	return api.ControlRequest{Query: &api.Query{Submit: &api.Submit{Register: &api.RegisterRequest{Submission: "submission of " + name, Name: name},
		Group: &api.Group{Main: main, Components: parts}}}}
}

// programs are the nodes whose Plans have components of an application, by the ids of these.
func (w *world) programs(id api.AppID) map[api.ExecutorID]string {
	on := map[api.ExecutorID]string{}
	for node, p := range w.plans {
		for _, a := range p.Apps {
			for _, x := range a.Executors {
				if a.ID == id {
					on[x] = node
				}
			}
		}
	}
	return on
}

// obey has nodes do as their Plans say: what is listed of an application runs, what is not any more is gone.
func (w *world) obey() {
	w.Helper()
	for _, node := range slices.Sorted(maps.Keys(w.plans)) {
		s := w.status(node)
		for _, a := range w.plans[node].Apps {
			for _, x := range slices.Sorted(maps.Keys(a.Components)) {
				if a.Components[x] != nil {
					s.Executors = append(s.Executors, api.ExecutorStatus{App: a.ID, ID: x, State: api.ExecutorRunning, ExitCode: api.Unknown, PID: 7})
				}
			}
		}
		w.step(planner.Status{Status: &s})
	}
}

// member has a node say how one program of an application has ended.
func (w *world) member(node string, app api.AppID, id api.ExecutorID, code int) {
	w.Helper()
	s := w.status(node)
	s.Executors = []api.ExecutorStatus{{App: app, ID: id, State: api.ExecutorExited, ExitCode: code, Exit: fmt.Sprintf("exit status %d", code)}}
	w.step(planner.Status{Status: &s})
}

// during has nodes obey for so many seconds.
func (w *world) during(seconds int) {
	w.Helper()
	for range seconds {
		w.pass(time.Second)
		w.obey()
	}
}

// otherThan is the other one of nodes a and b.
func otherThan(node string) string { return map[string]string{"a": "b", "b": "a"}[node] }

// without has the other node alone tell how it is, for so many seconds.
func (w *world) without(node string, seconds int) {
	w.Helper()
	for range seconds {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status(otherThan(node)))})
	}
}

const gib = units.GiB

// A rigid group starts whole, each program with its own number and port and with the addresses of the others, or not at
// all; it ends with the main one, and a planner that is killed on the way goes on with it.
func TestAGroupStartsWholeOrNotAtAll(t *testing.T) {
	for _, killed := range []bool{false, true} {
		w := newWorld(t, "a", "b")
		first, err := w.submit(groupOf("first", "all", part("all", api.ComponentCore, 1, 12*gib)))
		if err != nil {
			t.Fatal(err)
		}
		w.obey()
		ps, worker := part("ps", api.ComponentCore, 2, 4*gib), part("worker", api.ComponentCore, 4, 3*gib)
		ps.Port, ps.Env = 7000, map[string]string{"PEERS": `{{hosts "ps"}}`}
		worker.Command = []string{"run", "--index={{index}}/{{count \"worker\"}}", `{{hosts "ps"}}`}
		second, err := w.submit(groupOf("second", "chief", part("chief", api.ComponentCore, 1, gib), ps, worker))
		if err != nil {
			t.Fatal(err)
		}
		if on := w.programs(second); len(on) != 0 || w.app(second).State != api.AppQueued {
			t.Fatalf("%v of 7 programs start beside another group: %s", on, w.app(second).State)
		}
		if killed {
			w.restart()
			w.hello("a")
			w.hello("b")
		}
		w.member(w.programs(first)["all-0"], first, "all-0", 0)
		w.live(time.Second)
		on := w.programs(second)
		if len(on) != 7 || w.app(first).State != api.AppFinished {
			t.Fatalf("%v of 7 programs run, the first group is %s", on, w.app(first).State)
		}
		ports, words := map[string]bool{}, map[string]bool{}
		var hosts string
		for node, p := range w.plans {
			for _, a := range p.Apps {
				for id, c := range a.Components {
					if c.Name == "ps" {
						ports[fmt.Sprint(node, c.Port)], hosts = true, c.Env["PEERS"]
					}
					if c.Name == "worker" {
						words[strings.Join(c.Command, " ")] = true
					}
					if !strings.HasPrefix(string(id), string(c.Name)+"-") {
						t.Errorf("%s is called %s", c.Name, id)
					}
				}
			}
		}
		if len(ports) != 2 || len(words) != 4 || !words["run --index=3/4 "+hosts] || !strings.HasPrefix(hosts, "127.0.0.1:700") {
			t.Errorf("ports %v, commands %v, hosts %q", ports, words, hosts)
		}
		w.obey()
		if killed {
			w.restart()
			w.hello("a")
			w.hello("b")
			w.obey()
		}
		w.member(on["worker-1"], second, "worker-1", 0) // It has done.
		w.live(time.Minute)
		if a := w.app(second); a.State != api.AppRunning || len(w.programs(second)) != 6 {
			t.Fatalf("with a worker that has done it is %s, and runs %v", a.State, w.programs(second))
		}
		w.member(on["chief-0"], second, "chief-0", 0)
		if a := w.app(second); a.State != api.AppFinished || a.EndedBy != api.EndedByExit || len(w.programs(second)) != 0 {
			t.Errorf("it ends as %s by %s, and runs %v", a.State, a.EndedBy, w.programs(second))
		}
	}
}

// A core program that fails, or is lost with its node, fails its application in words that name it; an elastic one comes
// again, four times in all.
func TestLostComponents(t *testing.T) {
	for _, way := range []string{"exit", "node", "main"} {
		w := newWorld(t, "a", "b")
		id, err := w.submit(groupOf("g", "chief", part("chief", api.ComponentCore, 1, gib), part("ps", api.ComponentCore, 2, 10*gib)))
		if err != nil {
			t.Fatal(err)
		}
		w.obey()
		on, want, code := w.programs(id), "ps-1", 1
		switch way {
		case "exit":
			w.member(on["ps-1"], id, "ps-1", 3)
		case "main":
			w.member(on["chief-0"], id, "chief-0", 3)
			want, code = "exit code 3", 3
		case "node":
			for range 60 {
				w.pass(time.Second)
				w.step(planner.Status{Status: new(w.status(on["chief-0"]))})
			}
			if want = "ps-0"; on["ps-1"] != on["chief-0"] {
				want = "ps-1"
			}
		}
		w.live(time.Second)
		a := w.app(id)
		if a.State != api.AppFailed || a.ExitCode != code || !strings.Contains(a.Reason+a.Headline, want) || len(w.programs(id)) != 0 {
			t.Errorf("%s: it is %s with code %d (%s, %s), and runs %v", way, a.State, a.ExitCode, a.Reason, a.Headline, w.programs(id))
		}
	}
	w := newWorld(t, "a")
	id, err := w.submit(groupOf("g", "chief", part("chief", api.ComponentCore, 1, gib), part("more", api.ComponentElastic, 1, gib)))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 5; n++ {
		w.live(2 * time.Second)
		w.obey()
		x := (&api.Component{Name: "more"}).Member(0, n)
		if on := w.programs(id)[x]; (on == "a") != (n <= 4) {
			t.Fatalf("%s is on %q: %v", x, on, w.programs(id))
		}
		w.member("a", id, x, 1)
	}
	if w.app(id).State != api.AppRunning {
		t.Errorf("with an elastic program that fails it is %s", w.app(id).State)
	}
}

// Elastic programs come as memory is free, and go first when an application waits for it: no more than that needs. Their
// memory is theirs until they have gone.
func TestElasticGoesFirst(t *testing.T) {
	w := newWorld(t, "a", "b")
	id, err := w.submit(groupOf("g", "chief", part("chief", api.ComponentCore, 1, gib), part("more", api.ComponentElastic, 8, 4*gib)))
	if err != nil {
		t.Fatal(err)
	}
	if on := w.programs(id); len(on) != 1 {
		t.Fatalf("%v start at once", on)
	}
	w.live(2 * time.Second)
	w.obey()
	if on := w.programs(id); len(on) != 1+7 {
		t.Fatalf("%d programs fill two nodes of 16 GiB: %v", len(on), on)
	}
	r := registration("spark", 0)
	r.Launch.Heap = 6 * gib
	reply := w.register(r)
	if reply.Error != nil || w.app(reply.AppID).State != api.AppQueued {
		t.Fatalf("the application that comes is %v: %v", w.app(reply.AppID).State, reply.Error)
	}
	w.live(time.Second)
	if on := w.programs(id); len(on) != 1+5 || w.app(reply.AppID).State != api.AppQueued {
		t.Fatalf("before two have gone %v run, and it is %s", on, w.app(reply.AppID).State)
	}
	w.obey()
	w.live(2 * time.Second)
	if w.app(reply.AppID).State != api.AppRunning || len(w.programs(id)) != 1+5 {
		t.Fatalf("it is %s, beside %v", w.app(reply.AppID).State, w.programs(id))
	}
	w.obey()
	w.control(api.VerbKill, api.ControlRequest{App: id, User: "ann"})
	w.live(2 * time.Second)
	if a := w.app(id); a.State != api.AppFailed || len(w.programs(id)) != 0 {
		t.Errorf("killed it is %s, and runs %v", a.State, w.programs(id))
	}
}

// What a description cannot have is refused, with the field and the rule, in one line that has all faults; nothing is left.
func TestGroupsThatAreRefused(t *testing.T) {
	w := newWorld(t, "a", "b")
	for want, change := range map[string]func(*api.Submit){
		"components: memory: a core one of 64 GiB fits no node: the largest": func(s *api.Submit) { s.Group.Components[1].Memory = 64 * gib },
		"components: count: 9 core ones, of 49 GiB together":                 func(s *api.Submit) { s.Group.Components[1].Count = 8 },
		`components[1]: command "{{hosts \"nobody\"}}": no component`:        func(s *api.Submit) { s.Group.Components[1].Command[0] = `{{hosts "nobody"}}` },
		`want {{hosts "NAME"}}, {{index}} or {{count "NAME"}}`:               func(s *api.Submit) { s.Group.Components[1].Command[0] = `{{range 1000000000}}x{{end}}` },
		"main \"ps2\" is the name of no component":                           func(s *api.Submit) { s.Group.Main = "ps2" },
		"main: component ps is core, with count 2":                           func(s *api.Submit) { s.Group.Main = "ps" },
		"components[1]: port 80: want 1024 to 65535":                         func(s *api.Submit) { s.Group.Components[1].Port = 80 },
		"components[1]: port 7001: taken, those of component chief": func(s *api.Submit) {
			s.Group.Components[0].Count, s.Group.Components[0].Port, s.Group.Components[1].Port = 2, 7000, 7001
		},
		"component class is \"\"": func(s *api.Submit) { s.Group.Components[0].Class, s.Group.Components[1].Port = "", 80 },
	} {
		q := groupOf("g", "chief", part("chief", api.ComponentCore, 1, gib), part("ps", api.ComponentCore, 2, 6*gib))
		change(q.Query.Submit)
		if id, err := w.submit(q); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s was taken, or refused as %v, want %q", id, err, want)
		}
	}
	q := groupOf("g", "chief", part("chief", api.ComponentCore, 1, gib), part("ps", api.ComponentCore, 2, 6*gib))
	q.Query.Submit.DryRun = true
	r := w.control(api.VerbSubmit, q)
	if r.Error != nil || !strings.Contains(r.Message, "chief-0 (1 GiB) on node ") || !strings.Contains(r.Message, "ps-1 (6 GiB) on node ") {
		t.Errorf("a dry run says %q: %v", r.Message, r.Error)
	}
	if n := len(w.control(api.VerbApps, api.ControlRequest{}).Apps); n != 0 {
		t.Errorf("%d applications are left", n)
	}
}

// The texts of components count in a Plan as those of executors do: a group that comes beyond them is turned down, and the
// Plan goes through the bus.
func TestPlansCountTheTextsOfComponents(t *testing.T) {
	e, err := planner.New(planner.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var plan api.Plan
	step := func(event planner.Event) (body any) { // The world compares all that it has after each step.
		for _, action := range e.Step(epoch, event) {
			switch a := action.(type) {
			case planner.Reply:
				body = a.Body
			case planner.PublishPlan:
				plan = a.Plan
			}
		}
		return body
	}
	step(planner.Hello{To: 1, Status: api.NodeStatus{V: api.Version, Node: "a", Incarnation: "a-1", Seq: 1, Host: "127.0.0.1", Offered: 4, Total: 4, Memory: units.TiB}})
	var refused *api.Error
	n := 0
	for ; refused == nil && n < 64; n++ {
		long := part("long", api.ComponentCore, 2, units.MiB)
		long.Env = map[string]string{"X": strings.Repeat("<", api.MostLaunch-1024)}
		q := groupOf(fmt.Sprint(n), "chief", part("chief", api.ComponentCore, 1, units.MiB), long)
		q.V = api.Version
		refused = step(planner.Control{To: 1, Verb: api.VerbSubmit, Request: q}).(api.ControlReply).Error
	}
	if refused == nil || refused.Kind != api.KindTransient || !strings.Contains(refused.Message, "the plan of node a has no room: a plan takes 6291456") {
		t.Fatalf("after %d: %v", n, refused)
	}
	body, err := json.Marshal(plan)
	if size := len(body); err != nil || size > bus.MaxPayload || size < api.MostPlanLaunches/2 {
		t.Errorf("with %d groups the Plan has %d bytes, %v", n-1, size, err)
	}
}

// The same description twice: the programs of the second one have ports of their own on the same host, and know them.
func TestTheSameDescriptionTwice(t *testing.T) {
	w := newWorld(t, "a", "b") // One host.
	seen := map[int]bool{}
	for _, name := range []string{"first", "second"} {
		ps := part("ps", api.ComponentCore, 2, gib)
		ps.Port, ps.Env = 7000, map[string]string{"PEERS": `{{hosts "ps"}}`}
		id, err := w.submit(groupOf(name, "chief", part("chief", api.ComponentCore, 1, gib), ps))
		if err != nil {
			t.Fatal(err)
		}
		var peers []string
		for _, p := range w.plans {
			for _, a := range p.Apps {
				for _, c := range a.Components {
					if a.ID == id && c.Port > 0 {
						peers = append(peers, api.Address("127.0.0.1", c.Port))
						if !strings.Contains(c.Env["PEERS"], peers[len(peers)-1]) || seen[c.Port] {
							t.Errorf("%s is at port %d, %v are taken, its peers are %s", id, c.Port, seen, c.Env["PEERS"])
						}
						seen[c.Port] = true
					}
				}
			}
		}
		if len(peers) != 2 {
			t.Errorf("%s runs at %q", id, peers)
		}
	}
}

// With Spark a group's programs start beside the driver, and end with it, however that ends.
func TestAGroupBesideSpark(t *testing.T) {
	stop := api.Event{Type: api.EventEnd, At: 30}
	for name, ends := range map[string]func(w *world, id api.AppID, submission, node string){
		"without a word": func(w *world, id api.AppID, _, node string) { w.driver(node, id, api.ExecutorExited, 0) },
		"after its context": func(w *world, id api.AppID, submission, node string) {
			w.stopped(id, submission, stop)
			if len(w.programs(id)) != 3 {
				w.Errorf("a driver that has stopped its context has %v beside it", w.programs(id))
			}
			w.driver(node, id, api.ExecutorExited, 0)
		},
		"with a last word": func(w *world, id api.AppID, submission, node string) {
			w.tell(id, submission, stop)
			w.driver(node, id, api.ExecutorExited, 0)
		},
		"killed after its context": func(w *world, id api.AppID, submission, node string) {
			w.stopped(id, submission, stop)
			w.driver(node, id, api.ExecutorExited, 137)
		},
		"stopped by its user after its context": func(w *world, id api.AppID, submission, _ string) {
			w.tell(id, submission, stop)
			if r := w.control(api.VerbKill, api.ControlRequest{App: id, User: "ann"}); r.Error != nil {
				w.Errorf("kill: %v", r.Error)
			}
			if a := w.app(id); a.State != api.AppFailed || a.ExitCode == 0 {
				w.Errorf("it is %s with %d", a.State, a.ExitCode)
			}
		},
		"stopped by its user before its context": func(w *world, id api.AppID, submission, _ string) {
			w.control(api.VerbKill, api.ControlRequest{App: id, User: "ann"})
			w.stopped(id, submission, stop)
			w.during(12)
			if a := w.app(id); a.EndedBy != api.EndedByKill || a.ExitCode == 0 {
				w.Errorf("it is %s by %s with %d", a.State, a.EndedBy, a.ExitCode)
			}
		},
		"with a program that fails after its context": func(w *world, id api.AppID, submission, _ string) {
			w.stopped(id, submission, stop)
			w.member(w.programs(id)["ps-1"], id, "ps-1", 1)
			if a := w.app(id); a.State != api.AppFailed || a.EndedBy != api.EndedByExit || a.ExitCode == 0 {
				w.Errorf("it is %s by %s with %d", a.State, a.EndedBy, a.ExitCode)
			}
		},
		"lost after a last word that proves its exit code": func(w *world, id api.AppID, submission, node string) {
			w.tell(id, submission, stop)
			w.without(node, 100)
			if a := w.app(id); a.State != api.AppFinished || a.ExitCode != 0 {
				w.Errorf("it is %s with %d", a.State, a.ExitCode)
			}
		},
		"long after its context, with another planner": func(w *world, id api.AppID, submission, node string) {
			w.stopped(id, submission, stop)
			w.restart()
			w.hello("a")
			w.hello("b")
			w.during(300)
			if a := w.app(id); a.State != api.AppEnding || len(w.programs(id)) != 3 {
				w.Errorf("while its driver runs it is %s, and runs %v", a.State, w.programs(id))
			}
			w.driver(node, id, api.ExecutorExited, 3)
			if a := w.app(id); a.State != api.AppFailed || a.ExitCode != 3 || a.Duration < 300 {
				w.Errorf("it is %s after %v with %d", a.State, a.Duration, a.ExitCode)
			}
		},
		"lost after its context": func(w *world, id api.AppID, submission, node string) {
			w.stopped(id, submission, stop)
			w.without(node, 60)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, id, submission, node := besideSpark(t)
			ends(w, id, submission, node)
			if a := w.e.View().App(id); a != nil && len(component.Lodged(a)) > 0 {
				t.Errorf("it runs %v", component.Lodged(a))
			}
		})
	}
}

// besideSpark has two programs run beside a driver that has registered, on a node.
func besideSpark(t *testing.T) (w *world, id api.AppID, submission, node string) {
	t.Helper()
	w = newWorld(t, "a", "b")
	r, q := driverOf("p", gib)
	ps := part("ps", api.ComponentCore, 2, 4*gib)
	ps.Port = 7000
	q.Query.Submit.Group = &api.Group{Main: api.DriverName, Components: []api.Component{ps}}
	q.Query.Submit.Driver.Command = []string{"app.py", `at={{hosts "ps"}}`, "{{APP_ID}}"}
	id, err := w.submit(q)
	if err != nil {
		t.Fatal(err)
	}
	on := w.programs(id)
	if len(on) != 3 || on[api.DriverName] == "" {
		t.Fatalf("at first %v run", on)
	}
	for _, a := range w.plans[on[api.DriverName]].Apps {
		if got := a.Component.Command; !slices.Equal(got, []string{"app.py", "at=127.0.0.1:7000,127.0.0.1:7001", "{{APP_ID}}"}) {
			t.Errorf("its driver is started with %q", got)
		}
	}
	w.obey()
	if reply := w.register(r); reply.Error != nil || reply.AppID != id {
		t.Fatalf("the driver registers as %s: %v", reply.AppID, reply.Error)
	}
	if on := w.programs(id); len(on) != 5 {
		t.Errorf("with its driver %v run", on)
	}
	return w, id, r.Submission, on[api.DriverName]
}

// A driver that has stopped its context keeps elastic programs only until another application waits for their memory, or
// their node drains.
func TestElasticProgramsOfADriverThatHasStopped(t *testing.T) {
	w := newWorld(t, "a", "b")
	r, q := driverOf("p", gib)
	q.Query.Submit.Group = &api.Group{Main: api.DriverName, Components: []api.Component{part("more", api.ComponentElastic, 4, 5*gib)}}
	id, err := w.submit(q)
	if err != nil {
		t.Fatal(err)
	}
	during := func(seconds int) map[api.ExecutorID]string {
		w.during(seconds)
		return w.programs(id)
	}
	during(5)
	w.register(r)
	driver := during(10)[api.DriverName]
	w.stopped(id, r.Submission, api.Event{Type: api.EventEnd, At: 15})
	if on := during(5); len(on) != 5 {
		t.Fatalf("with its context stopped %v run", on)
	}
	other, err := w.submit(groupOf("other", "all", part("all", api.ComponentCore, 1, 12*gib)))
	if err != nil {
		t.Fatal(err)
	}
	if on := during(20); len(on) != 3 || w.app(other).State != api.AppRunning {
		t.Errorf("%v run while another application is %s", on, w.app(other).State)
	}
	w.control(api.VerbDrain, api.ControlRequest{Node: driver})
	if on := during(5); len(on) != 1 || w.app(id).State != api.AppEnding {
		t.Errorf("with its node drained %v run of an application that is %s", on, w.app(id).State)
	}
}

// A supervised driver that was lost, and before it begins again is heard to stop its context, does not begin again: its
// programs go.
func TestADriverThatStopsBeforeItBeginsAgain(t *testing.T) {
	w := newWorld(t, "a", "b")
	r, q := driverOf("p", gib)
	q.Query.Submit.Driver.Supervise = true
	q.Query.Submit.Group = &api.Group{Main: api.DriverName, Components: []api.Component{part("more", api.ComponentElastic, 3, 5*gib)}}
	id, err := w.submit(q)
	if err != nil {
		t.Fatal(err)
	}
	w.obey()
	w.register(r)
	w.pass(time.Second)
	w.obey()
	other := otherThan(w.programs(id)[api.DriverName])
	for i := 0; i < 300 && component.Of(w.e.View().App(id)).Node != ""; i++ {
		w.pass(planner.TickInterval)
		w.step(planner.Status{Status: new(w.status(other))})
	}
	w.stopped(id, r.Submission, api.Event{Type: api.EventEnd, At: 30})
	if a := w.app(id); a.State != api.AppEnding || len(w.programs(id)) == 0 {
		t.Fatalf("at first it is %s, and runs %v", a.State, w.programs(id))
	}
	w.live(time.Second)
	if a := w.app(id); a.State != api.AppFailed || a.EndedBy != api.EndedByExit || len(w.programs(id)) != 0 {
		t.Errorf("it is %s by %s, and runs %v", a.State, a.EndedBy, w.programs(id))
	}
}
