package ledger_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// before is the store of a planner of a commit whose records of applications and nodes had in them what facets keep now.
func before(t *testing.T, commit string) disk {
	t.Helper()
	body, err := os.ReadFile("testdata/store-" + commit + ".json")
	if err != nil {
		t.Fatal(err)
	}
	d := disk{}
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// A store of before facets is restored, and is one with facets after the first step. Restored again it is the same.
func TestAStoreOfBeforeFacetsIsRestored(t *testing.T) {
	d := before(t, "3f2a080c")
	for range 2 {
		l := newLedger(t, d.pairs()...)
		l.Begin(units.Instant(8 * time.Second))
		effects := l.Close()
		if d.take(effects); len(effects.Faults)+len(effects.Plans)+len(effects.Directives) > 0 || l.Audit() != "" {
			t.Fatalf("%v, %d plans, %s", effects.Faults, len(effects.Plans), l.Audit())
		}
		v := l.View()
		for id, want := range map[api.AppID]reservation.State{"reserved": {Cores: 2, From: 1}, "over": {Cores: 1, From: 2, Over: true},
			"dropped": {Dropped: true}, "paused": {}} {
			if got := reservation.Of(v.App(id)); got != want || v.App(id).Reserved() != want.Held() {
				t.Errorf("%s: %+v, %v reserved", id, got, v.App(id).Reserved())
			}
		}
		for name, want := range map[string]placement.Sleep{"asleep": {Asleep: true}, "woken": {Until: units.Instant(603 * time.Second)},
			"drained": {}, "a": {}} {
			n := v.Node(name)
			if got := placement.SleepOf(n); got != want || n.Drained != (name == "drained") || n.Draining() != (n.Drained || want.Asleep) {
				t.Errorf("%s: %+v, drained: %v, draining: %v", name, got, n.Drained, n.Draining())
			}
		}
		if a := v.App("paused"); !pause.Paused(a) || pause.Until(a, 8) != 4 || a.Pacing() != "paused" {
			t.Errorf("paused: %v, %v, %s", pause.Paused(a), pause.Until(a, 8), a.Pacing())
		}
		a := v.App("attached")
		want := placement.Attachment{Observed: "no node is on host h2", Wanted: 3, On: []string{"h"}, Asked: 6, Spare: 6}
		if got := placement.AttachmentOf(a); !reflect.DeepEqual(got, want) || !a.Observed() || a.Directive.Wanted != 3 {
			t.Errorf("attached: %+v, %+v", got, a.Directive)
		}
		var reserved []api.AppID
		for _, a := range v.Plan(v.Node("a")).Apps {
			if a.Reserved && a.Least > 0 && a.Band == api.BandPromised {
				reserved = append(reserved, a.ID)
			}
		}
		if len(reserved) != 1 || reserved[0] != "reserved" {
			t.Errorf("the plan of a reserves for %v", reserved)
		}
		for key, value := range d {
			for _, member := range []string{"reservation", "sleep", "pauses", "attachment"} {
				if strings.Contains(value, `"`+member+`":`) {
					t.Errorf("%s is as before: %s", key, value)
				}
			}
		}
	}
	l := newLedger(t, d.pairs()...)
	for _, id := range []api.AppID{"reserved", "over", "dropped"} {
		for _, f := range []ledger.Fact{ledger.RunEnded{App: id, State: api.AppFailed, At: 3},
			ledger.Archived{App: id, Detail: api.AppDetail{AppSummary: api.AppSummary{ID: id, State: api.AppFailed}}}} {
			if err := l.Record(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d.take(l.Close()); len(d.kept()) != 5 {
		t.Errorf("left of nodes that sleep or are awake, and of applications that are paused, attached or wait: %v", d.kept())
	}
}

// A store of before applications had their places in facets is restored: who waits where, for how long others did, and
// what is given back for them.
func TestAStoreOfBeforePlacesWereFacetsIsRestored(t *testing.T) {
	d, sec := before(t, "3036e6a6"), func(n int) units.Instant { return units.Instant(n) * units.Instant(time.Second) }
	for range 2 {
		l := newLedger(t, d.pairs()...)
		l.Begin(sec(8))
		effects := l.Close()
		if d.take(effects); len(effects.Faults)+len(effects.Plans)+len(effects.Directives) > 0 || l.Audit() != "" {
			t.Fatalf("%v, %d plans, %d directives, %s", effects.Faults, len(effects.Plans), len(effects.Directives), l.Audit())
		}
		v := l.View()
		for id, want := range map[api.AppID]waiting.State{
			"waits":  {Since: sec(3), Resumed: true, Place: 1, Of: 3, Start: sec(20), Latest: sec(30), Node: "b", Why: "no room", Idle: "gives holds 1 GiB"},
			"second": {Since: sec(3), Place: 2, Of: 3, Why: "no plan", Plan: true}, "waited": {Waited: 3}, "gone": {Waited: 3}, "gives": {}} {
			a := v.App(id)
			if got := waiting.Of(a); got != want || a.Queued() != want.Waits() || (a.Queue() != nil) != want.Waits() {
				t.Errorf("%s: %+v, %s, %+v", id, got, a.Outcome.State, a.Queue())
			}
		}
		if q := v.App("waits").Queue(); *q != (api.Queue{Place: 1, Of: 3, Start: 19, Latest: 29, Why: "no room; gives holds 1 GiB"}) {
			t.Errorf("its user is told %+v", q)
		}
		want := []waiting.Gift{{ID: "2", For: "waits", At: 5}, {ID: "3", For: "second", At: 5, Stayed: true}}
		if got := waiting.Gifts(v.App("gives")); !slices.Equal(got, want) || len(waiting.Given(v)["second"]) != 1 || len(v.Waiting()) != 2 {
			t.Errorf("%+v are given back, %+v", got, waiting.Given(v))
		}
		for key, value := range d {
			for _, member := range []string{"wait", "for", "asked_s", "stayed", "waited_s"} {
				if strings.HasPrefix(key, "app/") && strings.Contains(value, `"`+member+`":`) {
					t.Errorf("%s is as before: %s", key, value)
				}
			}
		}
	}
}
