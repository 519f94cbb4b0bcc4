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
	"github.com/sparkpacer/pacer/planner"
)

// viewer goes on looking, and keeps what it has been told.
type viewer struct {
	of    *planner.Engine
	since uint64
	rows  map[api.AppID]api.AppSummary
	told  []string // By the newest look.
}

// look has v look, and see all that `pacer apps` shows now.
func (w *world) look(v *viewer) {
	w.Helper()
	if v.of != w.e {
		v.of, v.since = w.e, 0 // Another planner begins to count.
	}
	c := w.step(planner.Look{To: 1, Since: v.since}).(api.Changes)
	before := v.rows
	v.since, v.rows, v.told = c.Version, map[api.AppID]api.AppSummary{}, nil
	for _, a := range c.Apps {
		v.rows[a.ID] = a
		v.told = append(v.told, string(a.ID))
	}
	for _, id := range c.IDs {
		if _, told := v.rows[id]; !told {
			v.rows[id] = before[id]
		}
	}
	for _, a := range w.control(api.VerbApps, api.ControlRequest{}).Apps {
		if got, want := seen(v.rows[a.ID]), seen(a); got != want && (len(c.IDs) < 50 || v.rows[a.ID].ID != "") {
			w.Fatalf("who looks since version %d sees\n%s\nwant\n%s", v.since, got, want)
		}
	}
	if nodes := w.control(api.VerbNodes, api.ControlRequest{}).Nodes; !slices.Equal(nodes, c.Nodes) {
		w.Fatalf("nodes: %v, want %v", c.Nodes, nodes)
	}
}

// seen is what somebody is shown of an application who looks on: no secret, and no time so far.
func seen(a api.AppSummary) string {
	a.Submission = ""
	if a.State == api.AppQueued || a.State == api.AppEnding {
		a.Duration = 0
	}
	body, err := json.Marshal(a)
	return fmt.Sprint(string(body), err)
}

// Who looks on is told what has changed, and what runs; nothing else.
func TestALookTellsWhatHasChanged(t *testing.T) {
	w := newWorld(t, "a")
	ended := registration("one", 0)
	first := w.mustRegister(ended).AppID
	w.tell(first, ended.Submission, api.Event{Type: api.EventEnd, At: 3})
	w.pass(3 * time.Second)
	r := registration("two", 0)
	r.Launch.Heap = 10 << 30
	second := w.mustRegister(r).AppID
	r.Name, r.Submission = "three", "submission of three"
	third := w.register(r).AppID
	var v viewer
	w.look(&v)
	if all := slices.Sorted(maps.Keys(v.rows)); !slices.Equal(all, []api.AppID{first, second, third}) || v.rows[third].State != api.AppQueued {
		t.Fatalf("there are %v", v.rows)
	}
	w.live(2*time.Second, second, third)
	w.look(&v)
	w.live(2*time.Second, second, third)
	if w.look(&v); slices.Contains(v.told, string(first)) || !slices.Contains(v.told, string(second)) {
		t.Errorf("told: %s", strings.Join(v.told, " "))
	}
	w.tell(second, submissionOf("two"), api.Event{Type: api.EventEnd, At: 9})
	w.pass(3 * time.Second)
	w.look(&v)
	if v.rows[second].State != api.AppFinished || v.rows[third].State != api.AppRunning || v.rows[first].State != api.AppFinished {
		t.Errorf("at last: %+v", v.rows)
	}
}

func submissionOf(name string) string { return registration(name, 0).Submission }
