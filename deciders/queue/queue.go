package queue

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Values of Policy.Order.
const EDF = "edf"

// order compares two applications that wait now: the one that comes first is less.
type order func(now units.Instant, a, b *ledger.App) int

// orders is the table of the orders in which applications wait.
func orders() []struct {
	name  string
	order order
} {
	return []struct {
		name  string
		order order
	}{
		{EDF, edf},
	}
}

// Orders are the values of Policy.Order.
func Orders() []string {
	var names []string
	for _, o := range orders() {
		names = append(names, o.name)
	}
	return names
}

// Policy says who starts.
type Policy struct {
	// Order is one of Orders.
	Order string
	// Places says where applications get executors, Verdicts how they are judged.
	Places   placement.Policy
	Verdicts verdict.Policy
}

// What becomes of an application that waits.
type What int

// Start gives it its seats, Wait its place, Refuse ends it.
const (
	Start What = iota
	Wait
	Refuse
)

// Choice is what is decided on an application.
type Choice struct {
	App  *ledger.App
	What What
	// Judgement is its verdict if that is done.
	Judgement ledger.Judgement
	// Seating is what it gets (Start), Cap the most cores of a node that go with it, 0 for no
	// cap. Mode is how it runs then, Matched that it is matched to the profile of its name.
	Seating placement.Seating
	Cap     units.Cores
	Mode    ledger.Mode
	Matched bool
	// Wait is its place (Wait, Refuse).
	Wait ledger.Wait
	// Err says why it is refused; it has a kind.
	Err error
}

// Newcomer is an application that has come and is not in the ledger. Its Wait says since when.
type Newcomer struct {
	App *ledger.App
	// Profile is the profile of its name, nil for none.
	Profile *ledger.Profile
	// NoWait has it refused where it would have to wait.
	NoWait bool
}

// Decide decides on all that wait, and on a newcomer if there is one, in their order.
func (p Policy) Decide(v ledger.View, newcomer *Newcomer) []Choice {
	line := slices.Clone(v.Waiting())
	if newcomer != nil {
		line = append(line, newcomer.App)
	}
	if len(line) == 0 {
		return nil
	}
	slices.SortFunc(line, p.order(v.Now()))
	h := p.newRound(v)
	var choices []Choice
	var waiting []int
	for _, a := range line {
		c := Choice{App: a, What: Wait, Cap: a.Tenant.Cap}
		profile, comes, noWait := v.Copy(a.Tenant.Owner.User, a.Promise.Profile), newcomer != nil && a == newcomer.App, false
		if comes {
			profile, noWait = newcomer.Profile, newcomer.NoWait
		}
		h.choose(&c, profile, comes, noWait)
		if c.What != Start {
			waiting = append(waiting, len(choices))
		}
		choices = append(choices, c)
	}
	for again := true; again; {
		again = false
		setPlaces(choices, waiting)
		for _, i := range waiting {
			if c := &choices[i]; c.What == Wait {
				h.judge(c, newcomer)
				again = again || c.What == Refuse // Those behind it have moved up.
			}
		}
	}
	return choices
}

// setPlaces numbers those of waiting that are to wait.
func setPlaces(choices []Choice, waiting []int) {
	place, of := 0, 0
	for _, i := range waiting {
		if choices[i].What == Wait {
			of++
		}
	}
	for _, i := range waiting {
		if c := &choices[i]; c.What == Wait {
			place++
			c.Wait.Place, c.Wait.Of = place, of
		}
	}
}

// order is that of p's name at a moment, the first of the table for one that is not known.
func (p Policy) order(now units.Instant) func(a, b *ledger.App) int {
	compare := orders()[0].order
	for _, o := range orders() {
		if o.name == p.Order {
			compare = o.order
		}
	}
	return func(a, b *ledger.App) int { return compare(now, a, b) }
}

// Patience is after how long an application without a deadline comes before those that are
// due later, and how long before its latest start one with a deadline counts as due then.
const Patience = time.Hour

// due is when a has to have ended, or counts as having to: one that has to start soon would
// otherwise be passed until too late by all that come and are due before it ends.
func due(now units.Instant, a *ledger.App) units.Instant {
	switch {
	case a.Promise.Deadline <= 0:
		return since(a).Add(Patience)
	case a.Wait != nil && a.Wait.Latest > 0 && a.Wait.Latest <= now.Add(Patience):
		return a.Wait.Latest
	}
	return a.Instant(a.Promise.Deadline)
}

