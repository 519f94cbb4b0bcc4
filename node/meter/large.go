package meter

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Large is the weight above which much hangs on a task: what finished lately does not
// speak for its CPU time, and its work is its own. The page counts such tasks apart
// (TaskLedger in spark/).
const Large = 2

// Long is the CPU time, in core-seconds, above which a task's page shows well when it reads:
// the page counts such a task's reading, too.
const Long = 1

// doubted is what a large task of that weight is taken to have left.
func doubted(weight, rest float64) float64 {
	return rest * (1 + params.Doubt + params.Unseen*rest/weight)
}

// unfinished is the size of a record of the tasks that have not finished. Weights go by bytes and by what a task costs
// without any, so that the few tasks which have most of the records weigh less than their records do. Of the last one
// this knows exactly how much it has to read. Records of a failed task were read in vain: then it is mean.
func unfinished(t *api.StageTarget, stage *Stage, mean float64) float64 {
	records, weight := t.Records-stage.Records, t.Sized(t.Weight-stage.Weight, float64(t.Tasks-stage.Finished))
	if stage.Failed > 0 || weight <= 0 || records <= 0 || records < stage.RunningRecords {
		return mean
	}
	return weight / records
}

// allRead is the share of its records from which a task has read them all but for
// rounding.
const allRead = 1 - 1e-6

// largePart is part for a large task; reading is that of the target.
//
// Where it is known, the records say how much is done. It is the lesser of them and the CPU time at first, for both are
// off by a fifth, and what a record costs may change threefold within a task. The more is read, the more the records
// alone, for they are right in the end. When all is read, the task's own CPU time until then says how long the rest
// takes. Where it is not known, what is not read yet stands for as much as what has been read, and the CPU time is
// believed between the two.
func (m *Meter) largePart(reading units.Fraction, task *Task, byCPU, byRecords float64) float64 {
	weight := task.Weight
	read := byRecords / weight
	switch {
	case read <= 0:
		return partDone(0, weight, byCPU, 0)
	case reading <= 0:
		half := m.settings.Reading
		return partDone(half, weight, min(byCPU, weight-float64(half)*max(0, weight-byRecords)), byRecords)
	case read < allRead:
		part := float64(reading) * byRecords
		return min(part+(1-read)*min(0, byCPU-part), params.MostOfLarge*weight)
	}
	if m.through.Partition != task.Partition || m.through.CPU > task.CPU || m.through.CPU <= 0 {
		m.through = *task
	}
	return min(float64(reading)*weight*float64(task.CPU/m.through.CPU), params.MostOfLarge*weight)
}
