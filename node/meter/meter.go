package meter

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// Meter measures how much of a stage executor's share is done. It never falls except
// after a task has failed, for work that is lost has to be done again, and when tasks
// turn out to work in child processes. It is for one goroutine.
type Meter struct {
	settings Settings
	done     float64
	failed   int

	// rests is what is left of the running tasks as the page shows them, in weight, when work is measured. begun is what
	// all tasks weigh that were started, lightest the least that one of them did, widest the most that one of those does
	// that run.
	rests                   []float64
	begun, lightest, widest float64
	pace                    pace
	// fixed is the part of the weights that goes by the number of tasks.
	fixed float64
	// unequal says that a task did not weigh 1.
	unequal bool
	// undone is how many of the running tasks are left, as the sum of their shares.
	undone   float64
	children children
	// through is the large task that was last seen to have read everything, as it was
	// then.
	through Task
	// heaviest is the weight of the heaviest waiting task, 0 where nobody told it.
	heaviest float64
}

// State is what a Meter has to remember beyond its own life; it survives a round trip
// through JSON.
type State struct {
	// Done is the weight that was done, Failed the tasks that had failed.
	Done   float64 `json:"done"`
	Failed int     `json:"failed"`
	// Children is what the stage's work in child processes had come to.
	Children ChildrenState `json:"children,omitzero"`
}

// New returns the meter that goes on from a state; the zero State begins anew.
func New(settings Settings, from State) Meter {
	m := Meter{settings: settings, done: from.Done, failed: from.Failed}
	m.children.restore(from.Children)
	return m
}

// State returns what New goes on from, as a copy.
func (m *Meter) State() State {
	return State{Done: m.done, Failed: m.failed, Children: m.children.state()}
}

// Done is the weight that is done.
func (m *Meter) Done() float64 { return m.done }

// Bound makes the weight that is done at most weight: the target's has changed.
func (m *Meter) Bound(weight float64) { m.done = min(m.done, weight) }

// Spend takes in what the executor's group has used for the stage.
func (m *Meter) Spend(used units.Work) { m.children.spent += used }

// AllBegun reports whether tasks that weigh as much as the target's share were
// started, as far as running tasks count.
func (m *Meter) AllBegun(t *api.StageTarget) bool {
	return m.settings.Progress == Work && m.begun >= t.Weight*(1-1e-9)
}

// Alike reports whether no task that runs, or waits as far as is known, is large.
func (m *Meter) Alike() bool { return m.widest <= Large && m.heaviest <= Large }

// Chains appends to into[:0] what is left for each slot (controller.Chains), nothing
// while the last tasks are still far away. begun is how many tasks of the share run or have finished. heaviest is what
// a task weighs at most, 0 when that is not known; what the page says of the waiting ones is better.
func (m *Meter) Chains(into []float64, t *api.StageTarget, begun, slots int, heaviest float64) []float64 {
	if len(m.rests) == 0 {
		return into[:0]
	}
	if m.heaviest > 0 {
		heaviest = m.heaviest
	}
	w := m.waiting(t, begun)
	w.Lightest, heaviest = m.shared(m.lightest, 1), m.shared(heaviest, 1)
	w.Heaviest = heaviest
	if w.Tasks > params.ChainRounds*slots && !brief(t, w.Weight, slots) {
		most := heaviest
		for _, rest := range m.rests {
			most = max(most, rest)
		}
		if most*float64(slots) < params.ChainShare*w.Weight {
			return into[:0]
		}
	}
	return controller.Chains(into, m.rests, w, slots)
}

// brief reports whether waiting tasks of a known work take the slots no longer than a moment,
// however many they are: the end is near then.
func brief(t *api.StageTarget, weight float64, slots int) bool {
	return t.Work > 0 && float64(t.Work)*weight <= params.ChainWork*float64(slots)*t.Weight
}

