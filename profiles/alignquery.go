package profiles

import (
	"maps"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// bindings say which query of the profile each one of the run is.
type bindings struct {
	// queries are the profile's by the run's, begun the run's by the profile's.
	queries, begun map[queryID]queryID
	// bound is how sure that is.
	bound map[queryID]units.Fraction
	// others has, of queries of the run of which it is not sure, the losses of the stages so far with each
	// of those that they could be.
	others map[queryID]map[queryID]float64
}

func newBindings() bindings {
	return bindings{queries: map[queryID]queryID{}, begun: map[queryID]queryID{}, bound: map[queryID]units.Fraction{},
		others: map[queryID]map[queryID]float64{}}
}

func (b bindings) clone() bindings {
	c := bindings{queries: maps.Clone(b.queries), begun: maps.Clone(b.begun), bound: maps.Clone(b.bound),
		others: make(map[queryID]map[queryID]float64, len(b.others))}
	for query, losses := range b.others {
		c.others[query] = maps.Clone(losses)
	}
	return c
}

// open reports whether a query of the run may turn out to be another one than it was taken for.
func (b bindings) open(mine queryID) bool { return b.others[mine] != nil }

// bind has the query of s be that of best, which was chosen of all, and says how sure that is. If it was
// taken for another one until now, the stages of it that are changed are moved.
func (a *aligner) bind(s *api.ProfileStage, best match, all []match) (sure units.Fraction, changed []int) {
	mine, its := queryOf(s.Query), queryOf(a.stages[best.place].Query)
	old, bound := a.who.queries[mine]
	if bound && !a.who.open(mine) {
		return min(best.sure, a.who.bound[mine]), nil
	}
	if !bound || old != its {
		if other, begun := a.who.begun[its]; begun {
			delete(a.who.queries, other)
			delete(a.who.others, other)
			changed = a.free(its)
		}
		a.who.queries[mine], a.who.begun[its] = its, mine
	}
	if bound && old != its {
		delete(a.who.begun, old)
		changed = append(changed, a.move(old, its)...)
	}
	losses := map[queryID]float64{}
	for _, c := range all {
		if c.by == ByQuery && c.loss < best.loss+params.Choice.New {
			losses[queryOf(a.stages[c.place].Query)] = c.loss - best.loss
		}
	}
	sure = best.sure
	if len(losses) > 1 {
		a.who.others[mine] = losses
	} else {
		delete(a.who.others, mine)
	}
	a.who.bound[mine] = sure
	return sure, changed
}

// free takes the annotations of a query of the profile away from the stages of the run that have them, and
// returns these.
func (a *aligner) free(its queryID) (freed []int) {
	for _, i := range a.ofQuery[its] {
		if a.taken(i) {
			freed = append(freed, a.owner[i])
			delete(a.matched, a.owner[i])
			a.flag(i, true)
		}
	}
	return freed
}

// move gives the stages of the run that were taken for those of query old the annotations of query its
// at the same places, and returns them.
func (a *aligner) move(old, its queryID) (moved []int) {
	for _, i := range a.ofQuery[old] {
		if !a.taken(i) {
			continue
		}
		stage := a.owner[i]
		m := a.matched[stage]
		delete(a.matched, stage)
		a.flag(i, true)
		moved = append(moved, stage)
		for _, k := range a.inQuery[inQuery{its, a.stages[i].Query.Exchange}] {
			if !a.taken(k) {
				m.place, m.sized = k, false
				a.matched[stage], a.owner[k] = m, stage
				a.flag(k, false)
				break
			}
		}
	}
	return moved
}

// lossOfOther is what another query than the one that the stage's was taken for has lost so far, beside that
// one.
func (b bindings) lossOfOther(mine, its queryID) float64 {
	losses := b.others[mine]
	if loss, known := losses[its]; known {
		return loss
	}
	return math.Inf(1)
}
