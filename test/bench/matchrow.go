package main

import (
	"math/rand/v2"
	"testing"

	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/sim/nextrun"
	"github.com/sparkpacer/pacer/test/benchline"
)

// alignSeeds is how many applications are drawn, alignStages about how many stages the run of one has.
const (
	alignSeeds  = 10000
	alignStages = 60
)

// aligned is how the stages of one run were recognised.
type aligned struct{ stages, right, wrong int }

// recognise tells a Matcher the stages of a changed run one after another, as they become ready, and
// compares what it says at that moment, and what Align says when the run is over, with the truth.
func recognise(r nextrun.Runs) (online, over aligned) {
	m := profiles.NewMatcher(r.Known)
	last := make([]int, len(r.Next.Stages))
	for i := range last {
		last[i] = nextrun.New
		known := nextrun.New
		if found, is := m.Match(r.Ready(i)); is {
			known = found.Annotation.ID
		}
		online.count(r, i, known)
	}
	for _, p := range profiles.Align(r.Known.Stages, r.Next.Stages).Pairs {
		last[p.Seen] = p.Known
	}
	for i, known := range last {
		over.count(r, i, known)
	}
	return online, over
}

func (a *aligned) count(r nextrun.Runs, i, known int) {
	a.stages++
	switch {
	case r.Right(i, known):
		a.right++
	case known != nextrun.New:
		a.wrong++
	}
}

// alignment measures how often it is right, and how often false, that a stage of a changed run is one of
// its profile: a known one that is called new is neither.
func alignment(_ testing.TB, add adder) {
	var online, over []aligned
	for seed := range alignSeeds {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		one, all := recognise(nextrun.Draw(r, 5+r.IntN(alignStages), nextrun.DrawChanges(r)...))
		online, over = append(online, one), append(over, all)
	}
	right, wrong := func(a aligned) int { return a.right }, func(a aligned) int { return a.wrong }
	add("match.right_pct", percentOf(online, right), "%")
	add("match.false_pct", percentOf(online, wrong), "%")
	add("match.over.right_pct", percentOf(over, right), "%")
	add("match.over.false_pct", percentOf(over, wrong), "%")
}

// percentOf is what is counted over all stages of all runs; its spread is over the runs.
func percentOf(runs []aligned, count func(aligned) int) benchline.Measured {
	n, of := 0, 0
	each := make([]float64, 0, len(runs))
	for _, a := range runs {
		n, of = n+count(a), of+a.stages
		each = append(each, 100*float64(count(a))/float64(a.stages))
	}
	m := benchline.Mean(each)
	m.Value, m.Each = 100*float64(n)/float64(of), nil
	return m
}
