package ledgertest

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Cluster is a ledger with nodes of four cores and 16 GiB.
type Cluster struct {
	testing.TB
	*ledger.Ledger
	Now units.Instant
}

// Start is when a Cluster begins, and the deadline clock of its applications.
const Start = units.Instant(1_800_000_000_000_000_000)

// New returns a cluster of those nodes.
func New(t testing.TB, nodes ...string) *Cluster {
	t.Helper()
	return Of(t, "store", nodes...)
}

// Of is New for the planner with a store of that name, "" for none.
func Of(t testing.TB, identity string, nodes ...string) *Cluster {
	t.Helper()
	l, err := ledger.New(ledger.Config{Beta: 0.3, Identity: identity, History: 10, DetailHistory: 5, Samples: 100,
		RunAge: 400 * 24 * time.Hour, RunBytes: 1 << 20,
		AllSamples: 1000, Stages: 50}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{TB: t, Ledger: l}
	c.To(0)
	for _, n := range nodes {
		c.Know(ledger.NodeJoined{Node: n, Incarnation: n + "-1"}, ledger.NodeSaid{Status: Status(n, 1)})
	}
	return c
}

// Status is one of a node.
func Status(node string, seq uint64) *api.NodeStatus {
	return &api.NodeStatus{V: api.Version, Node: node, Incarnation: node + "-1", Seq: seq, Host: "127.0.0.1", Offered: 4,
		Total: 4, Memory: 16 * units.GiB}
}

// Divides has a node say, for the second time, that it divides its cores by that strategy.
func (c *Cluster) Divides(node, strategy string) {
	c.Helper()
	says := Status(node, 2)
	says.Division.Strategy = strategy
	c.Know(ledger.NodeSaid{Status: says})
}

// Rates has a node say, for the second time, that its disks and its network have those rates.
func (c *Cluster) Rates(node string, disk, network units.Bytes) {
	c.Helper()
	says := Status(node, 2)
	says.Rates = api.NodeRates{Disk: disk, Network: network}
	c.Know(ledger.NodeSaid{Status: says})
}

// Know records facts, and closes the batch.
func (c *Cluster) Know(facts ...ledger.Fact) ledger.Effects {
	c.Helper()
	for _, f := range facts {
		if err := c.Record(f); err != nil {
			c.Fatal(err)
		}
	}
	return c.Close()
}

// To moves the clock to that time of the deadline clocks.
func (c *Cluster) To(s units.Seconds) {
	c.Now = Start.Add(s.Duration())
	c.Begin(c.Now)
}

// Pass lets time pass in which everybody could be heard.
func (c *Cluster) Pass(d time.Duration) {
	c.Helper()
	c.Now = c.Now.Add(d)
	c.Begin(c.Now)
	c.Know(ledger.Passed{For: d}, ledger.Waited{For: d})
}

// App takes an application in that has an executor on each of those nodes, all up, and a
// profile if there is one of its name. It is paced with a deadline and a profile.
func (c *Cluster) App(id api.AppID, name string, deadline units.Seconds, nodes ...string) *ledger.App {
	c.Helper()
	mode, matched := ledger.Recording, c.View().Profile("", name) != nil
	if deadline > 0 && matched {
		mode = ledger.Paced
	}
	cores := units.Cores(4 * len(nodes))
	c.Know(ledger.Registered{ID: id, Name: name, Serial: c.View().Serial() + 1, Matched: matched,
		Tenant: ledger.Tenant{Submission: "submission of " + name,
			Launch: api.Launch{DriverURL: "spark://driver@127.0.0.1:1", Heap: units.GiB}},
		Seats:   &ledger.Seats{Nodes: nodes, Cores: cores, Slots: int(cores)},
		Promise: ledger.Promise{Profile: name, Start: c.Now, Deadline: deadline, Mode: mode}})
	a := c.View().App(id)
	for _, x := range a.Alive() {
		c.Know(ledger.ExecutorUp{App: id, ID: x.ID})
	}
	return a
}

// Ready has a stage of four tasks on each of those executors, matched if there is a profile.
func (c *Cluster) Ready(a *ledger.App, stage int, signature string, records int64,
	executors ...api.ExecutorID) *ledger.Stage {
	c.Helper()
	r := api.StageReady{StageKey: api.StageKey{Stage: stage}, Name: signature, Signature: signature,
		Tasks: 4 * len(executors), Records: records}
	for _, id := range executors {
		r.Bindings = append(r.Bindings, api.Binding{Executor: id, Weight: 4, Tasks: 4})
	}
	c.Know(ledger.StageReady{App: a.ID, Ready: r, At: a.At(c.Now), Seq: uint64(stage + 1)})
	if a.Profile != nil {
		c.Know(ledger.StageMatched{App: a.ID, Stage: r.StageKey})
	}
	return a.Stages[r.StageKey]
}

// Done ends a stage, which used work and had its first task launched at first.
func (c *Cluster) Done(a *ledger.App, s *ledger.Stage, work units.Seconds, first units.Seconds) {
	c.Helper()
	at := a.At(c.Now)
	c.Know(ledger.StageEnded{App: a.ID, At: at, Done: api.StageDone{StageKey: s.Key(), RecordsRead: s.Ready.Records,
		TaskCPU:     work,
		FirstLaunch: first, LastFinish: at, LongestTask: 1}})
}

// Chain is a profile of three stages, one after the other, that takes 68 s on eight cores.
func Chain(name string) api.Profile {
	stage := func(id int, signature string, duration, gap units.Seconds, records int64, work units.Work) api.ProfileStage {
		s := api.ProfileStage{ID: id, Name: signature, Signature: signature, Parents: []int{}, Tasks: 8, Duration: duration,
			Gap: gap, Records: records,
			CoreSeconds: work, NominalRate: units.Rate(float64(records) / float64(work)), LongestTask: 1}
		if id > 0 {
			s.Parents = append(s.Parents, id-1)
		}
		return s
	}
	return api.Profile{Schema: api.ProfileSchema, Name: name, Runs: 1, Duration: 68, Cores: 8, Head: 2, Tail: 1,
		Stages: []api.ProfileStage{
			stage(0, "read", 20, 0, 3000, 60), stage(1, "map", 10, 2, 1000, 10), stage(2, "sum", 30, 3, 2000, 100),
		}}
}

// Diamond is a profile of two stages side by side and one that joins them.
func Diamond(name string) api.Profile {
	p := Chain(name)
	p.Stages[0].Signature, p.Stages[1].Signature, p.Stages[2].Signature = "left", "right", "join"
	p.Stages[1].Parents, p.Stages[2].Parents = []int{}, []int{0, 1}
	p.Stages[1].Gap = 0
	return p
}
