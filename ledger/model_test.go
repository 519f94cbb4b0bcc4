package ledger_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// modelApp is what the test itself knows of an application.
type modelApp struct {
	alive    map[api.ExecutorID]string // Their nodes.
	lost     map[api.ExecutorID]string // Theirs, too: an executor that was lost may be up after all.
	stages   map[int]bool              // Whether each is done.
	ended    bool
	deadline units.Seconds
	heap     units.Bytes
	queued   bool
	gaveUp   bool
	pending  []string
}

// machine records facts at random, knows which of them can be true, and keeps what the
// ledger has to be saved.
type machine struct {
	*ledger.Ledger
	now  units.Instant
	disk map[string][]byte

	nodes    map[string]bool // Whether each drains.
	memory   map[string]units.Bytes
	learnt   string
	profiles map[string]bool
	apps     map[api.AppID]*modelApp
	history  []api.AppID
	serial   uint64
	events   uint64
	// marks are how many applications, nodes and profiles have (appMarked and so on).
	marks map[string]int
}

// know records a fact, of which the model says whether it can be true.
func (m *machine) know(t *rapid.T, possible bool, f ledger.Fact) bool {
	m.now = m.now.Add(100 * time.Millisecond)
	m.Begin(m.now)
	if err := m.Record(f); (err == nil) != possible {
		t.Fatalf("%#v can be true: %v, but: %v", f, possible, err)
	}
	effects := m.Close()
	if len(effects.Faults) > 0 {
		t.Fatal(effects.Faults)
	}
	for _, p := range effects.Pairs {
		if p.Value == nil {
			delete(m.disk, p.Key)
		} else {
			m.disk[p.Key] = p.Value
		}
	}
	return possible
}

func (m *machine) drawNode(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "node")
}

func (m *machine) drawProfile(t *rapid.T) string {
	return rapid.SampledFrom([]string{"p", "q"}).Draw(t, "profile")
}

// drawApp draws an application, which may be none.
func (m *machine) drawApp(t *rapid.T) (api.AppID, *modelApp) {
	id := api.AppID(fmt.Sprintf("app-%d", rapid.IntRange(1, int(m.serial)+1).Draw(t, "application")))
	return id, m.apps[id]
}

func (m *machine) drawExecutor(t *rapid.T, a *modelApp) api.ExecutorID {
	most := 1
	if a != nil {
		most += len(a.alive) + len(a.lost)
	}
	return api.ExecutorID(fmt.Sprint(rapid.IntRange(1, most).Draw(t, "executor")))
}

func (m *machine) Node(t *rapid.T) {
	n := m.drawNode(t)
	if m.know(t, true, ledger.NodeJoined{Node: n, Incarnation: n + rapid.SampledFrom([]string{"-1", "-2"}).Draw(t, "incarnation")}); !m.nodes[n] {
		m.nodes[n] = false
	}
	s := ledgertest.Status(n, 1)
	s.Offered = units.Cores(rapid.IntRange(1, 4).Draw(t, "offered"))
	s.Memory = units.Bytes(rapid.IntRange(2, 9).Draw(t, "memory")) * units.GiB
	m.know(t, true, ledger.NodeSaid{Status: s})
	m.memory[n] = s.Memory
}

// free is what is left of a node's memory, by a walk over all that the model knows.
func (m *machine) free(n string) units.Bytes {
	free := m.memory[n]
	for _, a := range m.apps {
		for _, node := range append(slices.Collect(maps.Values(a.alive)), a.pending...) {
			if node == n {
				free -= a.heap
			}
		}
	}
	return free
}

