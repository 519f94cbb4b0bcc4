package ledger_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

func config() ledger.Config {
	return ledger.Config{Beta: 0.3, Identity: "store", History: 10, DetailHistory: 5, Samples: 100, AllSamples: 1000, Stages: 50,
		RunAge: 400 * 24 * time.Hour, RunBytes: 1 << 20}
}

const app = api.AppID("app-1")

var key = api.StageKey{Stage: 3}

// status is one of the node "a", of which the epoch was taken.
func status(seq, epoch uint64) *api.NodeStatus {
	return &api.NodeStatus{V: api.Version, Node: "a", Incarnation: "a-1", Seq: seq, Epoch: epoch, Planner: "store", Host: "127.0.0.1", Offered: 4, Total: 4, Memory: 8 * units.GiB}
}

// facts are those of an application with two executors on a node, and a stage on the first.
func facts() []ledger.Fact {
	return []ledger.Fact{
		ledger.NodeJoined{Node: "a", Incarnation: "a-1"},
		ledger.NodeSaid{Status: status(1, 0)},
		ledger.Registered{ID: app, Name: "p", Serial: 1, Tenant: ledger.Tenant{Submission: "s", Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: units.GiB}},
			Promise: ledger.Promise{Profile: "p", Deadline: 100, Mode: ledger.Paced}, Seats: &ledger.Seats{Nodes: []string{"a", "a"}}},
		ledger.ExecutorUp{App: app, ID: "1"},
		ledger.StageReady{App: app, Ready: api.StageReady{StageKey: key, Tasks: 4, Bindings: []api.Binding{{Executor: "1", Weight: 4, Tasks: 4}}}, At: 1, Seq: 1},
		ledger.StageAimed{App: app, Stage: key, Aim: ledger.Aim{Planned: true, DeadlineAt: units.Instant(50 * time.Second), Work: 8}, First: 40,
			Targets: []ledger.Target{{Node: "a", StageTarget: api.StageTarget{Executor: "1", Weight: 4, Tasks: 4, Work: 8, InitCores: 1}}}},
	}
}

