package controller

import "slices"

// Chains appends to into[:0] what is left for each slot of an executor, in weight, the longest first. That is the rest
// of the task that runs there and the waiting tasks that will follow it, each taken by the slot that is free first.
// running is what is left of the running tasks, slots how many run side by side. No allocation where into has room for
// 4 slots + 1 values.
//
// Of the waiting tasks only the sum is known. So the worst that it allows is
// taken: that what it holds beyond w.Lightest for each is in one task, no heavier
// than w.Heaviest, which comes last. Each task that starts shows whether that was so,
// and the time won is spread over what is left.
//
// The longest chain is what a stage cannot be faster than: a task uses as many cores at
// most as it has threads, one in most stages (Input.Width).
func Chains(into, running []float64, w Waiting, slots int) []float64 {
	n := max(len(running), min(slots, len(running)+w.Tasks))
	free := n - len(running)
	chains := append(slices.Grow(into[:0], n)[:free], running...)
	clear(chains[:free])
	slices.Sort(chains)
	if n == 0 || w.Tasks <= 0 || w.Weight <= 0 {
		slices.Reverse(chains)
		return chains
	}
	last := max(w.Weight/float64(w.Tasks), min(w.Heaviest, w.Weight-w.Lightest*float64(w.Tasks-1)))
	each, tasks := 0.0, w.Tasks-1
	if tasks > 0 {
		each = (w.Weight - last) / float64(tasks)
		if early := tasks - params.Law.Rounds*n; early > 0 {
			slices.Reverse(chains)
			pour(chains, each*float64(early))
			slices.Sort(chains) // Not just turned: rounding may have put one above the next.
			tasks -= early
		}
	}
	return place(chains, each, tasks, last)
}

// place gives tasks of weight each and then one that weighs last, no less, to the
// shortest of chains, which ascend, one after another; it returns them descending,
// in the same memory. A chain that has got a task is never shorter than one that got a task before. So those that have
// one are a queue behind chains, and the shortest of all is its first or the first of the rest.
func place(chains []float64, each float64, tasks int, last float64) []float64 {
	n, first, queue := len(chains), 0, len(chains)
	for i := range tasks + 1 {
		weight := each
		if i == tasks {
			weight = last
		}
		if first < n && (queue == len(chains) || chains[first] <= chains[queue]) {
			chains = append(chains, chains[first]+weight)
			first++
		} else {
			chains = append(chains, chains[queue]+weight)
			queue++
		}
	}
	end := len(chains)
	for i := end - 1; i > queue && chains[i] < chains[i-1]; i-- { // last is each, but for rounding.
		chains[i], chains[i-1] = chains[i-1], chains[i]
	}
	// Both ascend; the longer of their last ones comes next.
	for i, j := n, end; i > first || j > queue; {
		if j == queue || i > first && chains[i-1] > chains[j-1] {
			i--
			chains = append(chains, chains[i])
		} else {
			j--
			chains = append(chains, chains[j])
		}
	}
	return chains[:copy(chains, chains[end:])]
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

// pour adds weight to the shortest of chains, which descend, until they are even.
func pour(chains []float64, weight float64) {
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

// coresFor is how many cores do work in as long as one core does span, both in weight, where chains (longest first, not
// empty) bound what they can be used for. Of c cores shared equally by k < c tasks c - k are idle, which adds up to
//
//	idle(c) = sum over j <= c of (V1 - Vj)
//
// for the whole part of c and in proportion for the rest, where V1 >= V2 ... are
// the chains. It solves c span = work + idle(c), with 0.5 % of the span kept in
// hand; where the longest chain alone takes that, it returns all slots.
func coresFor(chains []float64, work, span float64) float64 {
	slack := params.Law.Handed*span - chains[0]
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

// tail is how much longer, in seconds, the last tasks take than their work over the request says, because a task cannot
// use more than one core. With r tasks that end evenly staggered it is one task's time times (c - 1)/2r (the sum over
// the last j < c tasks of (1 - j/c)/r). It stands in for chains that are not known.
func tail(c, rate float64, running int) float64 {
	if c <= 1 || running < 1 {
		return 0
	}
	return (min(c, float64(running)) - 1) / (2 * float64(running) * rate)
}
