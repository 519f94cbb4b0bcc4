package queue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// by is the policy of a rule.
func by(rule string) queue.Policy {
	p := policy()
	p.Rule = rule
	return p
}

// wish is an application that comes.
type wish struct {
	class       api.Class
	deadline    units.Seconds
	heap        units.Bytes // 10 GiB where it is 0: a node holds one.
	least, most int
	profile     string
}

// comes has an application wait.
func comes(c *ledgertest.Cluster, id api.AppID, w wish) *ledger.App {
	c.Helper()
	heap, mode := w.heap, ledger.Recording
	if heap == 0 {
		heap = 10 * units.GiB
	}
	if w.profile == "" {
		w.profile = string(id)
	} else {
		mode = ledger.Paced
	}
	c.Know(ledger.Registered{ID: id, Name: string(id), Serial: c.View().Serial() + 1, Matched: mode == ledger.Paced,
		Tenant: ledger.Tenant{Submission: "of " + string(id), Class: w.class, Nodes: api.NodeRange{Least: w.least, Most: w.most},
			Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: heap, OffHeapFixed: true}},
		Promise: ledger.Promise{Profile: w.profile, Start: c.Now, Deadline: w.deadline, Mode: mode}, Queued: true})
	return c.View().App(id)
}

// runs has an application start by p, and its executors register.
func runs(c *ledgertest.Cluster, p queue.Policy, id api.AppID, w wish) *ledger.App {
	c.Helper()
	a := comes(c, id, w)
	obey(c, p.Decide(outlook(c), nil))
	if !a.Running() {
		c.Fatalf("%s does not start: %+v", id, waiting.Of(a))
	}
	registers(c, a)
	return a
}

func registers(c *ledgertest.Cluster, a *ledger.App) {
	c.Helper()
	for _, x := range a.Alive() {
		if !x.Registered {
			c.Know(ledger.ExecutorUp{App: a.ID, ID: x.ID})
		}
	}
}

// gives are those that give back, as "app-1 b app-2".
func gives(choices []queue.Choice) (all []string) {
	for i := range choices {
		if x := &choices[i]; x.What == queue.GiveBack {
			all = append(all, fmt.Sprintf("%s %s %s", x.App.ID, x.Node, x.For))
		}
	}
	return all
}

// left has all leave that were asked to.
func left(c *ledgertest.Cluster) {
	c.Helper()
	for _, a := range c.View().Apps() {
		for _, x := range a.Alive() {
			if x.Leaving {
				c.Know(ledger.ExecutorLost{App: a.ID, ID: x.ID, Node: x.Node, Leaving: true})
			}
		}
	}
}

// TestOneThatWaitsIsGivenTheNewestUnit: somebody who sits before it gets the newest node of one that runs on two, and
// keeps its memory until the executor has left.
func TestOneThatWaitsIsGivenTheNewestUnit(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b"), by(assign.FlexiblePreemptive)
	batch := runs(c, p, "app-1", wish{})
	c.To(30)
	shell := comes(c, "app-2", wish{class: api.ClassInteractive})
	choices := p.Decide(outlook(c), nil)
	if got := gives(choices); !slices.Equal(got, []string{"app-1 b app-2"}) {
		t.Fatalf("given: %v", got)
	}
	if w := choices[0].Wait; w.Node != "b" || w.Start != c.Now.Add(30*time.Second) || w.Why != "it gets node b, where others leave for it" {
		t.Errorf("it waits: %+v", w)
	}
	obey(c, choices)
	g, _ := waiting.GiftOf(batch, "2")
	if given := waiting.Given(c.View())[shell.ID]; !batch.Executor("2").Leaving || g.For != "app-2" || batch.Executor("1").Leaving || len(given) != 1 {
		t.Errorf("%+v, given %+v", g, given)
	}
	if choices = p.Decide(outlook(c), nil); len(choices) != 1 || choices[0].Wait.Node != "b" {
		t.Errorf("asked again: %v, %+v", gives(choices), choices[0].Wait)
	}
	// One of the same priority that comes meanwhile gets nothing of it.
	comes(c, "app-3", wish{class: api.ClassInteractive, heap: 6 * units.GiB})
	left(c)
	if started := obey(c, p.Decide(outlook(c), nil)); !slices.Contains(started, "app-2") || !slices.Equal(shell.Seats(), []string{"b"}) {
		t.Errorf("%v started, the first on %v", started, shell.Seats())
	}
	if queue.Grows(outlook(c), batch) {
		t.Error("it would get another one at once")
	}
	c.To(151)
	if !queue.Grows(outlook(c), batch) {
		t.Error("it gets none after two minutes")
	}
}

