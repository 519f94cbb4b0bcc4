package ledger_test

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// sighting is what a capability of this test keeps of an application and does not save.
type sighting struct{ Times int }

var sightings = ledger.Register(ledger.Facet[*ledger.App, sighting]{Name: "sighting", Passing: true, Part: func(_, _ sighting) ledger.Part { return ledger.PartReserved }})

type sighted struct{ ledger.OfApp }

func (f sighted) Line() ledger.Line { return f.Says("sighted", "seen") }

func (f sighted) Apply(_ ledger.View, _ *ledger.App, s *sighting) error {
	*s = sighting{s.Times + 1}
	return nil
}

// Each fact changes the parts that deciders read of what it says, and no other part.
func TestFactsChangeTheirParts(t *testing.T) {
	names := []string{"growth", "freed", "turns", "rules", "seats", "apps", "waiting", "offer", "less", "deadlines", "reserved"}
	less, gone := status(9, 1), status(9, 1)
	less.Offered, gone.Leaving = 1, true
	for _, c := range []struct {
		fact ledger.Fact
		want []string
	}{
		{ledger.Heard{App: app}, nil},
		{ledger.NodeSaid{Status: status(9, 1)}, nil},
		{ledger.NodeSaid{Status: less}, []string{"offer", "less"}},
		{ledger.NodeSaid{Status: gone}, []string{"turns", "offer", "less"}},
		{ledger.NodeLost{Node: "a"}, []string{"turns", "offer", "less"}},
		{ledger.NodeDrained{Node: "a", Draining: true}, []string{"growth", "offer", "less"}},
		{ledger.NodeJoined{Node: "c", Incarnation: "c-1", Offered: 4}, []string{"growth"}},
		{ledger.QueuePolicySet{Policy: &api.QueuePolicy{Rule: "rigid"}}, []string{"rules"}},
		{ledger.DeadlineGiven{App: app, Deadline: 50}, []string{"deadlines"}},
		{ledger.ExecutorLost{App: app, ID: "1"}, []string{"freed", "seats"}},
		{ledger.ExecutorLeaving{App: app, ID: "1"}, []string{"seats"}},
		{ledger.Resized{App: app, Cores: 3, Slots: 3}, nil},
		{ledger.RunEnded{App: app, State: api.AppFailed, At: 4}, []string{"apps"}},
		{ledger.Registered{ID: "app-9", Serial: 9}, []string{"apps"}},
		{ledger.Registered{ID: "app-9", Serial: 9, Queued: true}, []string{"apps", "waiting"}},
		{sighted{ledger.OfApp{App: app}}, []string{"reserved"}},
	} {
		l, _ := at(t, facts()...)
		before := l.View().Version(ledger.PartAll)
		if err := l.Record(c.fact); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, name := range names {
			if l.View().Version(ledger.Part(1<<i)) > before {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%T changes %q, want %q", c.fact, got, c.want)
		}
	}
}

// What a facet keeps that passes is in snapshots and in a second ledger, and not in the store.
func TestWhatPassesIsNotSaved(t *testing.T) {
	l, d, know := marked(t)
	before := l.View().Snapshot()
	know(sighted{ledger.OfApp{App: app}}, sighted{ledger.OfApp{App: app}})
	if was, is := sightings.Of(before.App(app)).Times, sightings.Of(l.View().App(app)).Times; was != 0 || is != 2 {
		t.Errorf("seen %d times, before %d", is, was)
	}
	if got := d.kept(); len(got) != 3 || l.Audit() != "" {
		t.Errorf("stored %v, %s", got, l.Audit())
	}
	again := newLedger(t, d.pairs()...)
	if s := sightings.Of(again.View().App(app)); s != (sighting{}) || again.Audit() != "" {
		t.Errorf("restored %+v, %s", s, again.Audit())
	}
}
