package dag

import "github.com/sparkpacer/pacer/units"

const (
	// stretch is the most by which the reserve may lengthen the stages to come, as a share of what they take at all cores.
	// A reserve that they could not use up would only make the application early.
	stretch = 0.25
	// granularity is how far the end of the longest task is uncertain, as a share
	// of it; granularityMost bounds what is left for that, as a share of the deadline.
	granularity, granularityMost = 0.03, 0.0025
)

// horizon is the moment on the deadline clock until which the time is divided at
// m. In the source that is alpha appDeadline for all stages. With p.Aim only the application's end has one aim, Aim
// appDeadline less Margin and what the longest task of the last stage leaves uncertain. Before it, a stage that others
// follow is aimed at alpha appDeadline, or later where the stages to come are too short to use a larger reserve up. The
// stages to come have the part of the reserve that is not needed, so the last stage gets what is left. Unforeseen work
// has its reserve besides (Params.Reserve): it takes time at the rate at which it could be worked off. brief is the
// stage that has no use for a reserve, if there is one (unsteered), else noNode.
func (p Params) horizon(b *backlog, m situation, brief int) units.Seconds {
	alpha := units.Seconds(p.Alpha) * m.deadline
	if p.Aim == 0 {
		return alpha
	}
	all := b.all()
	following, last := units.Seconds(all.ahead+all.behind), m.node
	if brief != noNode {
		following -= units.Seconds(b.leaf(brief).ahead)
	}
	switch {
	case b.last != noNode:
		last = b.last
	case b.follower != noNode:
		last = b.follower
	}
	room := min(granularity*b.graph.nodes[last].stage.LongestTask, granularityMost*m.deadline)
	end := units.Seconds(p.Aim)*m.deadline - p.Margin
	aim := max(alpha, end-room-stretch*following)
	if keep := p.reserve(1 - all.work/b.work); keep > 0 {
		aim = min(aim, end-keep)
	}
	return aim
}
