package planner_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/fewest"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// A decider that lies is caught where its answer becomes a fact, with an error that says
// whose fault it is, and nothing has changed. In each test the world is drawn, the decider
// is asked, its answer is taken as it is or with one lie, and an answer that is true goes
// through.

// lie draws one of the lies about an answer and tells it; "" is the truth.
func lie[T any](t *rapid.T, answer *T, lies map[string]func(*T)) string {
	name := rapid.SampledFrom(append(slices.Sorted(maps.Keys(lies)), "")).Draw(t, "lie")
	if name != "" {
		lies[name](answer)
	}
	return name
}

// wild draws what no amount is.
func wild(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1}).Draw(t, "wild")
}

func outlook(c *ledgertest.Cluster) *estimate.Outlook {
	return planner.Estimates(planner.Default()).Outlook(c.View())
}

// recorded has the ledger take facts that are a lie or the truth.
func recorded(t *rapid.T, c *ledgertest.Cluster, lie string, f ledger.Fact) {
	err := c.Record(f)
	var impossible *ledger.ImpossibleError
	effects := c.Close()
	switch changed := len(effects.Changes)+len(effects.Pairs)+len(effects.Plans)+len(effects.Directives) > 0; {
	case lie == "" && err != nil:
		t.Fatalf("the truth is refused: %v", err)
	case lie != "" && !errors.As(err, &impossible):
		t.Fatalf("%s: %v, want an ImpossibleError", lie, err)
	case lie != "" && changed:
		t.Fatalf("%s is refused, and has changed the ledger: %+v", lie, effects)
	}
	if fault := c.Audit(); fault != "" {
		t.Fatalf("%q: %s", lie, fault)
	}
}

// lyingWorld is a cluster with a profile, an application that is paced by it on some
// nodes, and its first stage, which runs on all of its executors.
func lyingWorld(outer *testing.T, t *rapid.T) (*ledgertest.Cluster, *ledger.App, *ledger.Stage) {
	nodes := []string{"a", "b", "c", "d"}[:rapid.IntRange(2, 4).Draw(t, "nodes")]
	c := ledgertest.New(outer, nodes...)
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", units.Seconds(rapid.IntRange(20, 500).Draw(t, "deadline")), nodes...)
	c.To(units.Seconds(rapid.IntRange(1, 30).Draw(t, "now")))
	var all []api.ExecutorID
	for _, x := range a.Alive() {
		all = append(all, x.ID)
	}
	return c, a, c.Ready(a, 0, "read", rapid.Int64Range(1, 1e6).Draw(t, "records"), all...)
}

func TestAScheduleThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, a, s := lyingWorld(outer, t)
		f := schedule.Ready(outlook(c), a, s)
		one := &f.Targets[rapid.IntRange(0, len(f.Targets)-1).Draw(t, "target")]
		name := lie(t, &f, map[string]func(*ledger.StageAimed){
			"another application":     func(f *ledger.StageAimed) { f.App = "app-9" },
			"another stage":           func(f *ledger.StageAimed) { f.Stage.Attempt = 7 },
			"an executor of nobody":   func(*ledger.StageAimed) { one.Executor = "77" },
			"an executor elsewhere":   func(*ledger.StageAimed) { one.Node += "x" },
			"two targets for one":     func(f *ledger.StageAimed) { f.Targets[1] = f.Targets[0] },
			"another order":           func(f *ledger.StageAimed) { slices.Reverse(f.Targets) },
			"no tasks":                func(*ledger.StageAimed) { one.Tasks = 0 },
			"no weight":               func(*ledger.StageAimed) { one.Weight = 0 },
			"a weight that is none":   func(*ledger.StageAimed) { one.Weight = wild(t) },
			"work that is none":       func(*ledger.StageAimed) { one.Work = units.Work(wild(t)) },
			"records that are none":   func(*ledger.StageAimed) { one.Records = wild(t) },
			"a longest task of none":  func(*ledger.StageAimed) { one.LongestTask = units.Seconds(wild(t)) },
			"cores that are none":     func(*ledger.StageAimed) { one.InitCores = units.Cores(wild(t)) },
			"more than a node offers": func(*ledger.StageAimed) { one.InitCores = 4.05 },
			"an aim that is none":     func(f *ledger.StageAimed) { f.Aim.Work = units.Work(wild(t)) },
			"a need that is none":     func(f *ledger.StageAimed) { f.Aim.Least = units.Cores(wild(t)) },
			"a deadline of no time":   func(f *ledger.StageAimed) { f.First = units.Seconds(math.NaN()) },
		})
		recorded(t, c, name, f)
	})
}

func TestANumberOfExecutorsThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := ledgertest.New(outer, "own")
		on := ledgertest.Status("a", 1)
		on.Attach, on.Hosts = true, []string{"h"}
		c.Know(ledger.NodeJoined{Node: "a", Incarnation: "a-1"}, ledger.NodeSaid{Status: on}, ledger.ProfileSaved{Body: ledgertest.Chain("p")},
			ledger.Registered{ID: "app-1", Name: "p", Serial: 1, Matched: true,
				Tenant:  ledger.Tenant{Cores: 1, Slots: 1, Launch: api.Launch{Cores: 1, Attach: &api.Attach{Manager: api.ManagerYARN, App: "a", Least: 2, Most: 6}}},
				Promise: ledger.Promise{Profile: "p", Start: ledgertest.Start, Deadline: units.Seconds(rapid.IntRange(20, 900).Draw(t, "deadline")), Mode: ledger.Paced}})
		c.App("app-2", "p", 100, "own")
		levers := fewest.Decide(outlook(c), c.View().App("app-1"))
		f := levers[0].(placement.ExecutorsWanted)
		name := lie(t, &f, map[string]func(*placement.ExecutorsWanted){
			"another application":            func(f *placement.ExecutorsWanted) { f.App = "app-9" },
			"one that nodes serve":           func(f *placement.ExecutorsWanted) { f.App = "app-2" },
			"fewer than the user wants":      func(f *placement.ExecutorsWanted) { f.Count = 1 },
			"more than the user allows":      func(f *placement.ExecutorsWanted) { f.Count = 7 },
			"less than none":                 func(f *placement.ExecutorsWanted) { f.Count = -1 },
			"more than anybody could number": func(f *placement.ExecutorsWanted) { f.Count = api.MostExecutorID + 1 },
		})
		recorded(t, c, name, f)
	})
}

func TestASleepThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := ledgertest.New(outer, "a", "b", "drained", "asleep")
		c.Know(ledger.NodeDrained{Node: "drained", Draining: true}, placement.NodeSlept{OfNode: ledger.OfNode{Node: "asleep"}, Asleep: true})
		f := placement.NodeSlept{OfNode: ledger.OfNode{Node: "a"}, Asleep: true}
		if rapid.Bool().Draw(t, "wakes") {
			f = placement.NodeSlept{OfNode: ledger.OfNode{Node: "asleep"}}
		}
		name := lie(t, &f, map[string]func(*placement.NodeSlept){
			"a node of nobody":            func(f *placement.NodeSlept) { f.Node = "x" },
			"one that an operator drains": func(f *placement.NodeSlept) { f.Node = "drained" },
			"one that sleeps already":     func(f *placement.NodeSlept) { f.Node, f.Asleep = "asleep", true },
			"one that is awake wakes":     func(f *placement.NodeSlept) { f.Node, f.Asleep = "a", false },
			"the last one":                func(f *placement.NodeSlept) { c.Know(ledger.NodeLost{Node: "b"}); f.Node, f.Asleep = "a", true },
		})
		recorded(t, c, name, f)
	})
}

