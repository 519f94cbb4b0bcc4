package heap

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// Report is what `pacer profiles knee` prints of p: the curve, advice, and how sure that is.
func Report(p *ledger.Profile) api.Knee {
	s := Of(p)
	k := api.Knee{V: api.Version, Name: p.Body.Name, Owner: p.Body.Owner, Runs: append([]api.KneeRun{}, s.Runs...),
		Good: s.Search.Good, Bad: s.Search.Bad, Done: s.Search.Done, Slots: s.Slots}
	for _, t := range s.Tasks {
		k.Samples = max(k.Samples, t.Samples)
	}
	slices.SortStableFunc(k.Runs, func(a, b api.KneeRun) int { return int(min(1, max(-1, a.Heap-b.Heap))) })
	if len(k.Runs) > 0 {
		k.Next, k.Safe = s.Choose(0, false), s.Choose(0, true)
	}
	k.Advice, k.Sure = s.advice(&k), s.sure(&k)
	return k
}

// advice says what to do.
func (s State) advice(k *api.Knee) string {
	const auto = "spark.pacer.memory.heap=auto"
	switch {
	case len(k.Runs) == 0:
		return "no run has told of its heap yet: run it once, on nodes of this release"
	case k.Done:
		return fmt.Sprintf("the knee is found: a heap of %v, or %v with a deadline; %s has executors start with that", k.Next,
			k.Safe, auto)
	case k.Good == 0:
		return fmt.Sprintf("no heap has been good yet: the next run with %s has %v", auto, k.Next)
	}
	text := fmt.Sprintf("the next run with %s has %v, or %v with a deadline", auto, k.Next, k.Safe)
	if k.Samples < LeastSamples {
		text += fmt.Sprintf("; a run with one slot (--conf spark.executor.cores=1) would show what one task needs: "+
			"of %d samples that takes there are %d", LeastSamples, k.Samples)
	}
	return text
}

// sure says how far apart the heaps are between which the knee is.
func (s State) sure(k *api.Knee) string {
	switch {
	case k.Good == 0:
		return "nothing is known"
	case k.Bad == 0 && k.Done:
		return fmt.Sprintf("%v is the smallest heap with which executors are started, and no run was bad, of %d", k.Good,
			len(k.Runs))
	case k.Bad == 0:
		return fmt.Sprintf("it is below %v: no run was bad, of %d", k.Good, len(k.Runs))
	}
	apart := 100 * float64(k.Good-k.Bad) / float64(k.Good)
	text := fmt.Sprintf("it is between %v and %v, %.0f %% apart, by %d runs", k.Bad, k.Good, apart, s.Search.Runs)
	if apart > 100*params.Apart {
		text += ", and the search goes on"
	}
	return text
}