// Queue has an application that waits get another place, start, or be killed.
func (m *machine) Queue(t *rapid.T) {
	id, a := m.drawApp(t)
	queued := a != nil && a.queued
	waits := 0
	for _, b := range m.apps {
		if b.queued {
			waits++
		}
	}
	switch rapid.SampledFrom([]string{"placed", "started", "killed", "learnt"}).Draw(t, "event") {
	case "placed":
		w := waiting.State{Since: m.now, Place: rapid.IntRange(0, 3).Draw(t, "place"), Of: rapid.IntRange(0, 3).Draw(t, "of"), Start: m.now}
		m.know(t, queued && w.Place >= 1 && w.Place <= w.Of && w.Of <= waits, waiting.Placed{OfApp: ledger.OfApp{App: id}, Wait: w})
	case "started":
		n := m.drawNode(t)
		draining, there := m.nodes[n]
		f := ledger.Started{App: id, Seats: ledger.Seats{Nodes: []string{n}, Cores: 4, Slots: 4}, Mode: ledger.Paced, Judgement: ledger.Judgement{Verdict: api.VerdictTight}, Matched: rapid.Bool().Draw(t, "matched")}
		profile := queued && m.profiles[m.View().App(id).Promise.Profile]
		if m.know(t, queued && (!f.Matched || profile) && there && !draining && a.heap <= m.free(n), f) {
			a.queued = false
			a.alive["1"] = n
		}
	case "killed":
		m.know(t, a != nil && !a.ended, ledger.KillAsked{App: id, By: "somebody"})
	case "learnt":
		m.learnt = fmt.Sprint(m.now)
		m.know(t, true, ledger.QueueLearnt{Key: "a/b", State: []byte(m.learnt)})
	}
}

// Replace has an executor take the place of one that was lost.
func (m *machine) Replace(t *rapid.T) {
	id, a := m.drawApp(t)
	lost, n := m.drawNode(t), m.drawNode(t)
	possible := a != nil && slices.Contains(a.pending, lost)
	next := api.ExecutorID("1")
	if a != nil {
		next = api.ExecutorID(fmt.Sprint(len(a.alive) + len(a.lost) + 1))
	}
	if _, there := m.nodes[n]; !there {
		possible = false
	} else if possible {
		free := m.free(n)
		if n == lost {
			free += a.heap
		}
		possible = a.heap <= free
	}
	if m.know(t, possible, ledger.ReplacementSent{App: id, ID: next, Lost: lost, Node: n}) {
		i := slices.Index(a.pending, lost)
		a.pending = slices.Delete(a.pending, i, i+1)
		a.alive[next] = n
	}
}

func (m *machine) Drain(t *rapid.T) {
	n, draining := m.drawNode(t), rapid.Bool().Draw(t, "draining")
	if _, there := m.nodes[n]; m.know(t, there, ledger.NodeDrained{Node: n, Draining: draining}) {
		m.nodes[n] = draining
	}
}

func (m *machine) Forget(t *rapid.T) {
	n := m.drawNode(t)
	_, possible := m.nodes[n]
	for _, a := range m.apps {
		possible = possible && (a.ended || !slices.Contains(slices.Collect(maps.Values(a.alive)), n))
	}
	if possible {
		// Those that have ended but are not history keep their executors' nodes.
		for _, a := range m.apps {
			if slices.Contains(slices.Collect(maps.Values(a.alive)), n) {
				t.Skip("an ended application has executors there")
			}
		}
	}
	if m.know(t, possible, ledger.NodeForgotten{Node: n}) {
		delete(m.nodes, n)
		delete(m.memory, n)
		delete(m.marks, n)
	}
}

func (m *machine) Profile(t *rapid.T) {
	name := m.drawProfile(t)
	if rapid.Bool().Draw(t, "removed") {
		m.know(t, m.profiles[name], ledger.ProfileRemoved{Name: name})
		delete(m.profiles, name)
		delete(m.marks, name)
		return
	}
	m.know(t, true, ledger.ProfileSaved{Body: ledgertest.Chain(name)})
	m.profiles[name] = true
}

func (m *machine) Register(t *rapid.T) {
	id, name := api.AppID(fmt.Sprintf("app-%d", m.serial+1)), m.drawProfile(t)
	matched := rapid.Bool().Draw(t, "matched")
	serial := m.serial + uint64(rapid.IntRange(0, 1).Draw(t, "number"))
	deadline := units.Seconds(rapid.IntRange(0, 100).Draw(t, "deadline"))
	heap := units.Bytes(rapid.IntRange(1, 4).Draw(t, "heap")) * units.GiB
	waits := rapid.Bool().Draw(t, "waits")
	f := ledger.Registered{Queued: waits, ID: id, Name: name, Serial: serial, Matched: matched,
		Tenant:  ledger.Tenant{Submission: string(id), Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: heap}},
		Promise: ledger.Promise{Profile: name, Start: m.now, Deadline: deadline, Mode: ledger.Paced}}
	if m.know(t, serial > m.serial && (!matched || m.profiles[name]), f) {
		m.serial, m.apps[id] = serial, &modelApp{alive: map[api.ExecutorID]string{}, lost: map[api.ExecutorID]string{}, stages: map[int]bool{}, deadline: deadline, heap: heap, queued: waits}
	}
}

