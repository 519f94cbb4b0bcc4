package fluid

import (
	"time"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/assign/scores"
	"github.com/sparkpacer/pacer/units"
)

// The world does this for the rules that reserve.

// await has the rule be asked when t's deadline has passed, if it ends jobs then.
func (w *world) await(t *task) {
	if t.Due > 0 && w.Policy.Rule != assign.FS {
		w.clock.Set(&t.expires, t.Due+1)
	}
}

// expire is the end of a deadline.
func (w *world) expire() {
	w.account(w.clock.Now())
	w.ask(true)
}

// inTime is when a job ends that would at that instant: rounding makes nobody late.
func (t *task) inTime(at units.Instant) units.Instant {
	const rounding = units.Instant(10 * time.Millisecond)
	if t.world.reserves && at > t.Due && at < t.Due+rounding {
		return t.Due
	}
	return at
}

// demand is how many units a job can use at once.
func (w *world) demand(j assign.Job) int { return min(j.Tasks, int(w.Total.Cores/j.Unit.Cores)) }

// learn keeps what t, which ends, shows of what deadlines need.
func (w *world) learn(t *task, met bool) {
	if w.reserves && t.Due > 0 {
		work := float64(t.Time)*float64(t.Core+t.Elastic) - t.Left
		w.learnt = w.Policy.Learn(w.learnt, assign.Outcome{Units: t.Units, Most: w.demand(t.Job), Work: work,
			Deadline: t.Due.Sub(t.Arrival).Seconds(), Met: met, Ended: t.Left > 0})
	}
}

// similar adds up how alike shares are.
type similar struct {
	fairness, equality [2]float64 // A sum, and of how many.
}

func (s *similar) means() (fairness, equality float64) {
	return s.fairness[0] / max(1, s.fairness[1]), s.equality[0] / max(1, s.equality[1])
}

// compare notes how alike the shares of all jobs are.
func (w *world) compare() {
	var shares []scores.Share
	for _, t := range w.served {
		shares = append(shares, scores.Share{Demand: float64(w.demand(t.Job)), Has: float64(t.Units)})
	}
	for _, j := range w.waiting {
		shares = append(shares, scores.Share{Demand: float64(w.demand(j))})
	}
	for sum, index := range map[*[2]float64]func([]scores.Share) (float64, bool){&w.similar.fairness: scores.Fairness,
		&w.similar.equality: scores.Equality} {
		if v, ok := index(shares); ok {
			sum[0], sum[1] = sum[0]+v, sum[1]+1
		}
	}
}