// A decider that takes what is promised, or lends more than there is, is caught.
func TestALoanThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := ledgertest.New(outer, "a", "b")
		heap := units.Bytes(rapid.IntRange(3, 7).Draw(t, "heap")) * units.GiB
		enter := func(id api.AppID, class api.Class, lent bool) {
			c.Know(ledger.Registered{ID: id, Name: string(id), Serial: c.View().Serial() + 1,
				Tenant:  ledger.Tenant{Class: class, Launch: api.Launch{Heap: heap}},
				Seats:   &ledger.Seats{Nodes: []string{"a"}, Cores: 4, Slots: 4, Lent: lent},
				Promise: ledger.Promise{Start: ledgertest.Start, Mode: ledger.Recording}})
		}
		enter("promised", api.ClassInteractive, false)
		enter("batch", api.ClassBatch, true)
		c.Know(ledger.Registered{ID: "due", Name: "due", Serial: c.View().Serial() + 1, Tenant: ledger.Tenant{Launch: api.Launch{Heap: 8 * units.GiB}},
			Seats: &ledger.Seats{Nodes: []string{"a"}, Cores: 4, Slots: 4}, Promise: ledger.Promise{Start: ledgertest.Start, Deadline: 60, Mode: ledger.Recording}})
		levers := lending.Back(c.View())
		if len(levers) == 0 {
			recorded(t, c, "", ledger.ClaimKept{App: "batch", ID: "1", Node: "a"})
			return
		}
		f := levers[0].(ledger.ExecutorTaken)
		name := lie(t, &f, map[string]func(*ledger.ExecutorTaken){
			"another application":                func(f *ledger.ExecutorTaken) { f.App = "app-9" },
			"one that is promised its memory":    func(f *ledger.ExecutorTaken) { f.App = "promised" },
			"one with a deadline":                func(f *ledger.ExecutorTaken) { f.App = "due" },
			"an executor of nobody":              func(f *ledger.ExecutorTaken) { f.ID = "7" },
			"an executor elsewhere":              func(f *ledger.ExecutorTaken) { f.Node = "b" },
			"an executor that was taken already": func(f *ledger.ExecutorTaken) { c.Know(*f) },
			"an executor that keeps its memory now": func(f *ledger.ExecutorTaken) {
				c.Know(ledger.ExecutorLost{App: "due", ID: "1"}, ledger.PlaceGivenBack{App: "due", Node: "a"}, ledger.ClaimKept{App: f.App, ID: f.ID, Node: f.Node})
			},
		})
		recorded(t, c, name, f)
		for what, lies := range map[string]ledger.Lever{
			"a loan to one that is promised its memory": ledger.Seated{App: "promised", Nodes: []string{"b"}, Lent: true},
			"more is lent than there is":                ledger.Seated{App: "batch", Nodes: []string{"b", "b", "b", "b", "b", "b"}, Lent: true},
			"more is promised than there is":            ledger.Seated{App: "promised", Nodes: []string{"b", "b", "b", "b", "b", "b"}},
			"more is kept than there is":                ledger.ClaimKept{App: "due", ID: "1", Node: "a"},
		} {
			recorded(t, c, what, lies)
		}
	})
}

// An estimate that lies is caught with the schedule that believes it, or does no harm: what
// a node is told can be told and is no more than it has.
func TestAnEstimateThatLiesReachesNoNode(outer *testing.T) {
	numbers := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e-300, 1, 1e300}
	rapid.Check(outer, func(t *rapid.T) {
		c, a, s := lyingWorld(outer, t)
		p := planner.Estimates(planner.Default())
		q := &p.Equations
		for _, number := range []*float64{&q.Alpha, &q.Beta, &q.Aim} {
			*number = rapid.SampledFrom(append(numbers, *number)).Draw(t, "parameter")
		}
		q.Quantum = units.Cores(rapid.SampledFrom(append(numbers, 0.05)).Draw(t, "quantum"))
		p.MaxPool = rapid.IntRange(-1, 4).Draw(t, "most executors")
		err := c.Record(schedule.Ready(p.Outlook(c.View()), a, s))
		var impossible *ledger.ImpossibleError
		if err != nil && !errors.As(err, &impossible) {
			t.Fatalf("%v, want an ImpossibleError", err)
		}
		effects := c.Close()
		if len(effects.Faults) > 0 || err != nil && len(effects.Plans) > 0 {
			t.Fatalf("%v; faults %v, %d plans", err, effects.Faults, len(effects.Plans))
		}
		for _, plan := range effects.Plans {
			if _, err := json.Marshal(plan); err != nil {
				t.Fatal(err)
			}
			for _, target := range plan.Apps[0].Stages {
				if !(target.InitCores >= 0 && target.InitCores <= 4) {
					t.Fatalf("executor %s begins with %v of 4 cores", target.Executor, target.InitCores)
				}
			}
		}
	})
}

func TestAHandOverThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, a, s := lyingWorld(outer, t)
		c.Know(schedule.Ready(outlook(c), a, s))
		f := ledger.StageShared{App: a.ID, Stage: s.Key()}
		moved := rapid.Float64Range(0, s.Targets[0].Weight).Draw(t, "moved")
		for i, target := range s.Targets {
			f.Shares = append(f.Shares, api.ExecutorShare{Executor: target.Executor, Weight: target.Weight + []float64{-moved, moved, 0, 0}[i]})
		}
		name := lie(t, &f, map[string]func(*ledger.StageShared){
			"another stage":          func(f *ledger.StageShared) { f.Stage.Stage = 9 },
			"a share too few":        func(f *ledger.StageShared) { f.Shares = f.Shares[1:] },
			"a share too many":       func(f *ledger.StageShared) { f.Shares = append(f.Shares, api.ExecutorShare{Executor: "9"}) },
			"another executor":       func(f *ledger.StageShared) { f.Shares[0].Executor = "9" },
			"another order":          func(f *ledger.StageShared) { slices.Reverse(f.Shares) },
			"a share that is none":   func(f *ledger.StageShared) { f.Shares[1].Weight = wild(t) },
			"more than the stage is": func(f *ledger.StageShared) { f.Shares[1].Weight++ },
			"less than the stage is": func(f *ledger.StageShared) { f.Shares[1].Weight /= 2 },
		})
		recorded(t, c, name, f)
	})
}

func TestAVerdictThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, a, _ := lyingWorld(outer, t)
		f := ledger.Judged{App: a.ID, Judgement: planner.Verdicts(planner.Default()).Again(outlook(c), a, a.Promise.Gate)}
		name := lie(t, &f, map[string]func(*ledger.Judged){
			"another application": func(f *ledger.Judged) { f.App = "app-9" },
			"a word of its own":   func(f *ledger.Judged) { f.Verdict = "perhaps" },
			"an end that is none": func(f *ledger.Judged) { f.Earliest = units.Seconds(wild(t)) },
		})
		recorded(t, c, name, f)
	})
}

func TestARecordingThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := ledgertest.New(outer, "a", "b")
		a := c.App("app-1", "p", 0, "a", "b")
		for i, signature := range []string{"read", "map", "sum"} {
			c.To(units.Seconds(10*i + 2))
			s := c.Ready(a, i, signature, rapid.Int64Range(1, 1e6).Draw(t, "records"), "1", "2")
			c.To(units.Seconds(10*i + 10))
			c.Done(a, s, units.Seconds(rapid.IntRange(1, 60).Draw(t, "work")), units.Seconds(10*i)+2.1)
		}
		c.Know(ledger.ContextStopped{App: a.ID, At: 32}, ledger.Exited{App: a.ID, At: 33, By: api.EndedByExit})
		_, learnt, err := recording.Record(c.View(), a)
		if err != nil {
			t.Fatal(err)
		}
		f := ledger.ProfileSaved{Body: learnt, By: a.ID}
		s := &f.Body.Stages[rapid.IntRange(0, 2).Draw(t, "stage")]
		name := lie(t, &f, map[string]func(*ledger.ProfileSaved){
			"no name":                 func(f *ledger.ProfileSaved) { f.Body.Name = "" },
			"another schema":          func(f *ledger.ProfileSaved) { f.Body.Schema++ },
			"no stages":               func(f *ledger.ProfileSaved) { f.Body.Stages = nil },
			"a stage after itself":    func(*ledger.ProfileSaved) { s.Parents = []int{s.ID} },
			"no tasks":                func(*ledger.ProfileSaved) { s.Tasks = 0 },
			"no records":              func(*ledger.ProfileSaved) { s.Records = 0 },
			"a duration that is none": func(*ledger.ProfileSaved) { s.Duration = units.Seconds(wild(t)) },
			"work that is none":       func(*ledger.ProfileSaved) { s.CoreSeconds = units.Work(wild(t)) },
			"a rate that is none":     func(*ledger.ProfileSaved) { s.NominalRate = units.Rate(wild(t)) },
			"cores that are none":     func(f *ledger.ProfileSaved) { f.Body.Cores = units.Cores(wild(t)) },
			"an exit that is none":    func(f *ledger.ProfileSaved) { f.Body.Exit = units.Seconds(wild(t)) },
		})
		recorded(t, c, name, f)
	})
}

func TestAReportThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, a, _ := lyingWorld(outer, t)
		other := c.App("app-2", "q", 0, "a")
		c.Know(ledger.ContextStopped{App: a.ID, At: 40, Failed: rapid.Bool().Draw(t, "failed")})
		c.Pass(time.Second)
		f := ledger.Archived{App: a.ID, Detail: report.Detail(c.View(), planner.Estimates(planner.Default()), a), Account: report.Account(planner.Estimates(planner.Default()), c.View(), a)}
		name := lie(t, &f, map[string]func(*ledger.Archived){
			"one that runs":         func(f *ledger.Archived) { f.App, f.Detail.ID = other.ID, other.ID },
			"one that is not there": func(f *ledger.Archived) { f.App, f.Detail.ID = "app-9", "app-9" },
			"another application":   func(f *ledger.Archived) { f.Detail.ID = other.ID },
			"another end":           func(f *ledger.Archived) { f.Detail.State = api.AppRunning },
		})
		recorded(t, c, name, f)
		recorded(t, c, "a refusal of one that runs", ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: other.ID, State: api.AppRefused}}})
		recorded(t, c, "a refusal of one that was taken in", ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-3", State: api.AppFinished}}})
		recorded(t, c, "an amendment of no history", ledger.EndedAmended{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-9"}}})
	})
}

// An application that comes is checked by the fact that it becomes.
func TestAnAdmissionThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, a, _ := lyingWorld(outer, t)
		r := registration(rapid.SampledFrom([]string{"p", "new"}).Draw(t, "name"), units.Seconds(rapid.IntRange(0, 500).Draw(t, "deadline")))
		d, err := admission.Decide(outlook(c), planner.Places(planner.Default()), r)
		if err != nil {
			t.Fatal(err)
		}
		f := ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial, Tenant: d.Tenant, Promise: d.Promise, Matched: d.Profile != nil,
			Queued: true}
		name := lie(t, &f, map[string]func(*ledger.Registered){
			"an id that is taken":      func(f *ledger.Registered) { f.ID = a.ID },
			"no id":                    func(f *ledger.Registered) { f.ID = "" },
			"a number that was given":  func(f *ledger.Registered) { f.Serial = c.View().Serial() },
			"a profile of nobody":      func(f *ledger.Registered) { f.Promise.Profile, f.Matched = "z", true },
			"a deadline that is none":  func(f *ledger.Registered) { f.Promise.Deadline = units.Seconds(wild(t)) },
			"cores that are none":      func(f *ledger.Registered) { f.Tenant.Cores = units.Cores(wild(t)) },
			"slots that are none":      func(f *ledger.Registered) { f.Tenant.Slots = -1 },
			"less than nothing off it": func(f *ledger.Registered) { f.Tenant.Launch.OffHeap = -units.MiB },
			"a heap of less than none": func(f *ledger.Registered) { f.Tenant.Launch.Heap = -units.GiB },
		})
		recorded(t, c, name, f)
	})
}

