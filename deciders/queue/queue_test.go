package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

func policy() queue.Policy {
	return queue.Policy{Order: assign.EDF, Places: placement.Policy{Order: placement.LeastCommitted}}
}

func outlook(c *ledgertest.Cluster) *estimate.Outlook {
	return estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesAuto, MaxPool: 4}.Outlook(c.View())
}

// waits has an application wait with executors of that heap, and nothing else.
func waits(c *ledgertest.Cluster, id api.AppID, deadline units.Seconds, heap units.Bytes) *ledger.App {
	c.Helper()
	c.Know(ledger.Registered{ID: id, Name: string(id), Serial: c.View().Serial() + 1,
		Tenant:  ledger.Tenant{Submission: "of " + string(id), Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: heap, OffHeapFixed: true}},
		Promise: ledger.Promise{Profile: string(id), Start: c.Now, Deadline: deadline, Mode: ledger.Recording}, Queued: true})
	return c.View().App(id)
}

// obey carries out what is decided, and returns who started.
func obey(c *ledgertest.Cluster, choices []queue.Choice) (started []api.AppID) {
	c.Helper()
	for _, lever := range queue.Levers(c.Now, choices, nil) {
		c.Know(lever)
		if f, starts := lever.(ledger.Started); starts {
			started = append(started, f.App)
		}
	}
	return started
}

func ends(c *ledgertest.Cluster, a *ledger.App) {
	c.Helper()
	c.Know(ledger.ContextStopped{App: a.ID, At: a.At(c.Now)})
	for _, x := range a.Alive() {
		c.Know(ledger.ExecutorLost{App: a.ID, ID: x.ID})
	}
}

