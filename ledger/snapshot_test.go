package ledger_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
)

// everything is all that a view shows, by name.
func everything(t interface{ Fatal(...any) }, v ledger.View) string {
	all := []any{v.Now(), v.Epoch(), v.Serial(), v.Version(ledger.PartGrowth), v.Version(ledger.PartAll), v.Freed()}
	for _, a := range v.Apps() {
		all = append(all, a.ID, a.Tenant, a.Promise, a.Outcome, waiting.Of(a), waiting.Gifts(a), a.Notices, a.Marks, a.CoreSeconds(), a.Clocks, len(a.Stages), a.Seats())
		for i, s := range a.Order {
			all = append(all, s.StageRecord, s.Counters, s.Sights, s.Samples.All(), a.Stages[s.Key()] == a.Order[i])
		}
		for _, s := range a.Opened() {
			all = append(all, s.Key(), a.Stages[s.Key()] == s)
		}
		if a.Profile != nil {
			all = append(all, a.Profile.Body, a.Profile.Match.Remaining())
		}
	}
	for _, n := range v.Nodes() {
		all = append(all, n.NodeRecord, n.Presence, n.Allegiance, n.Executors, n.Others, v.Free(n), v.Offered(n.Node))
		for _, a := range v.Allocations(n.Node) {
			all = append(all, a.App.ID, v.App(a.App.ID) == a.App, len(a.Executors))
			for _, x := range a.Executors {
				all = append(all, x, a.App.Executor(x.ID) == x)
			}
		}
	}
	for _, p := range v.Profiles() {
		all = append(all, p.Body)
	}
	for r := range v.Runs() {
		all = append(all, *r)
	}
	for _, d := range v.Ended() {
		all = append(all, d)
	}
	all = append(all, len(v.Waiting()), len(v.Draining()), len(v.Live()))
	body, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A snapshot shows what the ledger showed when it was cut, whatever is recorded since, and however
// much of it later ones share.
func TestSnapshotsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		type cut struct {
			view  ledger.View
			shows string
		}
		var cuts []cut
		actions := m.actions()
		actions[""] = func(t *rapid.T) {
			s := m.View().Snapshot()
			shows := everything(t, m.View())
			if got := everything(t, s); got != shows {
				t.Fatalf("the ledger shows\n%s\nits snapshot\n%s", shows, got)
			}
			for _, c := range cuts {
				if got := everything(t, c.view); got != c.shows {
					t.Fatalf("a snapshot showed\n%s\nand now shows\n%s", c.shows, got)
				}
			}
			if cuts = append(cuts, cut{s, shows}); len(cuts) > 3 {
				cuts = cuts[1:]
			}
		}
		t.Repeat(actions)
	})
}
