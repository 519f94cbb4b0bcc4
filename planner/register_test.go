package planner_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

func TestVerdicts(t *testing.T) {
	short := chain("p") // 2 s, 80 core-seconds on 8 cores, 1 s.
	short.Stages = short.Stages[:1]
	short.Stages[0].CoreSeconds, short.Stages[0].NominalRate = 80, 3000.0/80
	for _, c := range []struct {
		name     string
		profile  *api.Profile
		deadline units.Seconds
		verdict  api.Verdict
		gated    bool
		reason   string
	}{
		{"none without profile", nil, 0, api.VerdictNone, false, `recorded as profile "p"`},
		{"unknown", nil, 60, api.VerdictUnknown, false, "deadline 1m0s is unknown"},
		{"feasible", ptr(chain("p")), 90, api.VerdictFeasible, true, "deadline 1m30s is feasible: all cores would finish in 68s"},
		{"infeasible", ptr(chain("p")), 20, api.VerdictInfeasible, false, "the earliest feasible deadline is "},
		{"tight", ptr(short), 24, api.VerdictTight, true, "deadline 24s is tight: all cores would finish in 23s"},
		{"none with profile", ptr(chain("p")), 0, api.VerdictNone, false, "no deadline: all cores would finish in 68s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "a", "b")
			if c.profile != nil {
				w.put(*c.profile)
			}
			reply := w.register(registration("p", c.deadline))
			if reply.Error != nil || reply.Verdict != c.verdict || reply.Directive.Gated != c.gated || !strings.Contains(reply.Reason, c.reason) {
				t.Errorf("registered with %+v", reply)
			}
			if reply.Slots != 8 {
				t.Errorf("slots %d, want 8", reply.Slots)
			}
			if (c.verdict == api.VerdictInfeasible) != (reply.Earliest > c.deadline && c.deadline > 0) {
				t.Errorf("earliest %v for a deadline of %v", reply.Earliest, c.deadline)
			}
		})
	}
}

