package meter

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// children is what the tasks of a stage use in processes of their executor's group
// that are not the JVM: Python workers. A page shows the CPU time of threads, by which
// such a task has hardly begun until it ends. So what the group uses is divided
// over the running tasks: each has one worker, and the kernel treats them alike.
type children struct {
	// spent is what the group has used for the stage since the last page.
	spent units.Work
	// group is what the group has used since the stage is watched, recent and threads
	// what group and threads have of late.
	group, recent, threads units.Work
	found                  bool
	// stage is the page's with CPU times of the group in the place of those of threads,
	// tasks its running tasks likewise; next is for those of the next page.
	stage       Stage
	tasks, next []Task
}

// see returns the stage and its running tasks as if threads had used what the group has:
// the page's own where that is much the same. moved says that this changed with
// this page. threads is the growth of what the page shows.
func (c *children) see(stage *Stage, tasks []Task, threads units.Work) (_ *Stage, _ []Task, moved bool) {
	spent := c.spent
	c.spent = 0
	c.group += spent
	keep := max(0, min(1, (params.MostSeen-spent)/max(c.recent, 1e-9)))
	c.threads, c.recent = keep*c.threads+threads, keep*c.recent+spent
	bound := params.ThreadsLeast
	if c.found {
		bound = params.ThreadsMost
	}
	found := c.recent >= params.LeastSeen && c.threads < bound*c.recent
	moved, c.found = found != c.found, found
	switch {
	case !found:
		return stage, tasks, moved
	case moved:
		c.begin(stage, tasks)
	default:
		c.divide(spent, stage, tasks)
	}
	return &c.stage, c.tasks, moved
}

// begin divides all that the group has used evenly over the tasks that ran.
func (c *children) begin(stage *Stage, tasks []Task) {
	each := c.group / units.Work(max(1, stage.Finished+stage.Failed+stage.Running))
	c.show(stage, each*units.Work(stage.Running))
	c.tasks = c.tasks[:0]
	for i := range tasks {
		if tasks[i].Stage == stage.Key {
			c.tasks = append(c.tasks, hidden(tasks[i], each))
		}
	}
}

// hidden is the task with that CPU time and without its records. Records that the JVM has read for it may still stand
// before its worker, and by which part of such a task's threads' time it reads a profile cannot say.
func hidden(task Task, cpu units.Work) Task {
	task.CPU, task.Records = cpu, 0
	return task
}

// show makes the stage one whose running tasks have used so much of what the group has.
func (c *children) show(stage *Stage, running units.Work) {
	c.stage = *stage
	c.stage.RunningCPU = min(running, c.group)
	c.stage.CPU = c.group - c.stage.RunningCPU
	c.stage.RunningRecords = 0
}

// divide gives each task that ran all the time since the last page two parts of
// spent, each that began or ended in it one. Tasks that the page has no room for
// are like those that it shows.
func (c *children) divide(spent units.Work, stage *Stage, tasks []Task) {
	c.next = c.next[:0]
	stayed := 0 // They come first.
	for i := range tasks {
		if tasks[i].Stage != stage.Key {
			continue
		}
		c.next = append(c.next, hidden(tasks[i], 0))
		last := &c.next[len(c.next)-1]
		if at := slices.IndexFunc(c.tasks, func(t Task) bool { return t.Partition == last.Partition }); at >= 0 {
			last.CPU = c.tasks[at].CPU
			c.next[stayed], *last = *last, c.next[stayed]
			stayed++
		}
	}
	shown := units.Work(1)
	if n := len(c.next); 0 < n && n < stage.Running {
		shown = units.Work(n) / units.Work(stage.Running)
	}
	ended := max(0, stage.Finished+stage.Failed-c.stage.Finished-c.stage.Failed)
	part := spent / max(1, units.Work(stayed+len(c.next))/shown+units.Work(ended))
	var running units.Work
	for i := range c.next {
		c.next[i].CPU += part
		if i < stayed {
			c.next[i].CPU += part
		}
		running += c.next[i].CPU
	}
	c.show(stage, running/shown)
	c.tasks, c.next = c.next, c.tasks
}

// ChildrenState is what is remembered of the work in child processes.
type ChildrenState struct {
	// Group is what the group has used for the stage, Recent and Threads what group and
	// threads have of late, Spent what the group has since the last page.
	Group   units.Work `json:"group,omitzero"`
	Recent  units.Work `json:"recent,omitzero"`
	Threads units.Work `json:"threads,omitzero"`
	Spent   units.Work `json:"spent,omitzero"`
	// Found says that child processes do the work, and the rest counts.
	Found bool `json:"found,omitzero"`
	// Ended is how many tasks had ended, Tasks are those that ran.
	Ended int        `json:"ended,omitempty"`
	Tasks []ChildCPU `json:"tasks,omitempty"`
}

// ChildCPU is what the child process of a task has used.
type ChildCPU struct {
	Partition int        `json:"partition"`
	CPU       units.Work `json:"cpu"`
}

// state allocates nothing unless child processes do the work.
func (c *children) state() ChildrenState {
	s := ChildrenState{Group: c.group, Recent: c.recent, Threads: c.threads, Spent: c.spent, Found: c.found}
	if !c.found {
		return s
	}
	s.Ended = c.stage.Finished + c.stage.Failed
	for i := range c.tasks {
		s.Tasks = append(s.Tasks, ChildCPU{c.tasks[i].Partition, c.tasks[i].CPU})
	}
	return s
}

func (c *children) restore(s ChildrenState) {
	*c = children{spent: s.Spent, group: s.Group, recent: s.Recent, threads: s.Threads, found: s.Found,
		stage: Stage{Finished: s.Ended}}
	for _, t := range s.Tasks {
		c.tasks = append(c.tasks, Task{Partition: t.Partition, CPU: t.CPU})
	}
}