// Observe folds in a stage as a page shows it; tasks are the running tasks of
// all stages, threads is how much more CPU time this page shows for the stage than
// the last one. It says why progress fell, if it did: a failure, or that what was
// taken for work is none.
func (m *Meter) Observe(t *api.StageTarget, stage *Stage, tasks []Task, threads units.Work) (fell string) {
	moved := false
	if m.settings.Progress == Work {
		if stage, tasks, moved = m.children.see(stage, tasks, threads); moved {
			m.pace = pace{}
		}
	}
	done := min(m.doneWeight(t, stage, tasks), t.Weight)
	if m.fixed > 0 {
		waiting := m.waiting(t, stage.Finished+stage.Running)
		done = t.Weight - m.shared(t.Weight-done, float64(waiting.Tasks)+m.undone)
	}
	failed := stage.Failed > m.failed
	m.failed, m.heaviest = stage.Failed, stage.Heaviest
	switch {
	case done >= m.done:
	case failed:
		fell = "a task failed"
	case moved:
		fell = "its tasks work in child processes"
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
// where reading is the lesser of Settings.Reading and the target's, where that is known.
// Running tasks that the page has no room to list count together, each as the mean one.
func (m *Meter) doneWeight(t *api.StageTarget, stage *Stage, tasks []Task) float64 {
	done := stage.Weight
	unlike := !m.Alike()
	m.fixed = m.fixedPart(t)
	m.rests, m.begun, m.widest, m.undone = m.rests[:0], done, 0, 0
	if m.settings.Progress != Work || stage.Running <= 0 || t.Weight <= 0 {
		return done
	}
	// Weight per second of CPU time, size per record.
	perCPU, perRecord := 0.0, 0.0
	if t.Work > 0 {
		cpu := params.PriorTasks * float64(t.Work) / t.Weight
		perCPU = m.pace.of(params.PriorTasks, cpu, stage)
		if unlike {
			perCPU = (params.PriorTasks + stage.Weight) / (cpu + float64(stage.CPU))
		}
	}
	if t.Records > 0 {
		perRecord = t.Sized(t.Weight, float64(t.Tasks)) / t.Records
	}
	unread := perRecord
	if unlike {
		unread = unfinished(t, stage, perRecord)
	}
	reading := m.settings.Reading
	if t.Reading > 0 {
		reading = min(reading, t.Reading)
	}
	restCPU, restRecords, rest := float64(stage.RunningCPU), stage.RunningRecords, stage.Running
	for i := range tasks {
		task := &tasks[i]
		if task.Stage != stage.Key {
			continue
		}
		cpu, records := float64(task.CPU), read(t, task)
		var part float64
		if task.Weight > Large {
			part = m.largePart(t.Reading, task, cpu*perCPU, records*unread)
		} else {
			part = partDone(reading, task.Weight, cpu*perCPU, records*perRecord)
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
		part := partDone(reading, float64(rest), restCPU*perCPU, restRecords*perRecord)
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
// go with its size alone (api.StageTarget.FixedPart).
func read(t *api.StageTarget, task *Task) float64 {
	if t.FixedPart == 0 {
		return task.Records
	}
	size := t.Sized(task.Weight, 1)
	if size < params.LeastSize {
		return 0 // It reads next to nothing: that says nothing of its work.
	}
	return task.Records * task.Weight / size
}

// maxRests bounds how many running tasks that a page does not list are looked at.
const maxRests = 64

// begin takes in a running task of which rest is left.
func (m *Meter) begin(weight, rest float64) {
	if weight > Large {
		rest = doubted(weight, rest)
	}
	if weight > 0 {
		rest = m.shared(rest, rest/weight)
	}
	m.rests = append(m.rests, rest)
	m.begun += weight
	m.widest = max(m.widest, weight)
	m.unequal = m.unequal || weight != 1
	if m.lightest == 0 || weight < m.lightest {
		m.lightest = weight
	}
}

// partDone is how much of running tasks that weigh weight together is done, in weight, when their CPU time and their
// records stand for that much. Reading all of them stands for that share of a task. Comparisons rather than min and
// max: this runs for every running task in every tick.
func partDone(reading units.Fraction, weight, byCPU, byRecords float64) float64 {
	if byRecords > weight {
		byRecords = weight
	}
	part := float64(reading) * byRecords
	if part > params.ReadAhead*byCPU {
		part = params.ReadAhead * byCPU
	}
	if byCPU > part {
		part = byCPU
	}
	if part > params.MostOfTask*weight {
		return params.MostOfTask * weight
	}
	if part > 0 {
		return part
	}
	return 0
}