// TestWhatIsNotGivenBack: a unit stays where its application could not do without it, or where nothing would be won.
func TestWhatIsNotGivenBack(t *testing.T) {
	for name, make := range map[string]func(c *ledgertest.Cluster, p *queue.Policy, w *wish){
		"core units":             func(_ *ledgertest.Cluster, _ *queue.Policy, w *wish) { w.least = 2 },
		"by the rule malleable":  func(_ *ledgertest.Cluster, p *queue.Policy, _ *wish) { p.Rule = assign.Malleable },
		"by the rule rigid":      func(_ *ledgertest.Cluster, p *queue.Policy, _ *wish) { p.Rule = assign.Rigid },
		"by the rule backfill":   func(_ *ledgertest.Cluster, p *queue.Policy, _ *wish) { p.Rule = assign.Backfill },
		"on arrival, Alg. 1":     func(_ *ledgertest.Cluster, p *queue.Policy, _ *wish) { p.Rule = assign.Flexible },
		"of an equal":            func(_ *ledgertest.Cluster, _ *queue.Policy, w *wish) { w.class = api.ClassInteractive },
		"of a node that is lost": func(c *ledgertest.Cluster, _ *queue.Policy, _ *wish) { c.Know(ledger.NodeLost{Node: "b"}) },
		"what a promise needs": func(c *ledgertest.Cluster, _ *queue.Policy, w *wish) {
			body := ledgertest.Chain("p") // It fills 5 cores for a minute.
			for i := range body.Stages {
				body.Stages[i].CoreSeconds, body.Stages[i].NominalRate = 2*body.Stages[i].CoreSeconds, body.Stages[i].NominalRate/2
			}
			c.Know(ledger.ProfileSaved{Body: body})
			w.profile, w.deadline = "p", 90
		},
	} {
		c, p, w := ledgertest.New(t, "a", "b"), by(assign.FlexiblePreemptive), wish{}
		if name != "of a node that is lost" {
			make(c, &p, &w)
		}
		runs(c, p, "app-1", w)
		if name == "of a node that is lost" {
			make(c, &p, &w)
		}
		c.To(5)
		comes(c, "app-2", wish{class: api.ClassInteractive})
		if got := gives(p.Decide(outlook(c), nil)); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAPromiseThatNeedsLessGives: with time enough the same application keeps one node.
func TestAPromiseThatNeedsLessGives(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b"), by(assign.FlexiblePreemptive)
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	runs(c, p, "app-1", wish{profile: "p", deadline: 500})
	c.To(5)
	comes(c, "app-2", wish{class: api.ClassInteractive})
	if got := gives(p.Decide(outlook(c), nil)); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// TestGivingWaitsForARegisteredExecutor: an application whose other executors only start gives nothing, nor does one
// whose memory comes free by itself in a moment.
func TestGivingWaitsForARegisteredExecutor(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b"), by(assign.FlexiblePreemptive)
	batch := comes(c, "app-1", wish{})
	obey(c, p.Decide(outlook(c), nil))
	comes(c, "app-2", wish{class: api.ClassInteractive})
	if got := gives(p.Decide(outlook(c), nil)); got != nil {
		t.Errorf("nobody has registered: %v", got)
	}
	c.Know(ledger.ExecutorUp{App: batch.ID, ID: "2"})
	if got := gives(p.Decide(outlook(c), nil)); !slices.Equal(got, []string{"app-1 a app-2"}) {
		t.Errorf("on b one has registered: %v", got)
	}
	c.Know(ledger.ExecutorUp{App: batch.ID, ID: "1"}, ledger.ContextStopped{App: batch.ID, At: 1})
	if got := gives(p.Decide(outlook(c), nil)); got != nil {
		t.Errorf("it has ended: %v", got)
	}
}

// TestMemoryThatIsNotFreeInTimeIsGiven: one that is expected to start in a moment, and does not, is given something.
func TestMemoryThatIsNotFreeInTimeIsGiven(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b", "c"), by(assign.FlexiblePreemptive)
	c.Know(ledger.QueueLearnt{Key: "app-1", State: []byte(`{"v":1,"runs":1,"took_s":30}`)})
	runs(c, p, "app-1", wish{most: 1})
	runs(c, p, "app-2", wish{})
	c.To(20)
	comes(c, "app-3", wish{class: api.ClassInteractive})
	choices := p.Decide(outlook(c), nil)
	if got := gives(choices); got != nil || choices[0].Wait.Start != ledgertest.Start.Add(32*time.Second) {
		t.Fatalf("%v, %+v", got, choices[0].Wait)
	}
	obey(c, choices)
	c.To(33)
	if got := gives(p.Decide(outlook(c), nil)); !slices.Equal(got, []string{"app-2 c app-3"}) {
		t.Errorf("%v", got)
	}
}

// TestWhoGrows: nobody who has given something back a moment ago, and nobody who ends in a moment; and what one has got
// while it runs it keeps for two minutes.
func TestWhoGrows(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b"), by(assign.FlexiblePreemptive)
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := runs(c, p, "app-1", wish{profile: "p", deadline: 5000, most: 1})
	if !queue.Grows(outlook(c), a) {
		t.Error("it has hours left, and does not grow")
	}
	body := ledgertest.Chain("q") // 17 core-seconds.
	for i := range body.Stages {
		s := &body.Stages[i]
		s.Duration, s.CoreSeconds, s.NominalRate = s.Duration/10, s.CoreSeconds/10, 10*s.NominalRate
	}
	c.Know(ledger.ProfileSaved{Body: body})
	short := runs(c, p, "app-2", wish{profile: "q"})
	if queue.Grows(outlook(c), short) {
		t.Error("it ends within a minute, and grows")
	}
	ends(c, short)
	long := runs(c, p, "app-3", wish{})
	c.To(30)
	c.Know(ledger.NodeJoined{Node: "c", Incarnation: "c-1"}, ledger.NodeSaid{Status: ledgertest.Status("c", 1)}, ledger.Seated{App: long.ID, Nodes: []string{"c"}})
	registers(c, long)
	comes(c, "app-4", wish{class: api.ClassInteractive})
	c.To(149)
	if got := gives(p.Decide(outlook(c), nil)); !slices.Equal(got, []string{"app-3 b app-4"}) {
		t.Errorf("within two minutes: %v", got)
	}
	c.To(151)
	if got := gives(p.Decide(outlook(c), nil)); !slices.Equal(got, []string{"app-3 c app-4"}) {
		t.Errorf("after two minutes: %v", got)
	}
}

// TestSharesFollowTheRule: what runs grows in order of start, up to what it may have, and by Algorithm 2 first what is of
// a higher priority; the default bounds nothing.
func TestSharesFollowTheRule(t *testing.T) {
	c := ledgertest.New(t, "a", "b", "c", "d", "e")
	for i, w := range []wish{{most: 2}, {class: api.ClassInteractive}, {}} {
		id := api.AppID(fmt.Sprintf("app-%d", i+1))
		c.To(units.Seconds(i))
		a := comes(c, id, w)
		c.Know(ledger.Started{App: id, Seats: ledger.Seats{Nodes: []string{"a", "b", "c"}[i : i+1], Cores: 4}, Mode: ledger.Recording, Judgement: ledger.Judgement{Verdict: api.VerdictNone}})
		registers(c, a)
	}
	for rule, want := range map[string][]int{assign.Flexible: {2, 2, 1}, assign.FlexiblePreemptive: {1, 3, 1}, assign.Malleable: {2, 2, 1}, assign.Rigid: {1, 1, 1}} {
		shares := by(rule).Shares(outlook(c))
		if got := []int{shares["app-1"], shares["app-2"], shares["app-3"]}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
	if got := by(assign.Backfill).Shares(outlook(c)); got != nil {
		t.Errorf("backfill: %v", got)
	}
}

// TestTheLineIsOfTheOrderAndThePriority: by Algorithm 2 somebody who sits before it comes first, then a deadline that can
// be kept; a shell says nothing of itself, and one of the class batch may take its time.
func TestTheLineIsOfTheOrderAndThePriority(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	comes(c, "app-1", wish{})
	comes(c, "app-2", wish{profile: "p", deadline: 4000})
	for id, class := range map[api.AppID]api.Class{"app-3": "", "app-4": api.ClassBatch} {
		c.Know(ledger.Registered{ID: id, Serial: c.View().Serial() + 1, Tenant: ledger.Tenant{Submission: "of " + string(id), Class: class, Launch: api.Launch{Heap: 10 * units.GiB, OffHeapFixed: true}},
			Promise: ledger.Promise{Start: c.Now, Mode: ledger.Unpaced}, Queued: true})
	}
	c.To(1)
	comes(c, "app-5", wish{class: api.ClassInteractive})
	c.Know(ledger.NodeDrained{Node: "a", Draining: true}) // Nobody starts.
	for _, w := range []struct{ rule, order, want string }{
		{assign.Backfill, assign.EDF, "[app-1 app-3 app-4 app-5 app-2]"},
		{assign.FlexiblePreemptive, assign.EDF, "[app-3 app-5 app-2 app-1 app-4]"},
		{assign.Backfill, assign.FIFO, "[app-1 app-2 app-3 app-4 app-5]"},
		{assign.FlexiblePreemptive, assign.FIFO, "[app-3 app-5 app-2 app-1 app-4]"},
		{assign.Flexible, assign.SJF, "[app-1 app-2 app-3 app-4 app-5]"},
	} {
		p := by(w.rule)
		p.Order = w.order
		var line []api.AppID
		for _, x := range p.Decide(outlook(c), nil) {
			line = append(line, x.App.ID)
		}
		if got := fmt.Sprint(line); got != w.want {
			t.Errorf("%s, %s: %s, want %s", w.rule, w.order, got, w.want)
		}
	}
}

// TestTheHeadBlocksThoseBehindIt: what comes free is not for one that comes after one that needs more.
func TestTheHeadBlocksThoseBehindIt(t *testing.T) {
	for _, rule := range []string{assign.Rigid, assign.Malleable} {
		c, p := ledgertest.New(t, "a", "b"), by(rule)
		p.Order = assign.FIFO
		one := runs(c, p, "app-1", wish{most: 1})
		two := runs(c, p, "app-2", wish{most: 1})
		comes(c, "app-3", wish{least: 2, most: 2})
		c.To(1)
		comes(c, "app-4", wish{most: 1})
		ends(c, one)
		if started := obey(c, p.Decide(outlook(c), nil)); started != nil {
			t.Errorf("%s: one node is free, and %v", rule, started)
		}
		ends(c, two)
		if started := obey(c, p.Decide(outlook(c), nil)); !slices.Equal(started, []api.AppID{"app-3"}) {
			t.Errorf("%s: two nodes are free, and %v", rule, started)
		}
	}
}

// TestOneForWhichThereAreNoNodesBlocksNobody: one that needs more than is here now waits for that, takes nothing from
// anybody, and is passed.
func TestOneForWhichThereAreNoNodesBlocksNobody(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b", "c"), by(assign.FlexiblePreemptive)
	runs(c, p, "app-1", wish{most: 2})
	comes(c, "app-2", wish{class: api.ClassInteractive, least: 3})
	c.Know(ledger.NodeLost{Node: "c"})
	if choices := p.Decide(outlook(c), nil); gives(choices) != nil || choices[0].What != queue.Wait || choices[0].Wait.Start != 0 {
		t.Errorf("%v, %+v", gives(choices), choices[0].Wait)
	}
	c.To(1)
	comes(c, "app-3", wish{class: api.ClassInteractive, most: 1})
	if got := gives(p.Decide(outlook(c), nil)); !slices.Equal(got, []string{"app-1 b app-3"}) {
		t.Errorf("the one behind it: %v", got)
	}
}

// TestADepartureTakesBack: by Algorithm 1 a waiting application is given something when one has left, and all that it
// needs at once.
func TestADepartureTakesBack(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b", "c", "d"), by(assign.Flexible)
	runs(c, p, "app-1", wish{most: 1})
	runs(c, p, "app-2", wish{most: 2})
	c.To(200)
	runs(c, p, "app-3", wish{most: 1})
	c.To(210)
	comes(c, "app-4", wish{least: 2, most: 2})
	if got := gives(p.Decide(outlook(c), nil)); got != nil {
		t.Fatalf("nothing has left: %v", got)
	}
	c.To(220)
	ends(c, c.View().App("app-3"))
	choices := p.Decide(outlook(c), nil)
	if got := gives(choices); !slices.Equal(got, []string{"app-2 c app-4"}) {
		t.Fatalf("%v, %+v", got, choices[0].Wait)
	}
	obey(c, choices)
	left(c)
	if started := obey(c, p.Decide(outlook(c), nil)); !slices.Equal(started, []api.AppID{"app-4"}) {
		t.Errorf("%v", started)
	}
}

// TestTwoFitBesideEachOther: one that is given a node fits on another one, too, beside whoever is given that. What is
// spared there is for both, and nobody's any more once they start.
func TestTwoFitBesideEachOther(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b", "c"), by(assign.FlexiblePreemptive)
	runs(c, p, "app-1", wish{heap: 8 * units.GiB})
	runs(c, p, "app-2", wish{heap: 4 * units.GiB, most: 2})
	c.To(200)
	comes(c, "app-3", wish{class: api.ClassInteractive, heap: 10 * units.GiB, most: 1})
	comes(c, "app-4", wish{class: api.ClassInteractive, heap: 6 * units.GiB, least: 2, most: 2})
	for i := range 3 {
		comes(c, api.AppID(fmt.Sprintf("app-%d", 5+i)), wish{class: api.ClassInteractive, heap: 3 * units.GiB, most: 1})
	}
	choices := p.Decide(outlook(c), nil)
	if got := gives(choices); len(got) != 2 {
		t.Fatalf("%v", got)
	}
	obey(c, choices)
	obey(c, p.Decide(outlook(c), nil))
	left(c)
	obey(c, p.Decide(outlook(c), nil))
	for _, id := range []api.AppID{"app-3", "app-4"} {
		if a := c.View().App(id); !a.Running() {
			t.Errorf("%s waits: %+v", id, waiting.Of(a))
		}
	}
}

// TestOneThatStaysIsReplaced: what has not left in time is not waited for, and another one is asked.
func TestOneThatStaysIsReplaced(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b", "c"), by(assign.FlexiblePreemptive)
	batch := runs(c, p, "app-1", wish{})
	shell := comes(c, "app-2", wish{class: api.ClassInteractive})
	obey(c, p.Decide(outlook(c), nil))
	c.To(120)
	c.Know(waiting.Stayed{OfApp: ledger.OfApp{App: batch.ID}, ID: "3", Node: "c", For: shell.ID, After: queue.Stays})
	choices := p.Decide(outlook(c), nil)
	if got := gives(choices); !slices.Equal(got, []string{"app-1 b app-2"}) || choices[0].Wait.Node != "b" {
		t.Fatalf("%v, %+v", got, choices[0].Wait)
	}
	obey(c, choices)
	// Nobody waits any more: what leaves is anybody's.
	c.Know(ledger.RunEnded{App: shell.ID, State: api.AppFailed, At: 121})
	left(c)
	other := comes(c, "app-3", wish{})
	if started := obey(c, p.Decide(outlook(c), nil)); !slices.Equal(started, []api.AppID{"app-3"}) || len(other.Seats()) != 2 {
		t.Errorf("%v on %v", started, other.Seats())
	}
}

// TestWhatWasAskedBackIsEnough: whatever runs and waits, when all that was asked back has left, the one that it was
// asked for fits, whoever comes meanwhile; and nobody is left on fewer nodes than it needs, or without a registered
// executor.
func TestWhatWasAskedBackIsEnough(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := ledgertest.New(outer, []string{"a", "b", "c", "d"}[:rapid.IntRange(2, 4).Draw(t, "nodes")]...)
		p := by(rapid.SampledFrom([]string{assign.Flexible, assign.FlexiblePreemptive}).Draw(t, "rule"))
		p.Order = rapid.SampledFrom(assign.Orders()).Draw(t, "order")
		serial, now := 0, units.Seconds(0)
		arrive := func() {
			serial++
			comes(c, api.AppID(fmt.Sprintf("app-%04d", serial)), wish{
				class: rapid.SampledFrom([]api.Class{"", api.ClassInteractive}).Draw(t, "class"),
				heap:  units.Bytes(rapid.IntRange(2, 15).Draw(t, "heap")) * units.GiB,
				least: rapid.IntRange(0, 2).Draw(t, "least"), most: rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "most")})
		}
		asked := func() {
			choices, again := p.Decide(outlook(c), nil), p.Decide(outlook(c), nil)
			if !slices.Equal(gives(choices), gives(again)) {
				t.Fatalf("asked twice: %v, %v", gives(choices), gives(again))
			}
			obey(c, choices)
			if fault := c.Audit(); fault != "" {
				t.Fatal(fault)
			}
			for a := range c.View().Running() {
				stay := 0
				for _, x := range a.Alive() {
					if !x.Leaving && x.Registered {
						stay++
					}
				}
				if leaves := slices.ContainsFunc(a.Alive(), func(x *ledger.Executor) bool { return x.Leaving }); leaves && stay < max(1, a.Tenant.Nodes.Least) {
					t.Fatalf("%s is left with %d", a.ID, stay)
				}
			}
		}
		for range rapid.IntRange(3, 25).Draw(t, "steps") {
			now += units.Seconds(rapid.IntRange(1, 100).Draw(t, "passes"))
			c.To(now)
			switch running := slices.Collect(c.View().Running()); rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				arrive()
			case 2:
				if len(running) > 0 {
					ends(c, rapid.SampledFrom(running).Draw(t, "ends"))
				}
			case 3:
				for _, a := range running {
					registers(c, a)
				}
			}
			asked()
		}
		for {
			var to []*ledger.App
			given := waiting.Given(c.View())
			for _, a := range c.View().Waiting() {
				if slices.ContainsFunc(given[a.ID], func(g waiting.Giving) bool { return !g.Executor().Gone }) {
					to = append(to, a)
				}
			}
			if len(to) == 0 {
				return
			}
			if rapid.Bool().Draw(t, "meanwhile") {
				arrive()
				asked()
			}
			left(c)
			choices := p.Decide(outlook(c), nil)
			for _, a := range to {
				i := slices.IndexFunc(choices, func(x queue.Choice) bool { return x.App == a })
				if i >= 0 && choices[i].What != queue.Start { // It may have started meanwhile.
					t.Fatalf("all have left for %s: %+v, given %v", a.ID, choices[i], given[a.ID])
				}
			}
			obey(c, choices)
		}
	})
}
