package dag

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Extra is a stage that the recorded run had not, with its place in a graph.
type Extra struct {
	// Stage describes it. Of its parents those count that come before its place, and its job is
	// what follows from that.
	Stage api.ProfileStage `json:"stage"`
	// After is the id of a stage of whose job it is or, if it is a Job by itself, which that follows. An id that the graph
	// has not stands for the beginning.
	After int  `json:"after"`
	Job   bool `json:"job,omitempty"`
	// Before are the ids of stages that wait for it, in order.
	Before []int `json:"before,omitempty"`
	// Beside says that stages that have not ended may run beside it.
	Beside bool `json:"beside,omitempty"`
}

// Into returns g with x in it. Facts of the recorded run that g knows hold for its other stages. It takes as long as
// there are stages and edges. The profile of the graph has x where it stands, so that its ids and jobs are not in
// order.
func (x Extra) Into(g *Graph) *Graph {
	p := g.profile
	at, job := x.place(g)
	s := x.Stage
	s.Job, s.Parents = job, slices.DeleteFunc(slices.Clone(s.Parents), func(id int) bool {
		i, ok := g.index[id]
		return !ok || g.nodes[i].place >= at
	})
	p.Stages = slices.Insert(slices.Clone(p.Stages), at, s)
	for _, id := range x.Before {
		if i, ok := g.index[id]; ok && g.nodes[i].place >= at {
			later := &p.Stages[g.nodes[i].place+1]
			later.Parents = append(slices.Clone(later.Parents), s.ID)
		}
	}
	grown := g.rearranged(p)
	x.join(g, grown)
	grown.measure()
	return grown
}

// rearranged is the graph of p, which has g's stages in another order and may have others, not measured. Facts of the
// recorded run that g knows hold for its stages.
func (g *Graph) rearranged(p api.Profile) *Graph {
	r := &Graph{index: make(map[int]int, len(p.Stages)), width: g.width, recorded: g.recorded}
	r.connect(p.Stages)
	r.take(p)
	r.legs, r.leg = findLegs(r.nodes)
	r.factors = slices.Repeat([]float64{1}, len(r.nodes))
	for i := range r.nodes {
		n := &r.nodes[i]
		if n.stage == nil {
			continue
		}
		if was, known := g.index[n.stage.ID]; known {
			n.alone, r.factors[i] = g.nodes[was].alone, g.factors[was]
		}
	}
	return r
}

// place is where x stands among g's stages, and the number of its job.
func (x Extra) place(g *Graph) (at, job int) {
	stages := g.profile.Stages
	i, known := g.index[x.After]
	if !known || x.Job {
		for k := range stages {
			job = max(job, stages[k].Job+1)
		}
		if !known {
			return 0, job
		}
	}
	begin := g.nodes[i].place
	end := begin
	of := stages[begin].Job
	for begin > 0 && stages[begin-1].Job == of {
		begin--
	}
	for end < len(stages) && stages[end].Job == of {
		end++
	}
	if x.Job {
		return end, job
	}
	for _, id := range x.Stage.Parents {
		if k, ok := g.index[id]; ok && g.nodes[k].place < end {
			begin = max(begin, g.nodes[k].place+1)
		}
	}
	for _, id := range x.Before {
		if k, ok := g.index[id]; ok && g.nodes[k].place >= begin {
			end = min(end, g.nodes[k].place)
		}
	}
	return end, of
}

// join says which stages are alone in grown, which is g with x in it.
func (x Extra) join(g, grown *Graph) {
	own := grown.index[x.Stage.ID]
	grown.nodes[own].alone = !x.Beside
	if !x.Beside {
		return
	}
	grown.width = max(g.width, g.recorded+1)
	first, end := own, own
	for first > 0 && grown.nodes[first-1].stage != nil {
		first--
	}
	for end < len(grown.nodes) && grown.nodes[end].stage != nil {
		end++
	}
	related := relatives(grown.nodes, own, first, end)
	for i := first; i < end; i++ {
		grown.nodes[i].alone = grown.nodes[i].alone && related[i-first]
	}
}

// relatives says of the nodes of [first, end) which come before or after node i of them, itself left out.
func relatives(nodes []node, i, first, end int) []bool {
	related := make([]bool, end-first)
	has := func(k int) bool { return k == i || k >= first && k < end && related[k-first] }
	for k := i - 1; k >= first; k-- {
		related[k-first] = slices.ContainsFunc(nodes[k].after, func(n int) bool { return n <= i && has(n) })
	}
	for k := i + 1; k < end; k++ {
		related[k-first] = slices.ContainsFunc(nodes[k].before, func(n int) bool { return n >= i && has(n) })
	}
	return related
}