// What the queue's policy has start is checked by its seats, and by the facts that they
// become: no node gives more memory than it has.
func TestAQueueThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, _, _ := lyingWorld(outer, t)
		d, err := admission.Decide(outlook(c), planner.Places(planner.Default()), registration(rapid.SampledFrom([]string{"p", "new"}).Draw(t, "name"), 300))
		if err != nil {
			t.Fatal(err)
		}
		c.Know(ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial, Tenant: d.Tenant, Promise: d.Promise, Matched: d.Profile != nil,
			Queued: true})
		a := c.View().App(d.ID)
		choices := planner.Line(planner.Default()).Decide(outlook(c), nil)
		if len(choices) != 1 || choices[0].What != queue.Start {
			t.Fatalf("%+v", choices)
		}
		choice := choices[0]
		f := queue.Levers(c.Now, choices, nil)[0].(ledger.Started)
		n := f.Nodes[0]
		name := lie(t, &f, map[string]func(*ledger.Started){
			"one that runs":            func(f *ledger.Started) { f.App = "app-1" },
			"one that is not there":    func(f *ledger.Started) { f.App = "app-9" },
			"cores that are none":      func(f *ledger.Started) { f.Cores = units.Cores(wild(t)) },
			"slots that are none":      func(f *ledger.Started) { f.Slots = -1 },
			"executors of none":        func(f *ledger.Started) { f.PerNode = -1 },
			"a cap that is none":       func(f *ledger.Started) { f.Cap = -1 },
			"a verdict of its own":     func(f *ledger.Started) { f.Verdict = "perhaps" },
			"a profile of nobody":      func(f *ledger.Started) { c.Know(ledger.ProfileRemoved{Name: "p"}); f.Matched = true },
			"an end that is no time":   func(f *ledger.Started) { f.Earliest = units.Seconds(math.NaN()) },
			"no seats":                 func(f *ledger.Started) { f.Nodes = nil },
			"a seat nowhere":           func(f *ledger.Started) { f.Nodes = []string{""} },
			"a node of nobody":         func(f *ledger.Started) { f.Nodes = []string{"z"} },
			"more than memory holds":   func(f *ledger.Started) { f.Nodes = slices.Repeat([]string{n}, 100) },
			"more off the heap":        func(f *ledger.Started) { f.OffHeap = 100 * units.GiB },
			"less than nothing off it": func(f *ledger.Started) { f.OffHeap = -units.GiB },
		})
		recorded(t, c, "executors of one that waits", ledger.Seated{App: a.ID, Nodes: choice.Seating.Nodes()})
		recorded(t, c, name, f)
		if name != "" {
			for name, wait := range map[string]waiting.State{"a place of nobody": {Of: 1}, "a place behind the last": {Place: 2, Of: 1},
				"others that do not wait": {Place: 1, Of: 2}, "a wait since tomorrow": {Place: 1, Of: 1, Since: c.Now.Add(24 * time.Hour)},
				"a node of nobody": {Place: 1, Of: 1, Node: "z"}, "a start before all time": {Place: 1, Of: 1, Start: -1}} {
				recorded(t, c, name, waiting.Placed{OfApp: ledger.OfApp{App: a.ID}, Wait: wait})
			}
			return
		}
		recorded(t, c, "its start again", f)
		recorded(t, c, "a place of one that runs", waiting.Placed{OfApp: ledger.OfApp{App: a.ID}, Wait: waiting.State{Place: 1, Of: 1}})
		recorded(t, c, "a replacement on no node", ledger.ReplacementSent{App: a.ID, ID: a.Tenant.Next(), Lost: n, Node: "z"})
		recorded(t, c, "a replacement of nobody", ledger.ReplacementSent{App: a.ID, ID: a.Tenant.Next(), Lost: n, Node: n})
		recorded(t, c, "a size that is none", ledger.Resized{App: a.ID, Cores: units.Cores(wild(t))})
		recorded(t, c, "killed by nobody", ledger.KillAsked{App: a.ID})
		recorded(t, c, "learnt nothing", ledger.QueueLearnt{Key: "p"})
		recorded(t, c, "learnt too much", ledger.QueueLearnt{Key: "p", State: make([]byte, 1<<20)})
	})
}

