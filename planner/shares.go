package planner

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/units"
)

// shares are on how many nodes applications may have executors by the rule of the queue.
type shares struct {
	nodes map[api.AppID]int
	// more are those that may have more than before, and have not been looked at since.
	more map[api.AppID]bool
	// of is what they were made of, at when.
	of made
	at units.Instant
}

// made is what shares are made of, as far as that is counted.
type made struct {
	rule, order, size string
	news, serial      uint64
	waiting           int
}

// askEvery is after how long the policy is asked though nothing has happened: what is
// expected passes.
const askEvery = time.Minute

// shareEvery is how long shares hold though memory has come or gone.
const shareEvery = time.Second

// tick has those looked at again that may have more than before, though no memory was freed: somebody does not wait any
// more, another rule counts, or time has passed.
func (s *shares) tick(o *estimate.Outlook, line queue.Policy, news uint64, now units.Instant) {
	if !line.Backfills() && (len(o.View.Waiting()) != s.of.waiting || line.Rule != s.of.rule ||
		now >= s.at.Add(askEvery)) {
		s.renew(o, line, news, now)
	}
}

// renew asks the rule of the queue what everybody may have, where that may have changed. news counts what has come and
// been freed.
func (s *shares) renew(o *estimate.Outlook, line queue.Policy, news uint64, now units.Instant) {
	of := made{line.Rule, line.Order, line.Size, news, o.View.Serial(), len(o.View.Waiting())}
	age := now.Sub(s.at)
	same := of == s.of && age < askEvery || age < shareEvery && of.waiting == s.of.waiting && of.rule == s.of.rule
	if same && s.nodes != nil {
		return
	}
	was := *s
	*s = shares{line.Shares(o), make(map[api.AppID]bool), of, now}
	for id, share := range s.nodes {
		if was.more[id] || share > was.nodes[id] {
			s.more[id] = true
		}
	}
}
