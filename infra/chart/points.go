package chart

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// slot is the grid on which the samples of a stage's executors meet, in seconds:
// the tick of a node.
const slot = 0.5

// Point is a stage at one moment, over all its executors: the mean of set point
// and progress, the sum of the cores.
type Point struct {
	At, SetPoint, Progress, Grant, Used float64
	// Free says that an executor had no quota.
	Free bool
	n    int
}

// Points joins the samples of a stage's executors, in order of time.
func Points(samples []api.AppSample) []Point {
	bySlot := map[int]*Point{}
	for _, s := range samples {
		k := int(math.Round(float64(s.At) / slot))
		p := bySlot[k]
		if p == nil {
			p = &Point{At: float64(k) * slot}
			bySlot[k] = p
		}
		p.n++
		p.SetPoint += float64(s.SetPoint)
		p.Progress += float64(s.Progress)
		p.Used += float64(s.Used)
		if s.Grant < 0 {
			p.Free = true
		} else {
			p.Grant += float64(s.Grant)
		}
	}
	out := make([]Point, 0, len(bySlot))
	for _, p := range slices.SortedFunc(maps.Values(bySlot), func(a, b *Point) int { return cmp.Compare(a.At, b.At) }) {
		p.SetPoint /= float64(p.n)
		p.Progress /= float64(p.n)
		out = append(out, *p)
	}
	return worked(out)
}

// worked cuts off the ticks after a stage's end, in which its executors have no
// target any more and report no progress.
func worked(all []Point) []Point {
	for n := len(all); n > 0; n-- {
		if all[n-1].Progress > 0 || all[n-1].SetPoint > 0 {
			return all[:n]
		}
	}
	return all // It never had progress: nothing tells work from rest.
}
