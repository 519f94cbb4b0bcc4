package dag

import "github.com/sparkpacer/pacer/units"

// Least returns the shortest time that the stage with the given id can take with so
// many cores and slots (<= 0 for any number), 0 for an unknown one: that of its longest
// task, of its work and, where nothing ran beside it, of the recorded run.
func (g *Graph) Least(id int, cores units.Cores, slots int) units.Seconds {
	i, ok := g.index[id]
	if !ok {
		return 0
	}
	stage, all := g.profile.Stages[i], scene{graph: g, cores: float64(cores), slots: slots}
	most := all.most(stage)
	if !(most > 0) {
		return stage.LongestTask
	}
	return max(units.Seconds(all.kept(i)/most), stage.LongestTask)
}

// Alone reports whether no stage of the graph can run beside the one with this id.
func (g *Graph) Alone(id int) bool {
	i, ok := g.index[id]
	return ok && g.alone[i]
}
