package planner_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

const secret = "correct-horse-battery-staple"

// secretive is a registration of an application with secrets.
func secretive(name string) api.RegisterRequest {
	r := registration(name, 0)
	r.Launch.Env = map[string]string{"PATH": "/bin", "_SPARK_AUTH_SECRET": secret}
	r.Launch.JavaOptions = []string{"-Xss1m", "-Dmy.password=" + secret}
	return r
}

// hides wants nothing secret on the disk, and what is not secret there.
func (w *world) hides() {
	w.Helper()
	shown := false
	for key, value := range w.disk {
		if bytes.Contains(value, []byte(secret)) {
			w.Errorf("%s has the secret", key)
		}
		shown = shown || bytes.Contains(value, []byte("-Xss1m"))
	}
	if !shown {
		w.Errorf("nothing is kept of the launch")
	}
}

// launch is what the Plan of a node says of how an application's executors are started.
func (w *world) launch(node string, id api.AppID) *api.Launch {
	w.Helper()
	for _, a := range w.plans[node].Apps {
		if a.ID == id {
			return a.Launch
		}
	}
	return nil
}

// whole reports whether l has all that the driver has said.
func whole(l *api.Launch) bool {
	return l != nil && l.Withheld == 0 && l.Env["_SPARK_AUTH_SECRET"] == secret && slices.Contains(l.JavaOptions, "-Dmy.password="+secret)
}

// again has the driver do what it does when its planner has started again: its events are refused
// until it has registered once more.
func (w *world) again(r api.RegisterRequest, id api.AppID) {
	w.Helper()
	if got := w.resend(id, r.Submission); got.Error == nil || got.Error.Kind != api.KindNotFound {
		w.Fatalf("a planner that lacks its secrets answers %+v", got)
	}
	r.AppID = id
	if got := w.register(r); got.Error != nil || got.AppID != id || got.Recall {
		w.Fatalf("registered again: %+v", got)
	}
}

// A planner that has started again has no secrets: it says so to its nodes, and has them again
// from the driver before an executor takes the place of a lost one.
func TestASecretIsToldAgainAfterARestart(t *testing.T) {
	w := newWorld(t, "a")
	r := secretive("p")
	id := w.mustRegister(r).AppID
	if !whole(w.launch("a", id)) {
		t.Fatalf("the node is told %+v", w.launch("a", id))
	}
	w.hides()
	w.restart()
	w.hello("a")
	if l := w.launch("a", id); l == nil || l.Withheld == 0 || whole(l) {
		t.Errorf("after the restart the node is told %+v", l)
	}
	before := w.plans["a"].Epoch
	w.again(r, id)
	if !whole(w.launch("a", id)) || w.plans["a"].Epoch <= before {
		t.Errorf("when the driver has registered again the node is told %+v in epoch %d after %d", w.launch("a", id), w.plans["a"].Epoch, before)
	}
	w.tell(id, r.Submission, gone(9, "1"))
	w.tell(id, r.Submission)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"3"}) && !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("in place of the lost one the node is to run %v", got)
	}
	if !whole(w.launch("a", id)) {
		t.Errorf("and is told %+v", w.launch("a", id))
	}
	w.hides()
}

// An application that was queued when its planner was killed starts before its driver has spoken:
// its node is told to wait with the executors, and then how to start them.
func TestAQueuedApplicationHasItsSecretAfterARestart(t *testing.T) {
	w := newWorldOf(t, planner.Default())
	w.memory["a"] = 2 * units.GiB
	w.hello("a")
	first := w.mustRegister(registration("first", 0)).AppID
	r := secretive("second")
	queued := w.register(r)
	if queued.Error != nil || queued.Directive.Queued == nil {
		t.Fatalf("the second one is not queued: %+v", queued)
	}
	w.hides()
	w.restart()
	w.hello("a")
	w.tell(first, "submission of first", end(5))
	w.says("a", api.ExecutorExited, first)
	w.pass(time.Second)
	if l := w.launch("a", queued.AppID); l == nil || l.Withheld == 0 {
		t.Fatalf("it has started, and the node is told %+v; %v", l, w.said)
	}
	w.again(r, queued.AppID)
	if !whole(w.launch("a", queued.AppID)) {
		t.Errorf("the node is told %+v", w.launch("a", queued.AppID))
	}
}

// A node controller that starts follows the Plan that its store has, and has no secrets: it is told
// them by another one, which one that only connects again need not be.
func TestANodeThatStartsIsToldTheSecrets(t *testing.T) {
	w := newWorld(t, "a")
	r := secretive("p")
	id := w.mustRegister(r).AppID
	w.live(3*time.Second, id)
	before := w.plans["a"].Epoch
	if w.hello("a"); w.plans["a"].Epoch != before {
		t.Errorf("one that connects again has epoch %d after %d", w.plans["a"].Epoch, before)
	}
	w.pass(w.cfg.NodeClash)
	s := w.status("a")
	s.Incarnation = "a-2"
	if w.helloAs(s); w.plans["a"].Epoch <= before || !whole(w.launch("a", id)) {
		t.Errorf("one that starts is told %+v in epoch %d after %d", w.launch("a", id), w.plans["a"].Epoch, before)
	}
}

// A store of a build that kept secrets is read, and has none after the next change.
func TestTheNextSaveDropsASecret(t *testing.T) {
	w := newWorld(t, "a")
	r := secretive("p")
	id := w.mustRegister(r).AppID
	var record, tenant map[string]json.RawMessage
	key := "app/" + string(id)
	err := json.Unmarshal(w.disk[key], &record)
	if err == nil {
		err = json.Unmarshal(record["tenant"], &tenant)
	}
	if err != nil {
		t.Fatal(err)
	}
	set := func(m map[string]json.RawMessage, name string, v any) {
		if m[name], err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	set(tenant, "launch", r.Launch)
	set(record, "tenant", tenant)
	if w.disk[key], err = json.Marshal(record); err != nil || !bytes.Contains(w.disk[key], []byte(secret)) {
		t.Fatalf("%s, %v", w.disk[key], err)
	}
	w.restart()
	w.hello("a")
	w.tell(id, r.Submission, gone(9, "1"))
	w.tell(id, r.Submission)
	if !whole(w.launch("a", id)) {
		t.Errorf("the node is told %+v", w.launch("a", id))
	}
	w.hides()
}

// Who registers again has no more to say than it came with: Plans were counted by that.
func TestALaunchDoesNotGrow(t *testing.T) {
	w := newWorld(t, "a")
	r := secretive("p")
	id := w.mustRegister(r).AppID
	w.restart()
	w.hello("a")
	r.AppID, r.Launch.Env = id, map[string]string{"PATH": string(bytes.Repeat([]byte("x"), 4000))}
	if got := w.register(r); got.Error == nil || got.Error.Kind != api.KindConflict {
		t.Errorf("%+v", got)
	}
	w.again(secretive("p"), id)
}