func (m *machine) Seat(t *rapid.T) {
	id, a := m.drawApp(t)
	n := m.drawNode(t)
	draining, there := m.nodes[n]
	if a != nil && a.ended {
		t.Skip("it has ended")
	}
	if m.know(t, a != nil && there && !draining && !a.queued && a.heap <= m.free(n), ledger.Seated{App: id, Nodes: []string{n}}) {
		a.alive[api.ExecutorID(fmt.Sprint(len(a.alive)+len(a.lost)+1))] = n
	}
}

func (m *machine) Executor(t *rapid.T) {
	id, a := m.drawApp(t)
	x := m.drawExecutor(t, a)
	alive := a != nil && a.alive[x] != ""
	if rapid.Bool().Draw(t, "up") {
		lost := a != nil && !a.ended && a.lost[x] != ""
		if m.know(t, alive || lost, ledger.ExecutorUp{App: id, ID: x}) && lost {
			node := a.lost[x]
			a.alive[x] = node
			delete(a.lost, x)
			if i := slices.Index(a.pending, node); i >= 0 {
				a.pending = slices.Delete(a.pending, i, i+1)
			}
		}
	} else if over := alive && m.memory[a.alive[x]] > 0 && m.free(a.alive[x]) < 0; m.know(t, alive, ledger.ExecutorLost{App: id, ID: x, Reason: "it exited"}) {
		if !a.ended && !a.gaveUp {
			if over {
				a.pending = append(a.pending, "")
			} else {
				a.pending = append(a.pending, a.alive[x])
			}
		}
		a.lost[x] = a.alive[x]
		delete(a.alive, x)
	}
}

func (m *machine) Stage(t *rapid.T) {
	id, a := m.drawApp(t)
	if a != nil && a.ended {
		t.Skip("it has ended")
	}
	stage := rapid.IntRange(0, 2).Draw(t, "stage")
	key := api.StageKey{Stage: stage}
	var done, there bool
	if a != nil {
		done, there = a.stages[stage]
	}
	switch rapid.SampledFrom([]string{"ready", "matched", "aimed", "done"}).Draw(t, "event") {
	case "ready":
		m.events++
		if m.know(t, a != nil && !there, ledger.StageReady{App: id, Ready: api.StageReady{StageKey: key, Signature: []string{"read", "map", "sum"}[stage], Tasks: 4}, Seq: m.events}) {
			a.stages[stage] = false
		}
	case "matched":
		matched := there && m.View().App(id).Profile != nil
		m.know(t, matched, ledger.StageMatched{App: id, Stage: key})
	case "aimed":
		if done {
			t.Skip("it is done")
		}
		x := m.drawExecutor(t, a)
		target := ledger.Target{Node: "a", StageTarget: api.StageTarget{Executor: x, Weight: 1, Tasks: 4, Work: 8, InitCores: 1}}
		m.know(t, there && a.alive[x] == "a", ledger.StageAimed{App: id, Stage: key, First: 40, Targets: []ledger.Target{target},
			Aim: ledger.Aim{Planned: true, DeadlineAt: m.now.Add(40 * time.Second), Work: 8}})
	case "done":
		if m.know(t, there && !done, ledger.StageEnded{App: id, Done: api.StageDone{StageKey: key, Tasks: 4, FirstLaunch: 1, LastFinish: 2}, At: 3}) {
			a.stages[stage] = true
		}
	}
}

