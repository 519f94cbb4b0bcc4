package main

import (
	"cmp"
	"slices"
)

// The oracles of verdicts know what applications will use. They say when one that comes can
// end at the earliest if it does not make those late that have been promised to be in time.
// Jobs take core-seconds and may have any part of the machine at any time; the one that comes
// takes so much time at least.

// besideSteps is the earliest end of the job that comes if each of the promised ones has as
// many cores as it needs to be in time, the same until it is due. That is what they have been
// promised.
func besideSteps(promised []job, comes job, cores, atLeast float64) float64 {
	slices.SortFunc(promised, byDue)
	free := cores
	for _, p := range promised {
		free -= p.takes / (p.due - comes.at)
	}
	now, left := comes.at, comes.takes
	for _, p := range promised {
		does := max(0, free) * (p.due - now)
		if does >= left {
			break
		}
		left -= does
		now = p.due
		free += p.takes / (p.due - comes.at)
	}
	return max(comes.at+atLeast, now+left/max(0, free))
}

// inTurns is the earliest end of the job that comes on a machine of those cores, if it takes
// so much time at least and those that are promised end in time as far as they could without
// it. Jobs take core-seconds, and may have any part of the machine at any time.
func inTurns(promised []job, comes job, cores, atLeast float64) float64 {
	slices.SortFunc(promised, byDue)
	// By each deadline no more is to be done than the machine does; before is what is due
	// before the job that comes, which cannot be due earlier than from.
	before, from := 0.0, comes.at+atLeast
	for i := 0; ; i++ {
		end := max(from, comes.at+(before+comes.takes)/cores)
		if i == len(promised) || end <= promised[i].due && leavesInTime(promised[i:], before, comes, cores) {
			return end
		}
		before += promised[i].takes
		from = max(from, promised[i].due)
	}
}

// leavesInTime reports whether the job that comes makes none of later, which are due after
// it in that order, and after work that takes so much before, miss its deadline.
func leavesInTime(later []job, before float64, comes job, cores float64) bool {
	for _, j := range later {
		before += j.takes
		if has := cores * (j.due - comes.at); before <= has && before+comes.takes > has {
			return false
		}
	}
	return true
}

func byDue(a, b job) int { return cmp.Compare(a.due, b.due) }