// A driver is told at its registration how far its stages' CPU time goes with sizes.
func TestTheReplyTellsWhatTasksCostAlike(t *testing.T) {
	w := newWorld(t, "a")
	if got := w.register(registration("p", 90)).FixedPart; got != nil {
		t.Errorf("%v without a profile", got)
	}
	p := chain("q")
	p.Stages[0].FixedPart, p.Stages[1].FixedPart = 0.8, 0.25
	same := p.Stages[len(p.Stages)-1]
	same.ID, same.Signature, same.Parents = same.ID+1, p.Stages[0].Signature, []int{same.ID}
	p.Stages = append(p.Stages, same)
	w.put(p)
	want := map[string]units.Fraction{p.Stages[0].Signature: 0.4} // The mean; 0.25 is too little.
	r := registration("q", 90)
	r.Submission = "another"
	if got := w.register(r).FixedPart; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func ptr[T any](v T) *T { return &v }

func TestAnInfeasibleDeadlineRunsWithAllCoresOrIsRefused(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 30)
	id := w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 1, "read", 3000, "1"))
	if got := w.targets(id); len(got) != 0 {
		t.Errorf("targets %v, want all cores", got)
	}
	if got := w.app(id).Pacing; got != "released" {
		t.Errorf("pacing %q", got)
	}

	r = registration("p", 30)
	r.Submission, r.RequireFeasible = "other", true
	for range 2 { // Asked again, it is refused again, and once in the list.
		reply := w.register(r)
		if reply.Error == nil || reply.Error.Kind != api.KindInfeasible || !strings.Contains(reply.Error.Message, "infeasible") {
			t.Fatalf("want a refusal, got %+v", reply)
		}
	}
	apps := w.control(api.VerbApps, api.ControlRequest{}).Apps
	if len(apps) != 2 || apps[1].State != api.AppRefused || apps[1].Verdict != api.VerdictInfeasible {
		t.Errorf("apps %+v", apps)
	}
	if got := w.plans["a"].Apps; len(got) != 1 {
		t.Errorf("plan %+v", got)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		nodes  []string
		change func(*api.RegisterRequest)
		kind   api.Kind
		says   string
	}{
		{"old Spark", []string{"a"}, func(r *api.RegisterRequest) { r.Launch.SparkVersion = "3.5.1" }, api.KindInvalid, "Spark 3.5.1 is not supported"},
		{"no Spark version", []string{"a"}, func(r *api.RegisterRequest) { r.Launch.SparkVersion = "" }, api.KindInvalid, "unknown version"},
		{"no node", nil, func(*api.RegisterRequest) {}, api.KindTransient, "no node is connected"},
		{"too large", []string{"a"}, func(r *api.RegisterRequest) { r.Launch.Heap = 16 * units.GiB }, api.KindInvalid, "fits no node"},
		{"no submission", []string{"a"}, func(r *api.RegisterRequest) { r.Submission = "" }, api.KindInvalid, "submission is empty"},
		{"negative deadline", []string{"a"}, func(r *api.RegisterRequest) { r.Deadline = -1 }, api.KindInvalid, "deadline_s"},
		{"more nodes at least than at most", []string{"a"}, func(r *api.RegisterRequest) { r.Nodes = &api.NodeRange{Least: 3, Most: 2} }, api.KindInvalid, "nodes.least is 3, more than nodes.most, 2"},
		{"a negative number of nodes", []string{"a"}, func(r *api.RegisterRequest) { r.Nodes = &api.NodeRange{Most: -1} }, api.KindInvalid, "nodes.most is negative (-1)"},
		{"more nodes than there are", []string{"a", "b"}, func(r *api.RegisterRequest) { r.Nodes = &api.NodeRange{Least: 3} }, api.KindInvalid, "fits 2 nodes, and the application asks for 3 at least"},
		{"other version", []string{"a"}, func(r *api.RegisterRequest) { r.V = 99 }, api.KindVersion, "99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.nodes...)
			r := registration("p", 60)
			c.change(&r)
			reply := w.register(r)
			if reply.Error == nil || reply.Error.Kind != c.kind || !strings.Contains(reply.Error.Message, c.says) || strings.Contains(reply.Error.Message, "\n") {
				t.Errorf("got %+v", reply)
			}
			if apps := w.control(api.VerbApps, api.ControlRequest{}).Apps; len(apps) != 0 {
				t.Errorf("it is listed: %+v", apps)
			}
		})
	}
}

// A driver calls its user what it likes: whom executors run as it cannot say.
func TestExecutorsRunAsWhomTheBusKnows(t *testing.T) {
	w := newWorld(t, "a")
	for i, user := range []string{"", "bob"} {
		r := registration("p", 0)
		r.Submission, r.User, r.Launch.User = fmt.Sprint(i), "alice", "alice"
		if user == "" {
			w.mustRegister(r)
		} else {
			w.registerAs(user, r)
		}
		if got := w.plans["a"].Apps[i].Launch.User; got != user {
			t.Errorf("executors run as %q, want %q", got, user)
		}
	}
}

// What only a node could hold that is away for a moment is no fault of the user's.
func TestWhatFitsANodeThatIsAwayMayTryAgain(t *testing.T) {
	w := newWorld(t, "a")
	w.memory = map[string]units.Bytes{"b": 64 * units.GiB}
	w.hello("b")
	for range 8 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	r := registration("p", 60)
	r.Launch.Heap = 16 * units.GiB
	if e := w.register(r).Error; e == nil || e.Kind != api.KindTransient || !strings.Contains(e.Message, "node b, which could hold it, is away") {
		t.Errorf("while it is away: %+v", e)
	}
	w.hello("b")
	w.mustRegister(r)
}

// A driver that was away until its application was given up registers by the old name. The request may
// come twice: the second one has what the first one got.
func TestARegistrationByAnEndedNameMayComeTwice(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.helloAs(w.status("a")) // Its executor has gone.
	for range 400 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	if a := w.e.View().EndedApp(id); a == nil {
		t.Fatal("a driver that is silent has an application")
	}
	r.AppID, r.Executors = id, 1
	first := w.mustRegister(r).AppID
	if second := w.mustRegister(r).AppID; first == id || second != first {
		t.Errorf("%s is %s, and %s by the same request", id, first, second)
	}
}

