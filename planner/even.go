package planner

import (
	"time"

	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
)

// How even applications are served is looked at each evenEvery, and told as the mean of the last evenFor times.
const (
	evenEvery = time.Minute
	evenFor   = 60
)

// evenness is how even applications were served, as far as this planner has seen it since its start.
type evenness struct{ fairness, equality lately }

// look adds how even applications are served now.
func (e *evenness) look(v ledger.View, p placement.Policy) {
	now := report.Even(v, p)
	e.fairness.add(now.Fairness)
	e.equality.add(now.Equality)
}

// means are those of the last hour.
func (e *evenness) means() report.Evenness {
	return report.Evenness{Fairness: e.fairness.mean(), Equality: e.equality.mean()}
}

// lately are the last evenFor figures, the oldest first; nil is a time of which there is nothing to say.
type lately []*float64

func (l *lately) add(x *float64) {
	*l = append(*l, x)
	if len(*l) > evenFor {
		*l = (*l)[1:]
	}
}

// mean is that of the figures that there are, nil for none.
func (l lately) mean() *float64 {
	sum, n := 0.0, 0
	for _, x := range l {
		if x != nil {
			sum, n = sum+*x, n+1
		}
	}
	if n == 0 {
		return nil
	}
	mean := sum / float64(n)
	return &mean
}