// Earliest deadline first, then arrival; without a deadline as if due after Patience.
func TestTheOrder(t *testing.T) {
	c := ledgertest.New(t, "a")
	waits(c, "app-1", 0, 20*units.GiB)
	waits(c, "app-2", 300, 20*units.GiB)
	c.To(10)
	waits(c, "app-3", 100, 20*units.GiB)
	waits(c, "app-4", 0, 20*units.GiB)
	waits(c, "app-5", 7200, 20*units.GiB)
	s := ledgertest.Status("a", 2)
	s.Memory = 30 * units.GiB
	c.Know(ledger.NodeSaid{Status: s})
	c.App("app-0", "p", 0, "a")
	c.Know(ledger.NodeDrained{Node: "a", Draining: true}) // Nobody starts.
	var order []api.AppID
	for i, w := range policy().Decide(outlook(c), nil) {
		order = append(order, w.App.ID)
		if w.What != queue.Wait || w.Wait.Place != i+1 || w.Wait.Of != 5 {
			t.Errorf("%s: %+v", w.App.ID, w)
		}
	}
	if want := []api.AppID{"app-3", "app-2", "app-1", "app-4", "app-5"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

// One that is due late and needs long starts in time beside a stream of others that would all be
// served before it: those without a deadline, and those that are due earlier.
func TestALongOneStartsInTimeBesideAStream(t *testing.T) {
	const minute = units.Seconds(60)
	for name, deadline := range map[string]units.Seconds{"without a deadline": 0, "due in two hours": 120 * minute} {
		c, p := ledgertest.New(t, "a"), policy()
		body := ledgertest.Chain("long") // Some 16 hours on the node.
		for i := range body.Stages {
			s := &body.Stages[i]
			s.Duration, s.CoreSeconds, s.NominalRate = s.Duration*1000, s.CoreSeconds*1000, s.NominalRate/1000
		}
		body.Duration *= 1000
		c.Know(ledger.ProfileSaved{Body: body})
		stream, began := 0, map[api.AppID]units.Seconds{}
		arrive := func() {
			stream++
			waits(c, api.AppID(fmt.Sprintf("app-%04d", stream)), deadline, 10*units.GiB)
		}
		arrive()
		obey(c, p.Decide(outlook(c), nil))
		long := ledger.Promise{Profile: "long", Start: c.Now, Deadline: 20 * 60 * minute, Mode: ledger.Paced}
		c.Know(ledger.Registered{ID: "app-long", Name: "long", Serial: c.View().Serial() + 1, Promise: long, Matched: true,
			Tenant: ledger.Tenant{Submission: "of the long one", Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: 10 * units.GiB, OffHeapFixed: true}},
			Queued: true})
		a := c.View().App("app-long")
		for now := units.Seconds(0); a.Queued(); now += minute {
			c.To(now)
			if now > long.Deadline {
				t.Fatalf("%s: it never started", name)
			}
			if int(now)%600 == 0 {
				arrive()
			}
			for x := range c.View().Running() {
				if now >= began[x.ID]+10*minute {
					ends(c, x)
				}
			}
			for _, id := range obey(c, p.Decide(outlook(c), nil)) {
				began[id] = now
			}
		}
		latest, now := verdict.Latest(outlook(c), a, placement.Seating{Cores: 4, Slots: 4}), c.Now
		if latest == 0 || now > latest || now < latest.Add(-queue.Patience) {
			t.Errorf("%s: it started %v before its latest start", name, latest.Sub(now))
		}
	}
}

// A launch that a node's Plan does not hold beside others has its application wait for these, told
// so, while those behind it pass; what frees it is not taken by those that came later.
func TestAHeadThatNoPlanHoldsIsToldAndPassed(t *testing.T) {
	c, p := ledgertest.New(t, "a"), policy()
	heavy := func(id api.AppID, heap units.Bytes) *ledger.App {
		c.Know(ledger.Registered{ID: id, Name: string(id), Serial: c.View().Serial() + 1,
			Tenant: ledger.Tenant{Submission: "of " + string(id), Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: heap, OffHeapFixed: true,
				ClassPath: []string{strings.Repeat("<", api.MostLaunch-1024)}}},
			Promise: ledger.Promise{Profile: string(id), Start: c.Now, Mode: ledger.Recording}, Queued: true})
		return c.View().App(id)
	}
	ask := func(want ...api.AppID) {
		t.Helper()
		if started := obey(c, p.Decide(outlook(c), nil)); !slices.Equal(started, want) {
			t.Fatalf("%v started, want %v", started, want)
		}
	}
	var first []api.AppID
	for i := range 16 { // More than 16 of them no Plan holds.
		first = append(first, api.AppID(fmt.Sprintf("app-%02d", i)))
		heavy(first[i], units.MiB)
	}
	ask(first...)
	large := waits(c, "app-large", 0, 12*units.GiB)
	ask("app-large")
	c.To(1)
	head := heavy("app-head", 10*units.GiB)
	ask()
	if waiting.Of(head).Plan || !strings.Contains(waiting.Of(head).Why, "the most that is free is") {
		t.Errorf("while memory is short: %+v", waiting.Of(head))
	}
	c.To(2)
	ends(c, large)
	late := heavy("app-late", units.MiB)
	waits(c, "app-light", 0, units.GiB)
	choices := p.Decide(outlook(c), nil)
	if w := choices[0]; w.App != head || !w.Wait.Plan || !strings.Contains(w.Wait.Why, "the plan of node a has no room: a plan takes 6291456 bytes") ||
		!strings.Contains(w.Judgement.Reason, "starts when others have ended (the plan of node a") {
		t.Errorf("%+v", w)
	}
	ask("app-light")
	comes := waiting.With(&ledger.App{ID: "app-new", Tenant: late.Tenant, Promise: ledger.Promise{Start: c.Now, Mode: ledger.Recording}}, waiting.Coming(c.View(), false))
	choices = p.Decide(outlook(c), &queue.Newcomer{App: comes})
	if last := choices[len(choices)-1]; last.What != queue.Refuse || api.KindOf(last.Err) != api.KindTransient {
		t.Errorf("one that comes: %+v", last)
	}
	comes.Tenant.Nodes.Least = 2
	choices = p.Decide(outlook(c), &queue.Newcomer{App: comes})
	if last := choices[len(choices)-1]; last.Err == nil || !strings.Contains(last.Err.Error(), "the plan of node a has no room") {
		t.Errorf("one that comes for two nodes: %+v", last)
	}
	c.To(3)
	ends(c, c.View().App(first[0]))
	ask("app-head")
	ends(c, c.View().App(first[1]))
	ask("app-late")
}

// A large one at the head is passed by what fits beside it, and by no more: the small one
// would take the memory that it waits for.
func TestTheHeadIsNotPassedForEver(t *testing.T) {
	c := ledgertest.New(t, "a") // 16 GiB.
	long := waits(c, "app-1", 0, 8*units.GiB)
	obey(c, policy().Decide(outlook(c), nil))
	c.To(1)
	waits(c, "app-2", 50, 14*units.GiB)
	obey(c, policy().Decide(outlook(c), nil))
	c.To(2)
	for i := range 7 {
		waits(c, api.AppID(fmt.Sprint("app-", i+3)), 0, 2*units.GiB)
	}
	started := obey(c, policy().Decide(outlook(c), nil))
	if !slices.Equal(started, []api.AppID{"app-3"}) {
		t.Fatalf("%v started behind the head, want one: 2g are left beside its 14g", started)
	}
	c.To(3)
	ends(c, c.View().App("app-3"))
	if started = obey(c, policy().Decide(outlook(c), nil)); !slices.Equal(started, []api.AppID{"app-4"}) {
		t.Fatalf("%v started when the first of the small ones ended", started)
	}
	c.To(4)
	ends(c, long)
	if started = obey(c, policy().Decide(outlook(c), nil)); !slices.Equal(started, []api.AppID{"app-2"}) {
		t.Fatalf("%v started when what the head waited for ended", started)
	}
}

