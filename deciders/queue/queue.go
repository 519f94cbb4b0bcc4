package queue

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
)

// Decide decides on all that wait, and on a newcomer if there is one, in their order; then come those that run
// and give something back.
func (p Policy) Decide(o *estimate.Outlook, newcomer *Newcomer) []Choice {
	line := slices.Clone(o.View.Waiting())
	if newcomer != nil {
		line = append(line, newcomer.App)
	}
	if len(line) == 0 {
		return nil
	}
	h := p.newRound(o, line)
	for _, a := range line {
		profile := o.View.Judged(a.Tenant.Owner.User, a.Promise.Profile)
		if newcomer != nil && a == newcomer.App {
			profile = newcomer.Profile
		}
		h.book.enter(a, profile)
	}
	h.book.sort()
	for _, a := range line {
		if len(h.leave[a.ID]) > 0 {
			h.reserve(a, h.fitting(a, h.least(a)))
		}
	}
	var choices []Choice
	var stay []int
	for _, a := range line {
		c := Choice{App: a, What: Wait, Cap: a.Tenant.Cap}
		comes := newcomer != nil && a == newcomer.App
		h.choose(&c, comes, comes && newcomer.NoWait)
		if c.What != Start {
			stay = append(stay, len(choices))
		}
		choices = append(choices, c)
	}
	there := make(map[api.AppID]basis, len(stay))
	for _, i := range stay {
		there[choices[i].App.ID] = h.basis(choices[i].App, &choices[i])
	}
	p.Findings.begin(there)
	for again := true; again; {
		again = false
		setPlaces(choices, stay)
		for _, i := range stay {
			if c := &choices[i]; c.What == Wait {
				h.judge(c, newcomer)
				again = again || c.What == Refuse // The applications behind it have moved up.
			}
		}
	}
	return append(choices, h.given(choices)...)
}

// setPlaces numbers those of stay that are to wait.
func setPlaces(choices []Choice, stay []int) {
	place, of := 0, 0
	for _, i := range stay {
		if choices[i].What == Wait {
			of++
		}
	}
	for _, i := range stay {
		if c := &choices[i]; c.What == Wait {
			place++
			c.Wait.Place, c.Wait.Of = place, of
		}
	}
}

// choose has c's application start where there is room, or has memory kept for it.
// A newcomer is not to wait for others' launches to become fewer: that its own are large its user can mend.
func (h *round) choose(c *Choice, comes, noWait bool) {
	entering, matched := h.book.entered[c.App.ID].app, h.book.entered[c.App.ID].matched
	s, err := h.admit(entering, noWait)
	if err == nil {
		c.Judgement = h.book.Verdicts.Judge(h.outlook, entering, s, h.view.Now())
		if c.Judgement.Verdict == api.VerdictInfeasible && h.book.mustKeep(entering, comes) {
			c.What, c.Err = Refuse, api.Errorf(api.KindInfeasible, "%s", c.Judgement.Reason)
			return
		}
		c.What, c.Seating, c.Mode, c.Matched = Start, s, entering.Promise.Mode, matched
		h.take(entering, s)
		return
	}
	var full *fullPlan
	was := waiting.Of(c.App)
	c.Wait = waiting.State{Since: since(c.App), Resumed: was.Resumed, Node: was.Node, Why: err.Error(),
		Plan: errors.As(err, &full)}
	if c.Wait.Plan && comes {
		c.What, c.Err = Refuse, api.Errorf(api.KindTransient, "%v", err)
		return
	}
	if noWait {
		c.What, c.Err = Refuse, api.Errorf(api.KindConflict, "%v, and the application is not to wait", err)
		return
	}
	if !c.Wait.Plan {
		c.Wait.Start, c.Wait.Idle = h.expect(entering), h.idleFor(entering)
	}
	if !h.book.Backfills() && c.Wait.Start <= h.view.Now() {
		c.Wait.Start = 0 // Others are served first with what is free, nobody knows how long.
	}
	c.Wait.Node = h.keep(c.App, c.Wait.Node)
}

// given are the choices of those that give back, for all that are to wait.
func (h *round) given(choices []Choice) []Choice {
	waits := make(map[api.AppID]bool)
	for i := range choices {
		waits[choices[i].App.ID] = choices[i].What == Wait
	}
	return slices.DeleteFunc(h.gives, func(c Choice) bool { return !waits[c.For] })
}

// judge gives c's application, which is to wait, its verdict, and refuses it where its user wants
// that.
func (h *round) judge(c *Choice, newcomer *Newcomer) {
	entering, comes := c.App, newcomer != nil && c.App == newcomer.App
	if comes {
		entering = h.book.entered[c.App.ID].app
	}
	f, err := h.find(c, entering, comes)
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
	c.Wait.Latest = f.latest
	c.Judgement = verdict.Waiting(h.outlook, entering, f.judgement, c.Wait)
	if !h.book.mustKeep(c.App, comes) {
		return
	}
	// A newcomer is refused where its deadline cannot be kept, and where its user wants a promise and nobody knows when
	// it starts; one that waits where its deadline cannot be kept any more.
	refused := comes && (c.Judgement.Verdict == api.VerdictInfeasible || c.App.Promise.Required && c.Wait.Start == 0)
	now := h.view.Now()
	if refused || c.Wait.Latest > 0 && now > c.Wait.Latest || c.App.At(now) >= c.App.Promise.Deadline {
		c.What, c.Err = Refuse, api.Errorf(api.KindInfeasible, "%s", c.Judgement.Reason)
	}
}

// find is the verdict on a, which waits and is c's, as it is known, or anew; an error where it has no seats.
func (h *round) find(c *Choice, a *ledger.App, comes bool) (finding, error) {
	if f := h.book.Findings.known(c.App.ID); f != nil && !comes {
		return *f, nil
	}
	whole, err := h.book.Places.Seats(h.outlook, a, placement.Whole)
	if err != nil {
		return finding{}, err
	}
	f := finding{by: h.basis(a, c), latest: verdict.Latest(h.outlook, a, whole)}
	f.judgement = h.book.Verdicts.Judge(h.outlook, a, whole, f.by.at)
	h.book.Findings.keep(c.App.ID, f)
	return f, nil
}

// basis is what a verdict on a, which is c's, is found by now.
func (h *round) basis(a *ledger.App, c *Choice) basis {
	if h.around == (around{}) {
		h.around = aroundOf(h.view)
	}
	return basis{a.Profile, a.Promise.Mode, a.Promise.Deadline, h.around, max(h.view.Now(), c.Wait.Start)}
}

// heard is for how long the driver of an application may be silent that is turned down while it waits: one that speaks
// with another planner may have been started by that.
const heard = 8 * time.Second

// mustKeep reports whether a, which comes or waits, is turned down where its deadline cannot be kept: it has one, and
// its user wants that, or the operator, and something is judged of a. An application that may have run, or whose clock
// may be off, is never turned down.
func (p Policy) mustKeep(a *ledger.App, comes bool) bool {
	judged := a.Promise.Mode == ledger.Recording || a.Promise.Mode == ledger.Paced
	known := comes || a.Clocks.Read && a.Clocks.Silent < heard
	return a.Promise.Deadline > 0 && known && !waiting.Of(a).Resumed &&
		(a.Promise.Required || judged && p.Late == assign.Refuse)
}
