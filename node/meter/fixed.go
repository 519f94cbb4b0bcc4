package meter

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
)

// fixedPart is the part of the weights that goes by the number of tasks. A task takes c core-seconds whatever it
// weighs, and one of weight w takes b w more. Then w stands for (1 - e) w + e, where e is c over what a mean task
// takes. Where tasks start by falling weight, a stage without that seems to be nearly done while many light tasks wait.
// Where all weigh the same nothing is to be shared, but a share's number of tasks is rounded. Where earlier runs have
// shown e (api.StageTarget.FixedPart), the weights have as much of it already.
func (m *Meter) fixedPart(t *api.StageTarget) float64 {
	if !m.unequal || !(t.Work > 0) {
		return 0
	}
	cost := m.settings.TaskCost
	if t.TaskCost > 0 {
		cost = t.TaskCost
	}
	part := min(params.MostFixed, float64(cost)*t.Weight/float64(t.Work))
	return max(0, 1-(1-part)/(1-float64(t.FixedPart)))
}

// shared is what tasks of that weight stand for once the fixed part of all weights is
// shared equally: that part of it goes by their number.
func (m *Meter) shared(weight, tasks float64) float64 {
	return weight + m.fixed*(tasks-weight)
}

// waiting is what is left of t's share when so many tasks were begun; its weight as shared.
func (m *Meter) waiting(t *api.StageTarget, begun int) controller.Waiting {
	w := controller.Waiting{Tasks: max(0, t.Tasks-begun), Weight: max(0, t.Weight-m.begun)}
	if w.Weight <= 1e-9*t.Weight {
		// The share had fewer tasks than its weight says.
		return controller.Waiting{}
	}
	w.Weight = m.shared(w.Weight, float64(w.Tasks))
	return w
}
