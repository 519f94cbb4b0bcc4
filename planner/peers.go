package planner

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// AskEvery is the time between two questions on the bus who serves as its planner.
const AskEvery = time.Second

const (
	// deafAfter is how long a planner that hears no answer of its own goes on believing that
	// others reach it: two questions and a half.
	deafAfter = 2500 * time.Millisecond
	// goneAfter is how long another planner may owe an answer before it counts as gone: three
	// questions.
	goneAfter = 3 * time.Second
)

// Peers decides whether a planner serves, among all that are on its bus: one does, the others
// stand by. Who serves asks every AskEvery who does, answers itself, and so also learns
// whether the bus carries. Of two that serve the one goes on that has done so the longest
// without a break; who was stopped or cut off for goneAfter has had a break. Of two on one
// store it is the one of the greater term: the other has lost the store. The zero value is not
// valid: start from NewPeers. Not thread-safe.
type Peers struct {
	self    api.Presence
	serving bool
	// since is when it began to serve without a break, heard when it last heard itself.
	since, heard units.Instant
	// asked is when it first asked without an answer, 0 while none is owed.
	asked units.Instant
	// other is who serves instead, seen when it said so.
	other api.Presence
	seen  units.Instant
}

// NewPeers is that of a planner which serves from the beginning, or only when nobody else does.
func NewPeers(now units.Instant, self api.Presence, serving bool) *Peers {
	self.V = api.Version
	return &Peers{self: self, serving: serving, since: now, heard: now}
}

// Serving reports whether the planner serves.
func (p *Peers) Serving() bool { return p.serving }

// Deaf reports whether what others send may not have come through of late.
func (p *Peers) Deaf(now units.Instant) bool { return !p.serving || now.Sub(p.heard) > deafAfter }

// Other is who serves instead of this one, if that is known.
func (p *Peers) Other() (api.Presence, bool) { return p.other, !p.serving && p.seen > 0 }

// Answer is what the planner answers to the question who serves; false for nothing. One that
// may have been cut off claims no time: whoever has served meanwhile goes on, and where all
// have been cut off one of them still answers.
func (p *Peers) Answer(now units.Instant) (api.Presence, bool) {
	answer := p.self
	if !p.broken(now) {
		answer.Serving = units.FromDuration(now.Sub(p.since))
	}
	return answer, p.serving
}

// broken reports whether it has not heard itself for so long that others may have taken over.
func (p *Peers) broken(now units.Instant) bool { return now.Sub(p.heard) > goneAfter }

// Asked says that the question is on its way.
func (p *Peers) Asked(now units.Instant) {
	if p.asked == 0 {
		p.asked = now
	}
	p.look(now)
}

// Cut says that nothing can be asked.
func (p *Peers) Cut() { p.asked = 0 }

// Heard takes an answer, its own among them.
func (p *Peers) Heard(now units.Instant, from api.Presence) {
	p.asked = 0
	if from.Process == p.self.Process {
		if p.broken(now) {
			p.since = now
		}
		p.heard = now
		return
	}
	if own, ok := p.Answer(now); p.older(from) || ok && !before(from, own) {
		return
	}
	p.serving, p.other, p.seen = false, from, now
}

// older reports whether from has lost the store to this planner.
func (p *Peers) older(from api.Presence) bool {
	return from.Planner == p.self.Planner && from.Term < p.self.Term
}

// before reports whether a goes on serving, and not b.
func before(a, b api.Presence) bool {
	if a.Planner == b.Planner && a.Term != b.Term {
		return a.Term > b.Term
	}
	if a.Serving != b.Serving {
		return a.Serving > b.Serving
	}
	return a.Process < b.Process
}

// Nobody says that nobody answers: there is no other planner on the bus.
func (p *Peers) Nobody(now units.Instant) {
	p.asked = 0
	p.serve(now)
}

// look serves when whoever should answer does not.
func (p *Peers) look(now units.Instant) {
	if now.Sub(p.asked) >= goneAfter && (p.seen == 0 || now.Sub(p.seen) >= goneAfter) {
		p.serve(now)
	}
}

func (p *Peers) serve(now units.Instant) {
	if p.serving {
		return
	}
	p.serving, p.since, p.heard, p.seen, p.other = true, now, now, 0, api.Presence{}
}
