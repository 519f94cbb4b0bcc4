package dag

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Ahead returns g with the job of a stage, which a run has begun, before all of the jobs that stood before it that
// is still to come: that follows. coming says of a stage's id whether it may still come. It is g itself where
// nothing of them comes. It takes as long as there are stages and edges, and leaves the profile's ids and jobs out
// of order, as Extra does.
func (g *Graph) Ahead(id int, coming func(id int) bool) *Graph {
	i, ok := g.index[id]
	if !ok {
		return g
	}
	stages, job := g.profile.Stages, g.nodes[i].stage.Job
	begin := slices.IndexFunc(stages, func(s api.ProfileStage) bool { return s.Job == job })
	end := begin
	for end < len(stages) && stages[end].Job == job {
		end++
	}
	first, later := make([]api.ProfileStage, 0, len(stages)), []api.ProfileStage(nil)
	moved := make(map[int]bool)
	for k, s := range stages[:end] {
		if k < begin && coming(s.ID) {
			later, moved[s.ID] = append(later, s), true
			continue
		}
		s.Parents = slices.DeleteFunc(slices.Clone(s.Parents), func(id int) bool { return moved[id] })
		first = append(first, s)
	}
	if len(later) == 0 {
		return g
	}
	p := g.profile
	p.Stages = slices.Concat(first, later, stages[end:])
	ahead := &Graph{index: make(map[int]int, len(p.Stages)), width: g.width, recorded: g.recorded}
	ahead.connect(p.Stages)
	ahead.take(p)
	ahead.factors = slices.Repeat([]float64{1}, len(ahead.nodes))
	for i := range ahead.nodes {
		if n := &ahead.nodes[i]; n.stage != nil {
			was := g.index[n.stage.ID]
			n.alone, ahead.factors[i] = g.nodes[was].alone, g.factors[was]
		}
	}
	ahead.measure()
	return ahead
}