func TestARepeatedRegistrationIsHarmless(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	first := w.mustRegister(r)
	plan := w.plans["a"]
	r.AppID = first.AppID
	again := w.register(r)
	if again.AppID != first.AppID || again.Reason != first.Reason || again.Executors != first.Executors || again.Directive.Epoch != first.Directive.Epoch {
		t.Errorf("again: %+v, first %+v", again, first)
	}
	if again.AckedSeq != 1 {
		t.Errorf("acknowledged %d, want 1", again.AckedSeq)
	}
	if w.plans["a"].Epoch != plan.Epoch {
		t.Error("the plan changed")
	}
	w.tell(first.AppID, r.Submission, end(3))
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindConflict {
		t.Errorf("after its end: %+v", reply)
	}
}

func TestThePool(t *testing.T) {
	wide := diamond("p")
	for id := 3; id < 9; id++ { // Six more stages beside the join.
		s := wide.Stages[2]
		s.ID, s.Signature = id, string(rune('a'+id))
		wide.Stages = append(wide.Stages, s)
	}
	for _, c := range []struct {
		name     string
		profile  *api.Profile
		deadline units.Seconds
		heap     units.Bytes
		cores    int // Of an executor; a node has four.
		pool     int
		perStage int
	}{
		{"without a profile one per node", nil, 900, units.GiB, 0, 2, 0},
		{"without a deadline one per node", ptr(diamond("p")), 0, units.GiB, 0, 2, 0},
		{"as wide as the DAG", ptr(diamond("p")), 900, units.GiB, 0, 4, 0},
		{"at most four per node", &wide, 900, units.GiB, 0, 8, 0},
		{"as many as fit into the memory", &wide, 900, 4 * units.GiB, 0, 4, 0},
		{"as many as fill the node", nil, 900, units.GiB, 2, 4, 2},
		{"cores that are left over", nil, 900, units.GiB, 3, 2, 0},
		{"more cores than the node has", nil, 900, units.GiB, 9, 2, 0},
		{"as many for each stage", ptr(diamond("p")), 900, units.GiB, 2, 8, 2},
		{"of which memory holds fewer", ptr(diamond("p")), 900, 4 * units.GiB, 1, 4, 4},
		{"of which memory holds one", nil, 900, 10 * units.GiB, 1, 2, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := planner.Default()
			cfg.Branches = estimate.BranchesTogether
			w := newWorldOf(t, cfg, "a", "b")
			if c.profile != nil {
				w.put(*c.profile)
			}
			r := registration("p", c.deadline)
			r.Launch.Heap, r.Launch.Cores = c.heap, c.cores
			reply := w.register(r)
			if reply.Error != nil || reply.Executors != c.pool || len(reply.Directive.Executors) != c.pool {
				t.Fatalf("registered with %+v", reply)
			}
			if x := reply.Directive.Executors; x[0].Node == x[1].Node || x[0].Cores != 4/units.Cores(max(1, c.perStage)) ||
				x[0].ID != "1" || x[0].PerStage != c.perStage {
				t.Errorf("executors %+v, want the first ones on different nodes", x)
			}
			slots := 4
			if c.cores > 0 {
				slots = c.cores * min(max(1, c.perStage), c.pool/2)
			}
			if reply.Slots != 2*slots {
				t.Errorf("%d slots, want %d", reply.Slots, 2*slots)
			}
			for _, n := range []string{"a", "b"} {
				if got := len(w.plans[n].Apps[0].Executors); got != c.pool/2 {
					t.Errorf("%d executors in the plan of %s", got, n)
				}
			}
		})
	}
}

