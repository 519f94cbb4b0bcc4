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
	comes := func(s api.ProfileStage) bool { return coming(s.ID) }
	if !slices.ContainsFunc(stages[:begin], comes) {
		return g // As nearly always.
	}
	first, later := make([]api.ProfileStage, 0, len(stages)), []api.ProfileStage(nil)
	moved := make(map[int]bool)
	for k, s := range stages[:end] {
		if k < begin && comes(s) {
			later, moved[s.ID] = append(later, s), true
			continue
		}
		s.Parents = slices.DeleteFunc(slices.Clone(s.Parents), func(id int) bool { return moved[id] })
		first = append(first, s)
	}
	p := g.profile
	p.Stages = slices.Concat(first, later, stages[end:])
	ahead := g.rearranged(p)
	ahead.measure()
	return ahead
}