// Expected starts follow what earlier runs took, and say nothing where nobody knows.
func TestExpectedStartsAreLearnt(t *testing.T) {
	c := ledgertest.New(t, "a")
	p := policy()
	first := waits(c, "app-1", 0, 10*units.GiB)
	obey(c, p.Decide(outlook(c), nil))
	waits(c, "app-2", 0, 10*units.GiB)
	if w := p.Decide(outlook(c), nil)[0]; w.Wait.Start != 0 || !strings.Contains(w.Judgement.Reason, "queued at place 1 of 1, starts when memory comes free (an executor of 10 GiB heap") {
		t.Errorf("nobody knows, but: %+v", w)
	}
	c.To(100)
	c.Know(ledger.ContextStopped{App: first.ID, At: 100})
	if _, _, ok := p.Learn(c.View(), first); ok {
		t.Error("learnt of a run of which nobody knows how it ended")
	}
	c.Know(ledger.Exited{App: first.ID, At: 100, By: api.EndedByExit})
	key, state, ok := p.Learn(c.View(), first)
	if !ok || key != "app-1" {
		t.Fatalf("learnt %q, %s, %v", key, state, ok)
	}
	c.Know(ledger.QueueLearnt{Key: "app-3", State: state}, ledger.ExecutorLost{App: first.ID, ID: "1"})
	obey(c, p.Decide(outlook(c), nil)) // The second one, of which nothing is known.
	ends(c, c.View().App("app-2"))
	third := waits(c, "app-3", 0, 10*units.GiB)
	obey(c, p.Decide(outlook(c), nil))
	c.To(130)
	waits(c, "app-4", 0, 10*units.GiB)
	waits(c, "app-5", 1000, 9*units.GiB)
	choices := p.Decide(outlook(c), nil)
	if got := units.FromDuration(choices[0].Wait.Start.Sub(c.Now)); choices[0].App.ID != "app-5" || got < 69 || got > 75 {
		t.Errorf("%s is expected to start in %v, want 70 s: runs of %s take 100 s", choices[0].App.ID, got, third.Promise.Profile)
	}
	if choices[1].Wait.Start != 0 || choices[1].Wait.Node != "" {
		t.Errorf("behind one of which nothing is known: %+v", choices[1].Wait)
	}
	c.Know(ledger.ContextStopped{App: third.ID, At: 130, Failed: true})
	if _, _, ok := p.Learn(c.View(), third); ok {
		t.Error("a failed run taught something")
	}
}

// Who does not want to wait is refused with what would fit; so is who must be in time.
// Who waits and can be in time no more is refused, where its user wants that; those behind it
// move up.
func TestThoseBehindOneThatIsRefusedMoveUp(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	waits(c, "app-1", 0, 10*units.GiB)
	obey(c, policy().Decide(outlook(c), nil))
	strict := ledger.Promise{Profile: "p", Start: c.Now, Deadline: 30, Mode: ledger.Paced, Required: true}
	c.Know(ledger.Registered{ID: "app-2", Name: "p", Serial: c.View().Serial() + 1, Promise: strict, Matched: true,
		Tenant: ledger.Tenant{Submission: "of app-2", Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: 10 * units.GiB, OffHeapFixed: true}},
		Queued: true})
	waits(c, "app-3", 0, 9*units.GiB)
	choices := policy().Decide(outlook(c), nil)
	if len(choices) != 2 || choices[0].What != queue.Refuse || api.KindOf(choices[0].Err) != api.KindInfeasible {
		t.Fatalf("%+v", choices)
	}
	if w := choices[1].Wait; choices[1].What != queue.Wait || w.Place != 1 || w.Of != 1 || !strings.Contains(choices[1].Judgement.Reason, "place 1 of 1") {
		t.Errorf("%+v", choices[1])
	}
}

func TestRefusals(t *testing.T) {
	c := ledgertest.New(t, "a")
	waits(c, "app-1", 0, 10*units.GiB)
	obey(c, policy().Decide(outlook(c), nil))
	comes := waiting.With(&ledger.App{ID: "app-2", Tenant: ledger.Tenant{Launch: api.Launch{Heap: 10 * units.GiB, OffHeapFixed: true}},
		Promise: ledger.Promise{Start: c.Now, Mode: ledger.Recording}}, waiting.Coming(c.View(), false))
	choice := policy().Decide(outlook(c), &queue.Newcomer{App: comes, NoWait: true})[0]
	if choice.What != queue.Refuse || api.KindOf(choice.Err) != api.KindConflict || !strings.Contains(choice.Err.Error(), "a heap of 6 GiB would fit") {
		t.Errorf("one that is not to wait: %+v", choice)
	}
	strict := *comes
	strict.Promise.Deadline, strict.Promise.Required = 100, true
	if choice = policy().Decide(outlook(c), &queue.Newcomer{App: &strict})[0]; choice.What != queue.Refuse || api.KindOf(choice.Err) != api.KindInfeasible {
		t.Errorf("one that must be in time: %+v", choice)
	}
	if choice = policy().Decide(outlook(c), &queue.Newcomer{App: comes})[0]; choice.What != queue.Wait || choice.Wait.Node != "a" {
		t.Errorf("one that waits: %+v", choice)
	}
}

