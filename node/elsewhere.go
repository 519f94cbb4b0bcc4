package node

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// A stage works elsewhere than in its tasks' threads while they use less than
// threadsLeast of what its executor's group uses for it, until they use more than
// threadsMost. A JVM that compiles and collects leaves its tasks 0.4 and more of it,
// one whose tasks wait for Python workers 0.2 and less, but only after a second or two
// in which it compiles what it sends them. So the last core-seconds count.
const (
	threadsLeast, threadsMost = 0.25, 0.4
	leastSeen                 = units.Work(1)
	mostSeen                  = units.Work(3)
)

// elsewhere is what the tasks of a stage use in processes of their executor's group
// that are not the JVM: Python workers. A page shows the CPU time of threads, by which
// such a task has hardly begun until it ends. So what the group uses is divided
// over the running tasks: each has one worker, and the kernel treats them alike.
type elsewhere struct {
	// spent is what the group has used for the stage since the last page.
	spent units.Work
	// group is what the group has used since the stage is watched, recent and threads
	// what group and threads have of late.
	group, recent, threads units.Work
	found                  bool
	// stage is the page's with CPU times of the group in the place of those of threads,
	// tasks its running tasks likewise; next is for those of the next page.
	stage       PageStage
	tasks, next []PageTask
}

// see returns the stage and its running tasks as if threads had used what the group has:
// the page's own where that is much the same. moved says that this changed with
// this page. threads is the growth of what the page shows.
func (e *elsewhere) see(stage *PageStage, tasks []PageTask, threads units.Work) (_ *PageStage, _ []PageTask, moved bool) {
	spent := e.spent
	e.spent = 0
	e.group += spent
	keep := max(0, min(1, (mostSeen-spent)/max(e.recent, 1e-9)))
	e.threads, e.recent = keep*e.threads+threads, keep*e.recent+spent
	bound := units.Work(threadsLeast)
	if e.found {
		bound = threadsMost
	}
	found := e.recent >= leastSeen && e.threads < bound*e.recent
	moved, e.found = found != e.found, found
	switch {
	case !found:
		return stage, tasks, moved
	case moved:
		e.begin(stage, tasks)
	default:
		e.divide(spent, stage, tasks)
	}
	return &e.stage, e.tasks, moved
}

// begin divides all that the group has used evenly over the tasks that ran.
func (e *elsewhere) begin(stage *PageStage, tasks []PageTask) {
	each := e.group / units.Work(max(1, stage.Finished+stage.Failed+stage.Running))
	e.show(stage, each*units.Work(stage.Running))
	e.tasks = e.tasks[:0]
	for i := range tasks {
		if tasks[i].Stage == stage.Key {
			e.tasks = append(e.tasks, hidden(tasks[i], each))
		}
	}
}

// hidden is the task with that CPU time and without its records: what the JVM has read
// for it may still stand before its worker, and by which part of such a task's
// threads' time it reads a profile cannot say.
func hidden(task PageTask, cpu units.Work) PageTask {
	task.CPU, task.Records = cpu, 0
	return task
}

// show makes the stage one whose running tasks have used so much of what the group has.
func (e *elsewhere) show(stage *PageStage, running units.Work) {
	e.stage = *stage
	e.stage.RunningCPU = min(running, e.group)
	e.stage.CPU = e.group - e.stage.RunningCPU
	e.stage.RunningRecords = 0
}

// divide gives each task that ran all the time since the last page two parts of
// spent, each that began or ended in it one. Tasks that the page has no room for
// are like those that it shows.
func (e *elsewhere) divide(spent units.Work, stage *PageStage, tasks []PageTask) {
	e.next = e.next[:0]
	stayed := 0 // They come first.
	for i := range tasks {
		if tasks[i].Stage != stage.Key {
			continue
		}
		e.next = append(e.next, hidden(tasks[i], 0))
		last := &e.next[len(e.next)-1]
		if at := slices.IndexFunc(e.tasks, func(t PageTask) bool { return t.Partition == last.Partition }); at >= 0 {
			last.CPU = e.tasks[at].CPU
			e.next[stayed], *last = *last, e.next[stayed]
			stayed++
		}
	}
	shown := units.Work(1)
	if n := len(e.next); 0 < n && n < stage.Running {
		shown = units.Work(n) / units.Work(stage.Running)
	}
	ended := max(0, stage.Finished+stage.Failed-e.stage.Finished-e.stage.Failed)
	part := spent / max(1, units.Work(stayed+len(e.next))/shown+units.Work(ended))
	var running units.Work
	for i := range e.next {
		e.next[i].CPU += part
		if i < stayed {
			e.next[i].CPU += part
		}
		running += e.next[i].CPU
	}
	e.show(stage, running/shown)
	e.tasks, e.next = e.next, e.tasks
}
