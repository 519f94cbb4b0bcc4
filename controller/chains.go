package controller

import "slices"

// Chains appends to into[:0] what is left for each slot of an executor, in
// weight, the longest first: the rest of the task that runs there and the waiting
// tasks that will follow it, each taken by the slot that is free first. running
// is what is left of the running tasks, slots how many run side by side. No
// allocation where into has room for slots values.
//
// Of the waiting tasks only the sum is known. So the worst that it allows is
// taken: that what it holds beyond w.Lightest for each is in one task, no heavier
// than w.Heaviest, which comes last. Each task that starts shows whether that was so,
// and the time won is spread over what is left.
//
// The longest chain is what a stage cannot be faster than: a task uses one core
// at most.
func Chains(into, running []float64, w Waiting, slots int) []float64 {
	chains := append(into[:0], running...)
	for len(chains) < min(slots, len(running)+w.Tasks) {
		chains = append(chains, 0)
	}
	if len(chains) == 0 || w.Tasks <= 0 || w.Weight <= 0 {
		descending(chains)
		return chains
	}
	slices.Sort(chains) // So it is a heap, with the shortest on top.
	last := max(w.Weight/float64(w.Tasks), min(w.Heaviest, w.Weight-w.Lightest*float64(w.Tasks-1)))
	if tasks := w.Tasks - 1; tasks > 0 {
		each := (w.Weight - last) / float64(tasks)
		if early := tasks - rounds*len(chains); early > 0 {
			pour(chains, each*float64(early))
			slices.Reverse(chains)
			tasks -= early
		}
		for range tasks {
			chains[0] += each
			sink(chains)
		}
	}
	chains[0] += last
	descending(chains)
	return chains
}

// Waiting is what is known of the tasks that have not been started.
type Waiting struct {
	// Tasks is how many they are, Weight what they weigh together.
	Tasks  int
	Weight float64
	// Lightest and Heaviest bound what one of them weighs; Heaviest 0: as much as the
	// mean.
	Lightest, Heaviest float64
}

// handed is the part of the time left that chains are given: near a deadline that
// the longest chain just meets, noise would ask for all or nothing.
const handed = 0.995

// rounds is how many tasks per slot are placed one by one; those before them are as
// good as fluid.
const rounds = 2

// sink restores a heap with the shortest chain on top whose top has grown.
func sink(chains []float64) {
	for at := 0; ; {
		child := 2*at + 1
		if child >= len(chains) {
			return
		}
		if child+1 < len(chains) && chains[child+1] < chains[child] {
			child++
		}
		if chains[at] <= chains[child] {
			return
		}
		chains[at], chains[child] = chains[child], chains[at]
		at = child
	}
}

func descending(chains []float64) {
	slices.Sort(chains)
	slices.Reverse(chains)
}

// pour adds weight to the shortest chains until they are even.
func pour(chains []float64, weight float64) {
	descending(chains)
	for n := 1; weight > 0; n++ {
		// The last n chains are level; the next is higher by step.
		low := chains[len(chains)-1]
		add := weight / float64(n)
		if n < len(chains) {
			add = min(add, chains[len(chains)-1-n]-low)
		}
		for i := len(chains) - n; i < len(chains); i++ {
			chains[i] += add
		}
		if n == len(chains) {
			return
		}
		weight -= add * float64(n)
	}
}

// coresFor is how many cores do work in as long as one core does span, both in
// weight, where chains (longest first, not empty) bound what they can be used
// for: of c cores shared equally by k < c tasks c - k are idle, which adds up to
//
//	idle(c) = sum over j <= c of (V1 - Vj)
//
// for the whole part of c and in proportion for the rest, where V1 >= V2 ... are
// the chains. It solves c span = work + idle(c), with 0.5 % of the span kept in
// hand; where the longest chain alone takes that, it returns all slots.
func coresFor(chains []float64, work, span float64) float64 {
	slack := handed*span - chains[0]
	if slack <= 0 {
		return float64(len(chains))
	}
	for m, chain := range chains {
		// work is what is left of it after m whole cores' span less their idling.
		part := work / (slack + chain)
		if part <= 1 {
			return float64(m) + max(0, part)
		}
		work -= slack + chain
	}
	return float64(len(chains))
}

// tail is how much longer, in seconds, the last tasks take than their work over
// the request says, because a task cannot use more than one core: with r tasks
// that end evenly staggered, one task's time times (c - 1)/2r (the sum over the
// last j < c tasks of (1 - j/c)/r). It stands in for chains that are not known.
func tail(c, rate float64, running int) float64 {
	if c <= 1 || running < 1 {
		return 0
	}
	return (min(c, float64(running)) - 1) / (2 * float64(running) * rate)
}
