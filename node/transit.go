package node

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const (
	// transitWindow is how long the least difference between the clocks counts, up to
	// twice that: clocks that drift, or one that has stood still, are forgiven then.
	transitWindow = 5 * time.Minute
	// mostHeldUp is the longest time on the way that is believed. A connection does not
	// survive more; then a clock has jumped.
	mostHeldUp = time.Minute
)

// transit measures how much longer than usual a Plan was on its way. The two clocks
// have nothing in common: what is usual is the least difference between them that
// Plans of the planner's term have shown lately, which holds the quickest way.
type transit struct {
	planner string
	term    uint64
	known   bool
	// began is when the present window did; least is what it has shown, before what the
	// one before it had.
	began         units.Instant
	least, before time.Duration
}

// heldUp returns for how long p, which has come at now, was held up. It is 0 for the first of a term and where p does
// not say when and by whom it was sent, at most mostHeldUp.
func (t *transit) heldUp(now units.Instant, p *api.Plan) time.Duration {
	if p.Sent <= 0 || p.Planner == "" {
		return 0
	}
	apart := now.Sub(p.Sent)
	if !t.known || t.planner != p.Planner || t.term != p.Term {
		*t = transit{planner: p.Planner, term: p.Term, known: true, began: now, least: apart, before: apart}
		return 0
	}
	if now.Sub(t.began) >= transitWindow {
		t.before, t.least, t.began = t.least, apart, now
	}
	t.least = min(t.least, apart)
	held := apart - min(t.least, t.before)
	if held < 0 || held > mostHeldUp {
		t.least, t.before, t.began = apart, apart, now
		return 0
	}
	return held
}
