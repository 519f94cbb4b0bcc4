package probe

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// post sends an engine's messages: those that have to arrive again and again, until they are answered.
type post struct {
	config *Config
	self   Node
	seq    uint32
	open   []letter
	out    []Action
}

// letter is a message that is not answered.
type letter struct {
	Action
	tries int
	at    units.Instant // When it is sent again.
}

// send sends once.
func (p *post) send(to Node, seq uint32, body any) {
	p.out = append(p.out, Action{to, Message{p.self, seq, body}})
}

// insist sends until there is an answer, and returns the message's number.
func (p *post) insist(now units.Instant, to Node, body any) uint32 {
	p.seq++
	p.send(to, p.seq, body)
	if p.config.Tries > 0 {
		p.open = append(p.open, letter{p.out[len(p.out)-1], 1, now.Add(p.config.Retry)})
	}
	return p.seq
}

// answered returns what was sent to a node with that number, nil where it was answered before.
func (p *post) answered(by Node, seq uint32) any {
	for i, l := range p.open {
		if l.Message.Seq == seq && l.To == by {
			p.open = slices.Delete(p.open, i, i+1)
			return l.Message.Body
		}
	}
	return nil
}

// again sends what is due, and returns what was sent in vain: to workers that are dead. A scheduler is asked for ever.
func (p *post) again(now units.Instant) (vain []Action) {
	p.open = slices.DeleteFunc(p.open, func(l letter) bool {
		dead := l.at <= now && l.tries >= p.config.Tries && l.To >= 0
		if dead {
			vain = append(vain, l.Action)
		}
		return dead
	})
	for i := range p.open {
		if l := &p.open[i]; l.at <= now {
			l.tries, l.at = l.tries+1, now.Add(p.config.Retry)
			p.out = append(p.out, l.Action)
		}
	}
	return vain
}

// due is when something is sent again, at the latest at.
func (p *post) due(at units.Instant) units.Instant {
	for i := range p.open {
		at = min(at, p.open[i].at)
	}
	return at
}

// never is later than anything.
const never units.Instant = 1<<63 - 1
