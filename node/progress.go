package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// mostOfTask is the most that a running task may count: it is not done before
// it says so (design 10.6).
const mostOfTask = 0.95

// priorTasks is how many mean tasks the predicted CPU time of a task is worth
// against what finished tasks really used: the prediction is that of the
// cgroup, the page shows that of the task's thread, which is less by garbage
// collection and compilation, and two finished tasks outweigh it.
const priorTasks = 2

// meter measures how much of a stage executor's share is done, in weight (the
// unit of Do in Eq 9-10). It never falls except after a task has failed: work
// that is lost has to be done again.
type meter struct {
	done   float64
	failed int
	mode   Progress
	read   units.Fraction
}

// observe folds in a stage as a page shows it; tasks are the running tasks of
// all stages. It reports whether a failure let progress fall.
func (m *meter) observe(t *api.StageTarget, stage *PageStage, tasks []PageTask) (fell bool) {
	done := min(m.doneWeight(t, stage, tasks), t.Weight)
	failed := stage.Failed > m.failed
	m.failed = stage.Failed
	switch {
	case done >= m.done:
		m.done = done
	case failed:
		m.done = done
		return true
	}
	return false
}

// doneWeight is the weight of the finished tasks and, when work is measured,
// that of the running ones times the share of each that is done:
//
//	min(0.95, max(records read / expected * reading, CPU used / predicted))
//
// Running tasks that the page has no room to list count together, each as the
// mean one.
func (m *meter) doneWeight(t *api.StageTarget, stage *PageStage, tasks []PageTask) float64 {
	done := stage.Weight
	if m.mode != Work || stage.Running <= 0 || t.Weight <= 0 {
		return done
	}
	// Weight per second of CPU time and per record.
	perCPU, perRecord := 0.0, 0.0
	if t.Work > 0 {
		perCPU = (priorTasks + stage.Weight) / (priorTasks*float64(t.Work)/t.Weight + float64(stage.CPU))
	}
	if t.Records > 0 {
		perRecord = t.Weight / t.Records
	}
	restCPU, restRecords, rest := float64(stage.RunningCPU), stage.RunningRecords, stage.Running
	for i := range tasks {
		task := &tasks[i]
		if task.Stage != stage.Key {
			continue
		}
		cpu, records := float64(task.CPU), task.Records
		done += m.part(task.Weight, cpu*perCPU, records*perRecord)
		restCPU -= cpu
		restRecords -= records
		rest--
	}
	if rest > 0 {
		done += m.part(float64(rest), restCPU*perCPU, restRecords*perRecord)
	}
	return done
}

// part is how much of running tasks that weigh weight together is done, in
// weight, when their CPU time and their records stand for that much. Comparisons
// rather than min and max: this runs for every running task in every tick.
func (m *meter) part(weight, byCPU, byRecords float64) float64 {
	if byRecords > weight {
		byRecords = weight
	}
	part := float64(m.read) * byRecords
	if byCPU > part {
		part = byCPU
	}
	if part > mostOfTask*weight {
		return mostOfTask * weight
	}
	if part > 0 {
		return part
	}
	return 0
}
