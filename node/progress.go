package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
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

	// rests is what is left of the running tasks as the page shows them, in
	// weight, when work is measured; begun is what all tasks weigh that were
	// started, lightest the least that one of them did, widest the most that one of
	// those does that run.
	rests                   []float64
	begun, lightest, widest float64
	pace                    pace
	// cost is what a task takes whatever it weighs (Config.TaskCost), even the part of
	// the weights that goes by the number of tasks because of that.
	cost units.Work
	even float64
	// unequal says that a task did not weigh 1.
	unequal bool
	// undone is how many of the running tasks are left, as the sum of their shares.
	undone    float64
	elsewhere elsewhere
	// through is the heavy task that was last seen to have read everything, as it was
	// then.
	through PageTask
	// heaviest is the weight of the heaviest waiting task, 0 where nobody told it.
	heaviest float64
}

// chainRounds and chainShare say when chains are worth a look: with so few waiting
// tasks per slot, or a task so heavy beside all that waits.
const (
	chainRounds = 8
	chainShare  = 0.1
)

// chains appends to into[:0] what is left for each slot (controller.Chains), nothing
// while the last tasks are still far away. heaviest is what a task weighs at most,
// 0 when that is not known; what the page says of the waiting ones is better.
func (m *meter) chains(into []float64, t *api.StageTarget, r *record, slots int, heaviest float64) []float64 {
	if len(m.rests) == 0 {
		return into[:0]
	}
	if m.heaviest > 0 {
		heaviest = m.heaviest
	}
	w := m.waiting(t, r.finished+r.running)
	w.Lightest, heaviest = m.evened(m.lightest, 1), m.evened(heaviest, 1)
	w.Heaviest = heaviest
	if w.Tasks > chainRounds*slots {
		heavy := heaviest
		for _, rest := range m.rests {
			heavy = max(heavy, rest)
		}
		if heavy*float64(slots) < chainShare*w.Weight {
			return into[:0]
		}
	}
	return controller.Chains(into, m.rests, w, slots)
}

// observe folds in a stage as a page shows it; tasks are the running tasks of
// all stages, threads is how much more CPU time this page shows for the stage than
// the last one. It says why progress fell, if it did: a failure, or that what was
// taken for work is none.
func (m *meter) observe(t *api.StageTarget, stage *PageStage, tasks []PageTask, threads units.Work) (fell string) {
	moved := false
	if m.mode == Work {
		if stage, tasks, moved = m.elsewhere.see(stage, tasks, threads); moved {
			m.pace = pace{}
		}
	}
	done := min(m.doneWeight(t, stage, tasks), t.Weight)
	if m.even > 0 {
		waiting := m.waiting(t, stage.Finished+stage.Running)
		done = t.Weight - m.evened(t.Weight-done, float64(waiting.Tasks)+m.undone)
	}
	failed := stage.Failed > m.failed
	m.failed, m.heaviest = stage.Failed, stage.Heaviest
	switch {
	case done >= m.done:
	case failed:
		fell = "a task failed"
	case moved:
		fell = "its tasks work elsewhere than in their threads"
	default:
		return ""
	}
	m.done = done
	return fell
}