func newLedger(t *testing.T, pairs ...api.Pair) *ledger.Ledger {
	t.Helper()
	l, err := ledger.New(config(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// at is a ledger to which that has happened, its effects, and what it has stored.
func at(t *testing.T, facts ...ledger.Fact) (*ledger.Ledger, ledger.Effects) {
	t.Helper()
	l := newLedger(t)
	l.Begin(units.Instant(time.Second))
	for _, f := range facts {
		if err := l.Record(f); err != nil {
			t.Fatal(err)
		}
	}
	return l, l.Close()
}

func TestWhatFollowsFromFacts(t *testing.T) {
	l, effects := at(t, facts()...)
	if len(effects.Plans) != 1 || len(effects.Directives) != 1 || len(effects.Pairs) == 0 || len(effects.Changes) != len(facts()) {
		t.Fatalf("%d plans, %d directives, %d pairs, %d changes", len(effects.Plans), len(effects.Directives), len(effects.Pairs), len(effects.Changes))
	}
	p := effects.Plans[0]
	if len(p.Apps) != 1 || len(p.Apps[0].Executors) != 2 || len(p.Apps[0].Stages) != 1 || p.Apps[0].Launch == nil || p.Planner != "store" || p.Term != 1 {
		t.Errorf("plan %+v", p)
	}
	if s := p.Apps[0].Stages[0]; s.StageKey != key || s.Rev != 1 || s.Remaining != 49 || s.InitCores != 1 {
		t.Errorf("target %+v", s)
	}
	if d := effects.Directives[0].Directive; !d.Gated || len(d.Executors) != 2 || d.Executors[1].Cores != 4 {
		t.Errorf("directive %+v", d)
	}
	for i, c := range effects.Changes {
		if c.Seq != uint64(i+1) || c.At != units.Instant(time.Second) {
			t.Errorf("change %d has number %d at %v", i, c.Seq, c.At)
		}
	}
	if again := l.Close(); len(again.Pairs)+len(again.Plans)+len(again.Directives)+len(again.Changes) != 0 {
		t.Errorf("a second close has %+v", again)
	}
}

// Launch is told until the node has taken a Plan that says it, and again when what its
// cores are has changed.
func TestHowToStartExecutorsIsToldOnce(t *testing.T) {
	l, effects := at(t, facts()...)
	told := func(seq, epoch uint64, offered units.Cores, f ledger.Fact) bool {
		t.Helper()
		s := status(seq, epoch)
		s.Offered = offered
		for _, f := range []ledger.Fact{ledger.NodeSaid{Status: s}, f} {
			if err := l.Record(f); err != nil {
				t.Fatal(err)
			}
		}
		effects = l.Close()
		if len(effects.Plans) != 1 {
			t.Fatalf("%d plans", len(effects.Plans))
		}
		return effects.Plans[0].Apps[0].Launch != nil
	}
	epoch := func() uint64 { return effects.Plans[0].Epoch }
	if !told(2, 0, 4, ledger.DeadlineGiven{App: app, Deadline: 101}) {
		t.Error("a node that has taken no Plan is not told how to start executors")
	}
	if told(3, epoch(), 4, ledger.DeadlineGiven{App: app, Deadline: 102}) {
		t.Error("a node that knows how to start executors is told again")
	}
	if !told(4, epoch(), 3, ledger.DeadlineGiven{App: app, Deadline: 103}) || effects.Plans[0].Apps[0].Launch.Cores != 3 {
		t.Errorf("a node that offers 3 cores now is told %+v", effects.Plans[0].Apps[0].Launch)
	}
	if told(5, epoch(), 3, ledger.DeadlineGiven{App: app, Deadline: 104}) {
		t.Error("it is told once more")
	}
	if !told(6, 0, 3, ledger.DeadlineGiven{App: app, Deadline: 105}) {
		t.Error("a node that has lost its state is not told")
	}
}

// shown is all that is saved of the application.
func shown(t *testing.T, l *ledger.Ledger) string {
	t.Helper()
	a := l.View().App(app)
	body, err := json.MarshalIndent([]any{a.Tenant, a.Promise, a.Outcome, a.Marks, a.Notices, a.Directive, a.Order[0].StageRecord}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A second end changes nothing of the first.
func TestAnApplicationEndsOnce(t *testing.T) {
	l, _ := at(t, append(facts(), ledger.RunEnded{App: app, State: api.AppFailed, At: 5, By: api.EndedBySilence})...)
	before := shown(t, l)
	if err := l.Record(ledger.ContextStopped{App: app, At: 9}); err == nil {
		t.Error("an application that had ended ended again")
	}
	if d := cmp.Diff(before, shown(t, l)); d != "" {
		t.Errorf("the application has changed:\n%s", d)
	}
}

// An application has finished only if its exit code is known to be 0, by whoever knows it.
func TestThreeEnds(t *testing.T) {
	stopped := ledger.ContextStopped{App: app, At: 9}
	failed := ledger.ContextStopped{App: app, At: 9, Failed: true}
	for _, c := range []struct {
		name  string
		stop  ledger.Fact
		exit  ledger.Exited
		state api.AppState
	}{
		{"pacer submit saw code 0", stopped, ledger.Exited{By: api.EndedByExit}, api.AppFinished},
		{"pacer submit saw another code", stopped, ledger.Exited{By: api.EndedByExit, Code: 143}, api.AppFailed},
		{"the driver proved code 0", stopped, ledger.Exited{By: api.EndedByLastWord, Clean: true}, api.AppFinished},
		{"the driver told a failure", stopped, ledger.Exited{By: api.EndedByLastWord, Failed: true}, api.AppFailed},
		{"the driver proved nothing", stopped, ledger.Exited{By: api.EndedByLastWord}, api.AppUnknown},
		{"a proof, and another code", stopped, ledger.Exited{By: api.EndedByExit, Clean: true, Code: 1}, api.AppFailed},
		{"code 0 after a failed context", failed, ledger.Exited{By: api.EndedByExit}, api.AppFailed},
		{"code 0 without a word", ledger.RunEnded{App: app, State: api.AppUnknown, At: 9}, ledger.Exited{By: api.EndedByExit}, api.AppFinished},
	} {
		c.exit.App, c.exit.At = app, 10
		l, _ := at(t, append(facts(), c.stop)...)
		if was := l.View().App(app).Outcome.State; was == api.AppFinished {
			t.Errorf("%s: %s before its exit", c.name, was)
		}
		if err := l.Record(c.exit); err != nil {
			t.Fatal(err)
		}
		if got := l.View().App(app).Outcome.State; got != c.state {
			t.Errorf("%s: %s, want %s", c.name, got, c.state)
		}
	}
}

// A ledger that is made of what another one has saved is like that one, but for the term.
func TestRestoredIsAlike(t *testing.T) {
	l, effects := at(t, facts()...)
	again := newLedger(t, effects.Pairs...)
	if fault := again.Audit(); fault != "" {
		t.Error(fault)
	}
	for _, v := range []struct{ a, b any }{
		{l.View().Apps()[0].Tenant, again.View().Apps()[0].Tenant},
		{l.View().Apps()[0].Promise, again.View().Apps()[0].Promise},
		{l.View().Apps()[0].Marks, again.View().Apps()[0].Marks},
		{l.View().Apps()[0].Order[0].StageRecord, again.View().Apps()[0].Order[0].StageRecord},
		{l.View().Node("a").NodeRecord, again.View().Node("a").NodeRecord},
	} {
		a, _ := json.Marshal(v.a)
		b, _ := json.Marshal(v.b)
		if d := cmp.Diff(string(a), string(b)); d != "" {
			t.Error(d)
		}
	}
	if got := again.Close(); len(got.Pairs) != 1 || !strings.Contains(string(got.Pairs[0].Value), `"term":2`) {
		t.Errorf("it saves %+v, want the new term only", got.Pairs)
	}
}

// Of another layout nothing is taken.
func TestOtherLayoutsAreRefused(t *testing.T) {
	_, effects := at(t, facts()...)
	for _, p := range effects.Pairs {
		var record map[string]any
		if json.Unmarshal(p.Value, &record) != nil || record["v"] == nil {
			continue
		}
		record["v"] = ledger.Layout - 1
		value, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ledger.New(config(), []api.Pair{{Key: p.Key, Value: value}}); err == nil {
			t.Errorf("%s of layout %d is read", p.Key, ledger.Layout-1)
		}
	}
}
