package ledger_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// before is the store of a planner of commit 3f2a080c, whose records of applications and nodes had in them what facets
// keep now.
func before(t *testing.T) disk {
	t.Helper()
	body, err := os.ReadFile("testdata/store-3f2a080c.json")
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
	d := before(t)
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
	if d.take(l.Close()); len(d.kept()) != 4 {
		t.Errorf("left of nodes that sleep or are awake, and of applications that are paused or attached: %v", d.kept())
	}
}
