package node

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// part is what an application asks for and has, in cores.
type part struct{ asked, had units.Cores }

// parts sums up what the applications of the last division asked for and had in the dt
// since. Without a quota the use counts, if it is more.
func (d *division) parts(dt time.Duration) []part {
	d.sums = d.sums[:0]
	at := 0
	for _, g := range d.groups[:d.real] {
		var p part
		for i := range g.Stages {
			s, who := &g.Stages[i], d.part[at]
			had := d.grants[at]
			if who.c == nil {
				had = max(had, who.x.seen.delta.Per(dt))
			}
			p.asked += min(s.Request, units.Cores(s.Runnable))
			p.had += had
			at++
		}
		d.sums = append(d.sums, p)
	}
	return d.sums
}

// tellShare is the part of what an application asks for whose lack is told.
const tellShare = 0.1

// tellShortages counts what those who took part in the last division lost in the dt since. It tells where a deadline
// that can be kept begins to lack cores, and ends to; of an application that shares it is known without a word. A loss
// of less than a quantum is rounding.
func tellShortages(r *roster, d *division, dt time.Duration) {
	if dt <= 0 || d.real == 0 {
		return
	}
	parts := d.parts(dt)
	first, second := mostHad(parts)
	at := 0 // The first of the group in d.part.
	for i, p := range parts {
		g := &d.groups[i]
		// An application that comes first may lack cores beyond its targets: that is no shortage.
		unheld := g.Shares && !d.part[at].x.shares
		at += len(g.Stages)
		lost := p.asked - p.had
		if lost < r.cfg.Quantum {
			if !unheld && r.losses.pass(g.ID) && !g.Shares {
				r.out.event(Event{Kind: EventShortageOver, Key: Key{App: g.ID}})
			}
			continue
		}
		other := first
		if i == first {
			other = second
		}
		to := api.AppID("")
		if other >= 0 {
			to = d.groups[other].ID
		}
		r.losses.add(g.ID, to, units.Work(float64(lost)*dt.Seconds()))
		r.out.dirty = true
		if unheld {
			continue
		}
		s := api.Shortage{App: g.ID, Asked: p.asked, Had: p.had, To: to, GivenUp: d.givenUp[i]}
		was, yields := r.losses.goOn(s)
		if !was && lost > p.asked*tellShare {
			r.losses.begin(s)
			if g.Shares {
				continue
			}
			r.out.event(Event{Kind: EventShortage, Key: Key{App: g.ID}, Detail: sayShortage(p, d.groups, other, parts)})
			was = true
		}
		if was && yields {
			r.out.event(Event{Kind: EventGivenUp, Key: Key{App: g.ID}, Detail: "not all can be in time: it comes behind"})
		}
	}
}

// sayShortage says who wants what, and who has it.
func sayShortage(p part, groups []supervisor.App, other int, parts []part) string {
	text := fmt.Sprintf("it asks for %.2f cores and has %.2f", float64(p.asked), float64(p.had))
	if other < 0 {
		return text + "; what is not Pacer's has the rest"
	}
	return text + fmt.Sprintf("; %s has %.2f", groups[other].ID, float64(parts[other].had))
}

// mostHad are the places of those who had most, and most but for them; -1 for none.
func mostHad(parts []part) (first, second int) {
	first, second = -1, -1
	for i, p := range parts {
		switch {
		case p.had <= 0:
		case first < 0 || p.had > parts[first].had:
			first, second = i, first
		case second < 0 || p.had > parts[second].had:
			second = i
		}
	}
	return first, second
}