// since is when a came.
func since(a *ledger.App) units.Instant {
	if a.Wait == nil {
		return a.Promise.Start
	}
	return a.Wait.Since
}

// edf is earliest deadline first, or latest start where that is near, then arrival.
func edf(now units.Instant, a, b *ledger.App) int {
	return cmp.Or(cmp.Compare(due(now, a), due(now, b)), cmp.Compare(since(a), since(b)), cmp.Compare(a.ID, b.ID))
}

// Enter is a as it is judged and seated when it starts now: matched to its profile as that is
// now, with the mode that this means.
func Enter(a *ledger.App, profile *ledger.Profile) (entering *ledger.App, matched bool) {
	b := *a
	mode := a.Promise.Mode
	if mode == ledger.Recording || mode == ledger.Paced {
		if profile != nil {
			b.Profile, matched = profile, true
		}
		b.Promise.Mode = ledger.Recording
		if b.Promise.Deadline > 0 && b.Profile != nil {
			b.Promise.Mode = ledger.Paced
		}
	}
	b.Promise.Gate = ledger.Gate{}
	return &b, matched
}

// choose has c's application start where there is room, or has memory kept for it.
// One that comes is not to wait for others' launches to become fewer: that its own are large its
// user can mend.
func (h *round) choose(c *Choice, profile *ledger.Profile, comes, noWait bool) {
	entering, matched := Enter(c.App, profile)
	s, err := h.seats(entering)
	if err == nil {
		c.Judgement = h.Verdicts.Judge(h.view, entering, s, h.view.Now())
		if c.Judgement.Verdict == api.VerdictInfeasible && entering.Promise.Required {
			c.What, c.Err = Refuse, api.Errorf(api.KindInfeasible, "%s", c.Judgement.Reason)
			return
		}
		c.What, c.Seating, c.Mode, c.Matched = Start, s, entering.Promise.Mode, matched
		h.take(entering, s)
		return
	}
	var full *fullPlan
	c.Wait = ledger.Wait{Since: since(c.App), Node: c.App.Wait.Node, Why: err.Error(), Plan: errors.As(err, &full)}
	if c.Wait.Plan && comes {
		c.What, c.Err = Refuse, api.Errorf(api.KindTransient, "%v", err)
		return
	}
	if noWait {
		c.What, c.Err = Refuse, api.Errorf(api.KindConflict, "%v, and the application is not to wait", err)
		return
	}
	if !c.Wait.Plan {
		c.Wait.Start = h.expect(entering)
	}
	c.Wait.Node = h.keep(c.App, c.Wait.Node)
}

// judge gives c's application, which is to wait, its verdict, and refuses it where its user wants
// that.
func (h *round) judge(c *Choice, newcomer *Newcomer) {
	entering, comes := c.App, newcomer != nil && c.App == newcomer.App
	if comes {
		entering, _ = Enter(c.App, newcomer.Profile)
	}
	whole, err := h.Places.Seats(h.view, entering, placement.Whole)
	if err != nil {
		// Of who waits a node may only be away, or give less for a while.
		if comes && api.KindOf(err) != api.KindTransient {
			c.What, c.Err = Refuse, err
			return
		}
		c.Judgement = c.App.Promise.Judgement
		c.Judgement.Reason = fmt.Sprintf("queued at place %d of %d: %v", c.Wait.Place, c.Wait.Of, err)
		return
	}
	c.Wait.Latest = h.Verdicts.Latest(entering, whole)
	c.Judgement = h.Verdicts.Waiting(h.view, entering, whole, c.Wait)
	if !c.App.Promise.Required || c.App.Promise.Deadline <= 0 {
		return
	}
	// A newcomer is refused where its deadline cannot be promised, one that waits where it cannot be
	// kept any more.
	promised := c.Judgement.Verdict != api.VerdictInfeasible && c.Wait.Start > 0
	if comes && !promised || c.Wait.Latest > 0 && h.view.Now() > c.Wait.Latest {
		c.What, c.Err = Refuse, api.Errorf(api.KindInfeasible, "%s", c.Judgement.Reason)
	}
}

// estimates is how ends are predicted.
func (h *round) estimates() estimate.Policy { return h.Places.Policy }