// Of a node that gives less than is taken there, those that come last are hit.
func TestBeyond(t *testing.T) {
	c := ledgertest.New(t, "a")
	for id, deadline := range map[api.AppID]units.Seconds{"app-1": 0, "app-2": 500, "app-3": 100} {
		waits(c, id, deadline, 5*units.GiB)
	}
	obey(c, policy().Decide(outlook(c), nil))
	s := ledgertest.Status("a", 2)
	s.Memory = 11 * units.GiB
	c.Know(ledger.NodeSaid{Status: s})
	if memory, cores := policy().Overcommitted(c.View(), c.View().Node("a"), 4); len(memory) != 1 || memory[0].ID != "app-1" || len(cores) != 0 {
		t.Errorf("hit: %v, %v", memory, cores)
	}
}

// Whatever comes, ends and changes: no node gives more than it has, the choices are the same
// in any order of asking, and who waits starts once those have ended that ran when it came
// and those before it in the order have, whoever else comes.
func TestNobodyStarves(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := ledgertest.New(outer, []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "nodes")]...)
		p := policy()
		serial, now := 0, units.Seconds(0)
		arrive := func(least, most int) *ledger.App {
			serial++
			deadline := units.Seconds(0)
			if rapid.Bool().Draw(t, "due") {
				deadline = units.Seconds(rapid.IntRange(1, 5000).Draw(t, "deadline"))
			}
			return waits(c, api.AppID(fmt.Sprintf("app-%04d", serial)), deadline, units.Bytes(rapid.IntRange(least, most).Draw(t, "heap"))*units.GiB)
		}
		ask := func() {
			choices, again := p.Decide(outlook(c), nil), p.Decide(outlook(c), nil)
			for i := range choices {
				if choices[i].App != again[i].App || choices[i].What != again[i].What || choices[i].Wait != again[i].Wait {
					t.Fatalf("asked twice: %+v, %+v", choices[i], again[i])
				}
			}
			obey(c, choices)
			for _, n := range c.View().Nodes() {
				var taken units.Bytes
				for _, a := range c.View().Allocations(n.Node) {
					taken += units.Bytes(len(a.Executors)) * a.App.Tenant.Launch.Heap
				}
				if taken > n.Memory || taken != c.View().Claimed(n) {
					t.Fatalf("on %s %v are taken of %v, by its ledger %v", n.Node, taken, n.Memory, c.View().Claimed(n))
				}
			}
		}
		pass := func() {
			now++
			c.To(now)
		}
		for range rapid.IntRange(0, 12).Draw(t, "before") {
			arrive(1, 16)
			pass()
			ask()
		}
		big := waits(c, "app-big", 0, 15*units.GiB)
		ask()
		// Small ones come without end, at least one for each that ends.
		for round := 0; big.Queued(); round++ {
			if round > 60 {
				t.Fatalf("after %d rounds it still waits: %+v", round, waiting.Of(big))
			}
			pass()
			serial++
			waits(c, api.AppID(fmt.Sprintf("app-%04d", serial)), units.Seconds(3600+100*rapid.IntRange(0, 5).Draw(t, "late")), units.Bytes(rapid.IntRange(1, 8).Draw(t, "small"))*units.GiB)
			ask()
			pass()
			if running := slices.Collect(c.View().Running()); len(running) > 0 {
				ends(c, slices.MinFunc(running, func(a, b *ledger.App) int { return int(a.Promise.Start - b.Promise.Start) }))
			}
			ask()
		}
	})
}

// A waiting application of a profile that has come meanwhile is paced when it starts.
func TestAProfileThatHasCome(t *testing.T) {
	c := ledgertest.New(t, "a")
	a := waits(c, "app-1", 200, 10*units.GiB)
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("app-1")})
	choice := policy().Decide(outlook(c), nil)[0]
	if choice.What != queue.Start || choice.Mode != ledger.Paced || !choice.Matched || choice.Judgement.Verdict == api.VerdictUnknown {
		t.Fatalf("%+v", choice)
	}
	obey(c, []queue.Choice{choice})
	if !a.Running() || a.Profile == nil || !a.Paced() {
		t.Errorf("%+v", a)
	}
	c.Pass(time.Second)
}
