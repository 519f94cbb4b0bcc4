package dag

import (
	"iter"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

const (
	// stretch is the most by which the reserve may lengthen the stages to come, as a
	// share of what they take at all cores: a reserve that they could not use up
	// would only make the application early.
	stretch = 0.25
	// granularity is how far the end of the longest task is uncertain, as a share
	// of it; granularityMost bounds what is left for that, as a share of the deadline.
	granularity, granularityMost = 0.03, 0.0025
	// noStage is no stage's id.
	noStage = -1
)

// horizon is the moment on the deadline clock until which the time is divided at
// m. In the source that is alpha appDeadline for all stages. With p.Aim only the
// application's end has one aim, Aim appDeadline less Margin and what the
// longest task of the last stage leaves uncertain; before it, a stage that others
// follow is aimed at alpha appDeadline, or later where the stages to come are too
// short to use a larger reserve up. What is not needed of the reserve is theirs,
// so the last stage gets what is left. brief is the stage that has no use for a
// reserve, if there is one (unsteered), else noStage.
func (p Params) horizon(g *Graph, m Moment, brief int) units.Seconds {
	alpha := units.Seconds(p.Alpha) * m.Deadline
	if p.Aim == 0 {
		return alpha
	}
	var following units.Seconds
	last := g.profile.Stages[g.index[m.Stage]]
	for _, id := range m.Unsubmitted {
		if i, ok := g.index[id]; ok && id != m.Stage {
			last = g.profile.Stages[i]
			if id != brief {
				following += last.Duration
			}
		}
	}
	for r := range m.behind(p) {
		i, ok := g.index[r.Stage]
		if !ok {
			continue
		}
		following += units.Seconds(r.Left) * g.profile.Stages[i].Duration
		if len(m.Unsubmitted) == 0 {
			last = g.profile.Stages[i]
		}
	}
	room := min(granularity*last.LongestTask, granularityMost*m.Deadline)
	return max(alpha, units.Seconds(p.Aim)*m.Deadline-p.Margin-room-stretch*following)
}

// behind are the submitted stages that follow m.Stage because they wait for an
// executor and their turn comes later.
func (m Moment) behind(p Params) iter.Seq[Rest] {
	return func(yield func(Rest) bool) {
		if p.Executors <= 0 {
			return
		}
		turn := slices.Contains(m.Seated, m.Stage)
		for _, r := range m.Running {
			if !slices.Contains(m.Seated, r.Stage) && (turn || r.Stage > m.Stage) && !yield(r) {
				return
			}
		}
	}
}
