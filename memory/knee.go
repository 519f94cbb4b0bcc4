package memory

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// KneeParams are the numbers of the search for the smallest heap that costs nothing.
type KneeParams struct {
	// Slower is by which part work may grow over the last run and over the first one, beta; 0.5. Collecting is the
	// share of a run's time in collections from which on a heap counts as too small, gamma; 0.7. Full is the part
	// of the heap that is live from which on it counts as too small; 0.8. All three together end the search (Eq
	// 3.10).
	Slower, Collecting, Full float64
	// Step is by which part of the heap a round shrinks it at most; 0.35: the source's estimates alone overshoot.
	// 0 is no bound.
	Step float64
	// Apart is how far the last good and the first bad heap may be apart when the search ends, as a part of the
	// good one; 0.1. 0 takes the last good one as soon as one was bad, as the source does.
	Apart float64
	// Dearer is by which part the work of a run may be above that of the first one, whatever its collections took: a
	// program that recomputes what its heap cannot keep collects little. The source has no such bound, and 0 is none.
	Dearer float64
	// Least is the smallest heap that a run can have: a search that has been good there ends. 0 is no bound.
	Least units.Bytes
	// Levels are the levels of confidence and their quantiles of a normal (Eq 3.3); those of 1, 2 and 3 standard
	// deviations, which come nearest to the source's figures.
	Levels []Level
}

// Level is a level of confidence, gamma, and by how many standard deviations it reaches to each side, z.
type Level struct{ Confidence, Deviations float64 }

// DefaultKnee are the numbers that Pacer uses.
var DefaultKnee = KneeParams{Slower: 0.5, Collecting: 0.7, Full: 0.8, Step: 0.35, Apart: 0.1,
	Levels: []Level{{0.683, 1}, {0.954, 2}, {0.997, 3}}}

// Bin is a part of a run's samples of the heap in use.
type Bin struct {
	Used units.Bytes
	Part float64
}

// StageUse is what a stage used of the heap: Container over its executor, and Mean and Deviation of one task that
// ran alone. Slots are the tasks that run at a time, m.
type StageUse struct {
	Container       []Bin
	Mean, Deviation units.Bytes
	Slots           int
}

// Estimate is the heap that a stage needs (Eq 3.7). It is the sum of what is used, by how often it is, and by the
// confidence of the narrowest interval of Slots tasks that has it (Eq 3.3, 3.4). A use outside of all intervals counts
// whole.
func (p KneeParams) Estimate(u StageUse) units.Bytes {
	var sum float64
	for _, b := range u.Container {
		confidence, m := 1.0, float64(u.Slots)
		for _, l := range p.Levels {
			if math.Abs(float64(b.Used)-m*float64(u.Mean)) <= m*l.Deviations*float64(u.Deviation) {
				confidence = min(confidence, l.Confidence)
			}
		}
		sum += float64(b.Used) * b.Part * confidence
	}
	return units.Bytes(math.Round(sum))
}

// Run is what a run told of its heap.
type Run struct {
	// Heap is that of each executor, Live the greatest live set after a collection, Work the run's core-seconds:
	// under a quota its time says nothing. Collecting is the share of time with running tasks that went into
	// collections.
	Heap, Live units.Bytes
	Work       units.Work
	Collecting float64
	// OutOfMemory says that an executor ended for want of heap.
	OutOfMemory bool
	// Stages are what its stages used; the greatest estimate counts (Eq 3.8).
	Stages []StageUse
}

// Knee is a search over the runs of one application with the same input. The heap shrinks until a run is bad (Eq 3.9),
// and the answer is between the last good and the first bad one. The zero value begins a search. It is not safe for
// concurrent use.
type Knee struct {
	// First and Last are the work of the first and of the last good run. Good is the smallest heap of a good run, Bad the
	// greatest of a bad one (0: none was), Live the greatest live set of all good runs.
	First, Last units.Work
	Good, Bad   units.Bytes
	Live        units.Bytes
	Runs        int
	Done        bool
}

// Next learns from a run and says which heap the next one may have, and whether the search has ended with that.
func (k *Knee) Next(run Run, p KneeParams) (size units.Bytes, done bool) {
	k.Runs++
	if k.tooSmall(run, p) {
		k.Bad = max(k.Bad, run.Heap)
		if k.Good == 0 { // The first run: there is nothing to go back to, so twice as much.
			return 2 * run.Heap, false
		}
	} else {
		if k.Good == 0 {
			k.First = run.Work
		}
		if k.Good == 0 || run.Heap < k.Good {
			k.Good, k.Last = run.Heap, run.Work
		}
		k.Live = max(k.Live, run.Live)
	}
	k.Done = k.Bad > 0 && float64(k.Good-k.Bad) <= max(p.Apart*float64(k.Good), 1) || k.Bad > 0 && p.Apart == 0 ||
		k.Good <= p.Least
	switch {
	case k.Done:
		return k.Good, true
	case k.Bad > 0:
		return max(p.Least, (k.Good+k.Bad)/2), false
	}
	var needs units.Bytes
	for _, u := range run.Stages {
		needs = max(needs, p.Estimate(u))
	}
	if p.Step > 0 {
		needs = max(needs, units.Bytes((1-p.Step)*float64(k.Good)))
	}
	return max(p.Least, min(needs, units.Bytes((1-p.Apart)*float64(k.Good)))), false
}

// tooSmall is Eq 3.10, all of it together, or that the heap was used up, or that the run was dearer than may be.
func (k *Knee) tooSmall(run Run, p KneeParams) bool {
	slower := func(than units.Work) bool { return float64(run.Work-than) > p.Slower*float64(than) }
	if p.Dearer > 0 && k.Good > 0 && float64(run.Work-k.First) > p.Dearer*float64(k.First) {
		return true
	}
	return run.OutOfMemory || k.Good > 0 && slower(k.Last) && slower(k.First) && run.Collecting > p.Collecting &&
		float64(run.Live) > p.Full*float64(run.Heap)
}

// Safe is the heap for a run that has a deadline: the last good one, and never less than what leaves a fifth of
// the heap free beside the greatest live set. It is 0 before the first good run.
func (k *Knee) Safe(p KneeParams) units.Bytes {
	if k.Good == 0 {
		return 0
	}
	return max(k.Good, units.Bytes(math.Ceil(float64(k.Live)/p.Full)))
}