func TestMemoryAndSlotsOfAnExecutor(t *testing.T) {
	w := newWorld(t)
	s := w.status("a")
	s.Offered = 3.5
	w.helloAs(s)
	// The floor: what Spark would use of 1 GiB of heap for execution.
	reply := w.register(registration("p", 0))
	if want := 435 * units.MiB; reply.OffHeap != want {
		t.Errorf("off-heap %v, want %v", reply.OffHeap, want)
	}
	launch := w.plans["a"].Apps[0].Launch
	if launch.Cores != 4 || launch.OffHeap != reply.OffHeap || launch.Overhead != 384*units.MiB || reply.Slots != 4 {
		t.Errorf("launch %+v, slots %d", launch, reply.Slots)
	}

	r := registration("q", 0)
	r.Launch.OffHeapFixed, r.Launch.OffHeap, r.Launch.Cores, r.Launch.Overhead = true, 100*units.MiB, 2, units.GiB
	reply = w.register(r)
	launch = w.plans["a"].Apps[1].Launch
	if reply.OffHeap != 100*units.MiB || launch.OffHeap != reply.OffHeap || launch.Cores != 2 || launch.Overhead != units.GiB ||
		reply.Executors != 2 || reply.Slots != 4 {
		t.Errorf("what the user fixed: %+v, launch %+v", reply, launch)
	}

	r = registration("r", 0)
	r.Launch.Heap = 10 * units.GiB // Leaves 5 GiB of 16: less than Spark would use of the heap.
	if reply = w.register(r); reply.OffHeap != 0 {
		t.Errorf("off-heap %v, want none", reply.OffHeap)
	}
	// A floor that the user declared is not given up.
	r = registration("s", 0)
	r.Launch.OffHeapFloor = 15 * units.GiB
	if reply = w.register(r); reply.Error == nil || reply.Error.Kind != api.KindInvalid || !strings.Contains(reply.Error.Message, "15 GiB off the heap fits no node: the largest gives 16 GiB") {
		t.Errorf("a floor that fits no node: %+v", reply.Error)
	}
	r.Submission, r.Launch.OffHeapFloor = "t", 2*units.GiB
	if reply = w.register(r); reply.OffHeap != 2*units.GiB {
		t.Errorf("off-heap %v, want the floor", reply.OffHeap)
	}
}

// Executors have the same off-heap memory wherever they are: that of the node with most slots.
func TestTheFloorIsTheSameOnAllNodes(t *testing.T) {
	w := newWorld(t)
	for i, name := range []string{"a", "b"} {
		s := w.status(name)
		s.Offered = []units.Cores{4, 300}[i]
		w.helloAs(s)
	}
	r := registration("p", 0)
	r.Launch.Heap = 300 * units.MiB
	if reply := w.register(r); reply.OffHeap != 600*units.MiB || reply.Executors != 2 {
		t.Errorf("%d executors with %v, want 2 pages for each of 300 slots", reply.Executors, reply.OffHeap)
	}
	for _, n := range []string{"a", "b"} {
		if got := w.plans[n].Apps[0].Launch.OffHeap; got != 600*units.MiB {
			t.Errorf("on %s %v", n, got)
		}
	}
}

func TestTheDeadlineClockStartsBeforeTheRegistration(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 100)
	r.Elapsed = 30
	id := w.mustRegister(r).AppID
	w.live(time.Second, id)
	if d := w.app(id); !near(float64(d.Duration), 31, 1e-6) {
		t.Errorf("duration %v, want 31 s", d.Duration)
	}
	if got := w.plans["a"].Apps[0]; !got.HasDeadline || !near(float64(got.Remaining), 70, 1e-6) {
		t.Errorf("plan says %v s", got.Remaining)
	}
}

// The source's Speed (section 6.2) divides a node by the applications' average
// nominal rates, of which a node sees one stage at a time: the plan tells them.
func TestThePlanTellsTheAverageNominalRate(t *testing.T) {
	w := newWorld(t, "a")
	p := chain("p")
	w.put(p)
	w.live(time.Second, w.mustRegister(registration("p", 100)).AppID)
	g, err := dag.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.plans["a"].Apps[0].NominalRate, g.Rate(w.cfg.Beta); got != want || want <= 0 {
		t.Errorf("plan says %v records per core-second, want %v", float64(got), float64(want))
	}
	w.live(time.Second, w.mustRegister(registration("new", 100)).AppID)
	if got := w.plans["a"].Apps[1].NominalRate; got != 0 {
		t.Errorf("without a profile the plan says %v, want 0", float64(got))
	}
}