// doneWeight is the weight of the finished tasks and, when work is measured,
// that of the running ones times the share of each that is done:
//
//	min(0.95, max(min(records read / expected * reading, readAhead * CPU), CPU)), CPU = CPU used / predicted
//
// Running tasks that the page has no room to list count together, each as the
// mean one.
func (m *meter) doneWeight(t *api.StageTarget, stage *PageStage, tasks []PageTask) float64 {
	done := stage.Weight
	uneven := !m.alike()
	m.even = m.evenPart(t)
	m.rests, m.begun, m.widest, m.undone = m.rests[:0], done, 0, 0
	if m.mode != Work || stage.Running <= 0 || t.Weight <= 0 {
		return done
	}
	// Weight per second of CPU time, size per record.
	perCPU, perRecord := 0.0, 0.0
	if t.Work > 0 {
		cpu := priorTasks * float64(t.Work) / t.Weight
		perCPU = m.pace.of(priorTasks, cpu, stage)
		if uneven {
			perCPU = (priorTasks + stage.Weight) / (cpu + float64(stage.CPU))
		}
	}
	if t.Records > 0 {
		perRecord = t.Sized(t.Weight, float64(t.Tasks)) / t.Records
	}
	unread := perRecord
	if uneven {
		unread = unfinished(t, stage, perRecord)
	}
	restCPU, restRecords, rest := float64(stage.RunningCPU), stage.RunningRecords, stage.Running
	for i := range tasks {
		task := &tasks[i]
		if task.Stage != stage.Key {
			continue
		}
		cpu, records := float64(task.CPU), read(t, task)
		var part float64
		if task.Weight > Heavy {
			part = m.heavyPart(t.Reading, task, cpu*perCPU, records*unread)
		} else {
			part = m.part(task.Weight, cpu*perCPU, records*perRecord)
		}
		done += part
		if task.Weight > 0 {
			m.undone += 1 - part/task.Weight
		}
		m.begin(task.Weight, task.Weight-part)
		restCPU -= cpu
		restRecords -= task.Records
		rest--
	}
	if rest > 0 {
		part := m.part(float64(rest), restCPU*perCPU, restRecords*perRecord)
		done += part
		m.undone += float64(rest) - part
		m.begun += float64(max(0, rest-maxRests))
		for range min(rest, maxRests) {
			m.begin(1, 1-part/float64(rest))
		}
	}
	return done
}

// read is how many records a task has read, in proportion to its weight where that does not
// go with its size alone (api.StageTarget.Even).
func read(t *api.StageTarget, task *PageTask) float64 {
	if t.Even == 0 {
		return task.Records
	}
	size := t.Sized(task.Weight, 1)
	if size < leastSize {
		return 0 // It reads next to nothing: that says nothing of its work.
	}
	return task.Records * task.Weight / size
}

// leastSize is the size beside the mean one from which records tell how much of a task is
// done.
const leastSize = 0.01

// alike reports whether no task that runs, or waits as far as is known, is heavy.
func (m *meter) alike() bool { return m.widest <= Heavy && m.heaviest <= Heavy }

// pace is the weight per second of CPU time of the tasks that finished lately: the
// rate of a stage changes while a compiler works and with the cores in use. Once
// the sums are full, what comes in takes the place of as much of what they hold.
type pace struct {
	weight, cpu         float64
	seenWeight, seenCPU float64 // What of the finished tasks is in the sums.
	most                int     // Tasks that ran side by side.
}

// recentRounds is how many tasks per slot the sums of a pace hold.
const recentRounds = 4

// of takes in what has finished since the last call. Before the first one, the
// prediction says that tasks of that weight take cpu.
func (p *pace) of(weight, cpu float64, stage *PageStage) float64 {
	if p.cpu == 0 || stage.Weight < p.seenWeight {
		*p = pace{weight: weight, cpu: cpu}
	}
	p.most = max(p.most, stage.Running)
	if gained := stage.Weight - p.seenWeight; gained > 0 {
		keep := min(1, max(0, recentRounds*float64(p.most)-gained)/p.weight)
		p.weight = keep*p.weight + gained
		p.cpu = keep*p.cpu + max(0, float64(stage.CPU)-p.seenCPU)
		p.seenWeight, p.seenCPU = stage.Weight, float64(stage.CPU)
	}
	return p.weight / p.cpu
}

// maxRests bounds how many running tasks that a page does not list are looked at.
const maxRests = 64

// begin takes in a running task of which rest is left.
func (m *meter) begin(weight, rest float64) {
	if weight > Heavy {
		rest = doubted(weight, rest)
	}
	if weight > 0 {
		rest = m.evened(rest, rest/weight)
	}
	m.rests = append(m.rests, rest)
	m.begun += weight
	m.widest = max(m.widest, weight)
	m.unequal = m.unequal || weight != 1
	if m.lightest == 0 || weight < m.lightest {
		m.lightest = weight
	}
}

// readAhead is how far reading may be before the CPU time that it took: more than that
// is read into a buffer, or for another process, and not yet work done.
const readAhead = 4

// part is how much of running tasks that weigh weight together is done, in
// weight, when their CPU time and their records stand for that much. Comparisons
// rather than min and max: this runs for every running task in every tick.
func (m *meter) part(weight, byCPU, byRecords float64) float64 {
	if byRecords > weight {
		byRecords = weight
	}
	part := float64(m.read) * byRecords
	if part > readAhead*byCPU {
		part = readAhead * byCPU
	}
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