func (m *machine) Promise(t *rapid.T) {
	id, a := m.drawApp(t)
	deadline := units.Seconds(rapid.IntRange(0, 100).Draw(t, "deadline"))
	if m.know(t, a != nil && deadline > 0, ledger.DeadlineGiven{App: id, Deadline: deadline}) {
		a.deadline = deadline
	}
	m.events++
	m.know(t, a != nil, rapid.SampledFrom([]ledger.Fact{
		ledger.Noticed{App: id, Text: "a notice"}, ledger.Noticed{App: id, Text: "in passing", Passing: true},
		ledger.EventTaken{App: id, Seq: m.events}, ledger.TargetsDropped{App: id}, ledger.ModeSet{App: id, Mode: ledger.Released},
		ledger.GateSet{App: id, Gate: ledger.Gate{Late: true}}, ledger.Resized{App: id, Cores: 3, Slots: 3}, ledger.SeatsLooked{App: id, Crowded: true},
		ledger.Judged{App: id, Judgement: ledger.Judgement{Verdict: api.VerdictTight, Earliest: 7}},
	}).Draw(t, "fact"))
}

// Mark has facets of something keep another mark, of three at most an application.
func (m *machine) Mark(t *rapid.T) {
	id, a := m.drawApp(t)
	node, profile := m.drawNode(t), m.drawProfile(t)
	_, there := m.nodes[node]
	switch rapid.SampledFrom([]string{"application", "node", "profile"}).Draw(t, "of") {
	case "application":
		if m.know(t, a != nil && m.marks[string(id)] < mostMarks, appMarked{ledger.OfApp{App: id}, "x"}) {
			m.marks[string(id)]++
		}
	case "node":
		if m.know(t, there, nodeMarked{ledger.OfNode{Node: node}, "x"}) {
			m.marks[node]++
		}
	case "profile":
		if m.know(t, m.profiles[profile], profileMarked{ledger.OfProfile{Name: profile}, "x"}) {
			m.marks[profile]++
		}
	}
}

func (m *machine) GiveUp(t *rapid.T) {
	id, a := m.drawApp(t)
	if m.know(t, a != nil, ledger.ReplacementStopped{App: id}) {
		a.gaveUp, a.pending = true, nil
	}
}

func (m *machine) GiveBack(t *rapid.T) {
	id, a := m.drawApp(t)
	node := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "node")
	possible := a != nil && node != "" && slices.Contains(a.pending, node)
	if m.know(t, possible, ledger.PlaceGivenBack{App: id, Node: node}) {
		a.pending[slices.Index(a.pending, node)] = ""
	}
}

func (m *machine) End(t *rapid.T) {
	id, a := m.drawApp(t)
	if m.know(t, a != nil && !a.ended, ledger.ContextStopped{App: id, At: 10}) {
		a.ended, a.queued, a.pending = true, false, nil
	}
}

func (m *machine) Bury(t *rapid.T) {
	id, a := m.drawApp(t)
	if m.know(t, a != nil && a.ended, ledger.Archived{App: id, Detail: api.AppDetail{AppSummary: api.AppSummary{ID: id, State: api.AppFinished}},
		Run: ledger.Run{App: id, Profile: "p", State: api.AppFinished}}) {
		delete(m.apps, id)
		delete(m.marks, string(id))
		m.history = append(m.history, id)
		m.history = m.history[max(0, len(m.history)-config().History):]
	}
}

