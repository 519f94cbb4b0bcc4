package queue

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// seats are what c's application starts with.
func (c *Choice) seats() ledger.Seats {
	s := &c.Seating
	return ledger.Seats{Nodes: s.Nodes(), OffHeap: s.OffHeap, Cores: s.Cores, Slots: s.Slots, PerNode: s.PerNode,
		Cap: c.Cap, Lent: s.Lent, Driver: s.Driver, Group: s.Group}
}

// Levers are what choices come to. They are those that start or are refused first, then comes, the application that
// registers, with its seats or its place, then new places, and what is given back for those that wait. comes is nil
// where there is none.
func Levers(now units.Instant, choices []Choice, comes *ledger.Registered) []ledger.Lever {
	var enter, last, places, gives []ledger.Lever
	for i := range choices {
		c := &choices[i]
		a := c.App
		switch {
		case c.What == GiveBack:
			gives = append(gives, c.leaves()...)
		case comes != nil && a.ID == comes.ID:
			last = c.enters(*comes)
		case c.What == Start:
			enter = append(enter, ledger.Started{App: a.ID, Seats: c.seats(), Mode: c.Mode, Judgement: c.Judgement,
				Matched: c.Matched, Waited: now.Sub(waiting.Of(a).Since)})
		case c.What == Refuse:
			enter = append(enter, ledger.TurnedDown{App: a.ID, Name: a.Name, Err: c.Err, At: a.At(now), Judgement: c.Judgement})
		case !sameWait(now, waiting.Of(a), c.Wait):
			places = append(places, c.placed(), ledger.Judged{App: a.ID, Judgement: c.Judgement})
		}
	}
	return slices.Concat(enter, last, places, gives)
}

// leaves has the executors leave that c's application gives back.
func (c *Choice) leaves() (levers []ledger.Lever) {
	for _, x := range c.App.Alive() {
		if x.Node == c.Node && !x.Leaving {
			levers = append(levers, ledger.ExecutorLeaving{App: c.App.ID, ID: x.ID, For: c.For, Node: x.Node})
		}
	}
	return levers
}

// enters is f, which registers c's application, with what c gives it.
func (c *Choice) enters(f ledger.Registered) []ledger.Lever {
	f.Promise.Judgement = c.Judgement
	if f.Queued = c.What != Start; f.Queued {
		return []ledger.Lever{f, c.placed()}
	}
	seats := c.seats()
	f.Seats = &seats
	return []ledger.Lever{f}
}

// placed gives c's application its place.
func (c *Choice) placed() waiting.Placed {
	return waiting.Placed{OfApp: ledger.OfApp{App: c.App.ID}, Wait: c.Wait}
}

// An expected start that differs by less than this, or by this part of the time until then,
// is told to nobody.
const (
	sameStart     = 5 * time.Second
	sameStartPart = 0.1
)

// sameWait reports whether two waits say the same.
func sameWait(now units.Instant, a, b waiting.State) bool {
	known, differ := (a.Start > 0) == (b.Start > 0), b.Start.Sub(a.Start).Abs()
	near := max(sameStart, time.Duration(sameStartPart*float64(max(0, a.Start.Sub(now)))))
	a.Start, a.Why = b.Start, b.Why
	return known && differ <= near && a == b
}