// What is given back for one that waits is what its application has, and not more than it can do without.
func TestAGiftThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, a, _ := lyingWorld(outer, t)
		least := rapid.IntRange(1, len(a.Alive())).Draw(t, "least")
		for _, id := range []api.AppID{"app-2", "app-3"} {
			tenant := ledger.Tenant{Submission: "of " + string(id), Nodes: api.NodeRange{Least: least}, Launch: api.Launch{Heap: units.GiB}}
			f := ledger.Registered{ID: id, Name: string(id), Serial: c.View().Serial() + 1, Tenant: tenant, Promise: ledger.Promise{Start: c.Now}}
			if id == "app-2" {
				f.Seats = &ledger.Seats{Nodes: a.Seats()}
			} else {
				f.Queued = true
			}
			c.Know(f)
		}
		giver := c.View().App("app-2")
		spare := len(giver.Alive()) - least
		for i, x := range giver.Alive() {
			f := ledger.ExecutorLeaving{App: giver.ID, ID: x.ID, For: "app-3", Node: x.Node}
			if i >= spare {
				recorded(t, c, "a core unit", f)
				continue
			}
			name := lie(t, &f, map[string]func(*ledger.ExecutorLeaving){
				"another application":  func(f *ledger.ExecutorLeaving) { f.App = "app-9" },
				"an executor of none":  func(f *ledger.ExecutorLeaving) { f.ID = "77" },
				"another node":         func(f *ledger.ExecutorLeaving) { f.Node += "x" },
				"for nobody":           func(f *ledger.ExecutorLeaving) { f.For = "app-9" },
				"for one that runs":    func(f *ledger.ExecutorLeaving) { f.For = a.ID },
				"of one that waits":    func(f *ledger.ExecutorLeaving) { f.App = "app-3" },
				"for the one it is of": func(f *ledger.ExecutorLeaving) { f.For = f.App },
			})
			recorded(t, c, name, f)
			recorded(t, c, "it stayed, for another one", waiting.Stayed{OfApp: ledger.OfApp{App: giver.ID}, ID: x.ID, For: a.ID})
			if name != "" {
				return
			}
			recorded(t, c, "it again", f)
			recorded(t, c, "", waiting.Stayed{OfApp: ledger.OfApp{App: giver.ID}, ID: x.ID, Node: x.Node, For: "app-3"})
		}
	})
}

// Seats of an application that runs: those on nodes that have come since.
func TestAPlacementThatLiesIsCaught(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c, a, _ := lyingWorld(outer, t)
		for _, n := range []string{"x", "y", "drained"} {
			c.Know(ledger.NodeJoined{Node: n, Incarnation: n + "-1"}, ledger.NodeSaid{Status: ledgertest.Status(n, 1)})
		}
		c.Know(ledger.NodeDrained{Node: "drained", Draining: true})
		seats, _ := planner.Places(planner.Default()).Growth(outlook(c), a)
		if len(seats) != 2 {
			t.Fatalf("%d seats on two new nodes", len(seats))
		}
		f := seats[0].(ledger.Seated)
		name := lie(t, &f, map[string]func(*ledger.Seated){
			"a seat nowhere":         func(f *ledger.Seated) { f.Nodes[0] = "" },
			"a node of nobody":       func(f *ledger.Seated) { f.Nodes[0] = "z" },
			"a node that drains":     func(f *ledger.Seated) { f.Nodes[0] = "drained" },
			"a seat of nothing":      func(f *ledger.Seated) { f.Nodes = nil },
			"more than memory holds": func(f *ledger.Seated) { f.Nodes = slices.Repeat(f.Nodes[:1], 20) },
		})
		recorded(t, c, name, f)
	})
}