// kept is all of a ledger that a restart keeps.
func kept(t *rapid.T, l *ledger.Ledger) string {
	v := l.View()
	all := []any{string(v.Learnt("a/b")), v.Epoch(), v.Serial(), v.Identity(), v.Ended(), slices.Collect(v.Runs())}
	for _, a := range v.Apps() {
		all = append(all, a.ID, a.Name, a.Tenant, a.Promise, a.Outcome, a.Marks, a.Notice, a.Notices, a.Directive, a.Profile != nil, waiting.Of(a), waiting.Gifts(a), appTally.Of(a))
		for _, s := range a.Order {
			all = append(all, s.StageRecord)
		}
	}
	for _, n := range v.Nodes() {
		p := v.Plan(n)
		p.Term = 0 // It grows with each start.
		for i := range p.Apps {
			p.Apps[i].Launch = nil // It is told until the node has taken it.
		}
		all = append(all, n.NodeRecord, p, nodeTally.Of(n))
	}
	for _, p := range v.Profiles() {
		all = append(all, p.Body, profileTally.Of(p))
	}
	body, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func (m *machine) check(t *rapid.T) {
	v := m.View()
	if fault := m.Audit(); fault != "" {
		t.Fatal(fault)
	}
	var ids []api.AppID
	for _, a := range v.Apps() {
		ids = append(ids, a.ID)
		known := m.apps[a.ID]
		if known == nil {
			t.Fatalf("application %s is there", a.ID)
		}
		alive, stages := map[api.ExecutorID]string{}, map[int]bool{}
		for _, x := range a.Alive() {
			alive[x.ID] = x.Node
		}
		for key, s := range a.Stages {
			stages[key.Stage] = s.Done != nil
		}
		if !maps.Equal(alive, known.alive) || !maps.Equal(stages, known.stages) || a.Over() != known.ended || a.Queued() != known.queued || a.Promise.Deadline != known.deadline {
			t.Fatalf("application %s: executors %v, stages %v, running %v, deadline %v; want %+v", a.ID, alive, stages, a.Running(), a.Promise.Deadline, known)
		}
		for x, node := range known.alive {
			if t1 := v.Allocation(a, node); t1 == nil || !slices.ContainsFunc(t1.Executors, func(y *ledger.Executor) bool { return y.ID == x }) {
				t.Fatalf("executor %s of %s is not found on %s", x, a.ID, node)
			}
		}
	}
	if string(v.Learnt("a/b")) != m.learnt {
		t.Fatalf("learnt %q, want %q", v.Learnt("a/b"), m.learnt)
	}
	for _, n := range v.Nodes() {
		if got, want := v.Free(n), m.free(n.Node); got != want {
			t.Fatalf("node %s has %v left, want %v", n.Node, got, want)
		}
	}
	drains := map[string]bool{}
	for _, n := range v.Nodes() {
		drains[n.Node] = n.Draining()
	}
	var ended []api.AppID
	for _, d := range v.Ended() {
		ended = append(ended, d.Detail.ID)
	}
	profiles := map[string]bool{}
	for _, p := range v.Profiles() {
		profiles[p.Body.Name] = true
	}
	if len(ids) != len(m.apps) || !maps.Equal(drains, m.nodes) || !maps.Equal(profiles, m.profiles) || !slices.Equal(ended, m.history) || v.Serial() != m.serial {
		t.Fatalf("applications %v, nodes %v, profiles %v, history %v, serial %d; want %+v", ids, drains, profiles, ended, v.Serial(), m)
	}
	marks := map[string]int{}
	for _, a := range v.Apps() {
		marks[string(a.ID)] = len(appTally.Of(a).Marks)
	}
	for _, n := range v.Nodes() {
		marks[n.Node] = len(nodeTally.Of(n).Marks)
	}
	for _, p := range v.Profiles() {
		marks[p.Body.Name] = len(profileTally.Of(p).Marks)
	}
	if maps.DeleteFunc(marks, func(_ string, n int) bool { return n == 0 }); !maps.Equal(marks, m.marks) {
		t.Fatalf("marks %v, want %v", marks, m.marks)
	}
	var pairs []api.Pair
	for key, value := range m.disk {
		pairs = append(pairs, api.Pair{Key: key, Value: value})
	}
	again, err := ledger.New(config(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	again.Begin(m.now)
	if fault := again.Audit(); fault != "" {
		t.Fatalf("restored: %s", fault)
	}
	if d := cmp.Diff(kept(t, m.Ledger), kept(t, again)); d != "" {
		t.Fatalf("the ledger is restored as another one (-before +after):\n%s", d)
	}
}

// Whatever happens, the ledger takes what the model says can be true and nothing else,
// shows what the model knows, and after every fact what it has saved makes a ledger that
// shows the same.
func TestEveryPrefixOfFactsIsRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		actions := m.actions()
		actions[""] = m.check
		t.Repeat(actions)
	})
}

func newMachine(t *rapid.T) *machine {
	l, err := ledger.New(config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{Ledger: l, now: units.Instant(time.Second), disk: map[string][]byte{}, nodes: map[string]bool{}, memory: map[string]units.Bytes{}, profiles: map[string]bool{}, apps: map[api.AppID]*modelApp{},
		marks: map[string]int{}}
}

// actions are what may happen to a machine.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){"node": m.Node, "drain": m.Drain, "forget": m.Forget, "profile": m.Profile, "register": m.Register, "seat": m.Seat,
		"executor": m.Executor, "stage": m.Stage, "promise": m.Promise, "queue": m.Queue, "replace": m.Replace, "give up": m.GiveUp, "end": m.End, "bury": m.Bury, "mark": m.Mark}
}
