package reservation_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// What facts make of a reservation, and which cannot be true.
func TestFactsOfReservations(t *testing.T) {
	with := func(s reservation.State) ledger.Fact {
		return reservation.Reserved{OfApp: ledger.OfApp{App: "new", Why: "so it is"}, State: s}
	}
	held := reservation.State{Cores: 2, From: 1}
	over := reservation.State{Cores: 2, From: 1, Over: true}
	const impossible = true
	for _, x := range []struct {
		name       string
		had        reservation.State
		fact       ledger.Fact
		impossible bool
		has        reservation.State
	}{
		{"reserved", reservation.State{}, with(held), false, held},
		{"more", held, with(reservation.State{Cores: 3, From: 2}), false, reservation.State{Cores: 3, From: 2}},
		{"over", held, with(over), false, over},
		{"dropped", reservation.State{}, with(reservation.State{Dropped: true}), false, reservation.State{Dropped: true}},
		{"taken back", held, with(reservation.State{}), false, reservation.State{}},
		{"more than a node has beside the other one", reservation.State{}, with(reservation.State{Cores: 3.1}), impossible, reservation.State{}},
		{"dropped with cores", held, with(reservation.State{Cores: 2, Dropped: true}), impossible, held},
		{"no number", held, with(reservation.State{Cores: units.Cores(math.NaN())}), impossible, held},
		{"below nothing", held, with(reservation.State{From: -1}), impossible, held},
		{"of no application", reservation.State{}, reservation.Reserved{OfApp: ledger.OfApp{App: "none"}, State: held}, impossible, reservation.State{}},
		{"with a profile", reservation.State{}, reservation.Reserved{OfApp: ledger.OfApp{App: "known"}, State: held}, impossible, reservation.State{}},
		{"another deadline", held, ledger.DeadlineGiven{App: "new", Deadline: 90}, false, reservation.State{}},
		{"another deadline of one that was dropped", reservation.State{Dropped: true}, ledger.DeadlineGiven{App: "new", Deadline: 90}, false, reservation.State{}},
		{"let go", held, ledger.ModeSet{App: "new", Mode: ledger.Released}, false, over},
		{"let go twice", over, ledger.ModeSet{App: "new", Mode: ledger.Off}, false, over},
		{"let go without one", reservation.State{}, ledger.ModeSet{App: "new", Mode: ledger.Released}, false, reservation.State{}},
		{"another planner has heard more", held, ledger.StateUnknown{App: "new"}, false, over},
		{"a cap", held, ledger.Capped{App: "new", Cores: 1}, false, held},
	} {
		c := ledgertest.New(t, "a")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		c.App("known", "p", 100, "a")
		other, a := c.App("other", "r", 100, "a"), c.App("new", "r", 60, "a")
		c.Know(reservation.Reserved{OfApp: ledger.OfApp{App: other.ID}, State: reservation.State{Cores: 1}})
		if x.had != (reservation.State{}) {
			c.Know(with(x.had))
		}
		reason := a.Promise.Reason
		err := c.Record(x.fact)
		if (err != nil) != x.impossible || reservation.Of(a) != x.has || a.Reserved() != x.has.Held() {
			t.Errorf("%s: %v, %+v, %v reserved", x.name, err, reservation.Of(a), a.Reserved())
		}
		if err != nil && a.Promise.Reason != reason {
			t.Errorf("%s: its user is told %q", x.name, a.Promise.Reason)
		}
		e := c.Close()
		if fault := c.Audit(); fault != "" || x.impossible && len(e.Pairs) > 0 {
			t.Errorf("%s: %s, saved %v", x.name, fault, e.Pairs)
		}
		if want := map[bool]api.Band{true: api.BandPromised, false: api.BandShared}[x.has.Held() > 0]; a.Band() != want {
			t.Errorf("%s: band %v, want %v", x.name, a.Band(), want)
		}
	}
}
