package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Reader takes the files of one trace.
type Reader struct {
	files                                      []File
	terminated, failed, waiting, running, rows int
	jobs                                       map[string]*job
	instances, taskTime, instanceTime          histogram
	requested, used, memoryUsed                histogram
	machines, hours, services                  map[string]*load
}

// NewReader returns a Reader that has taken nothing.
func NewReader() *Reader {
	return &Reader{jobs: map[string]*job{}, machines: map[string]*load{}, hours: map[string]*load{},
		services: map[string]*load{}}
}

// job is how many tasks a job has, and from when to when those ran that ended well.
type job struct {
	tasks      int
	ended      bool
	start, end float64
}

// load is what a machine, an hour or a container used.
type load struct {
	n                int
	cpu, memory, max float64
}

func (l *load) add(cpu, memory float64) {
	l.n, l.cpu, l.memory, l.max = l.n+1, l.cpu+cpu, l.memory+memory, max(l.max, cpu)
}

func (l *load) means() (cpu, memory float64) { return l.cpu / float64(l.n), l.memory / float64(l.n) }

// of is the value at a key, a new one where there is none.
func of[T any](all map[string]*T, key string) *T {
	if all[key] == nil {
		all[key] = new(T)
	}
	return all[key]
}

// The words of the trace for what became of a task.
const terminatedWord, failedWord, waitingWord, runningWord = "Terminated", "Failed", "Waiting", "Running"

// task is a row of batch_task: created, ended, job, task, instances, status, CPU and memory requested for each.
func (r *Reader) task(x *row) {
	start, end, name, instances, status := x.number(0), x.number(1), x.text(2), x.number(4), x.text(5)
	cpu, requested := x.optional(6) // A task that waits has none.
	if x.fault == "" {
		r.ranTask(x, name, status, start, end, instances)
	}
	if x.fault == "" && requested {
		r.requested.add(cpu)
	}
}

func (r *Reader) ranTask(x *row, name, status string, start, end, instances float64) {
	count := map[string]*int{terminatedWord: &r.terminated, failedWord: &r.failed, waitingWord: &r.waiting,
		runningWord: &r.running}[status]
	if count == nil {
		x.fault = fmt.Sprintf("column 6 is %q, want one of %s, %s, %s, %s", status, terminatedWord, failedWord,
			waitingWord, runningWord)
		return
	}
	*count++
	j := of(r.jobs, name)
	j.tasks++
	if status != terminatedWord {
		return
	}
	r.instances.add(instances)
	r.taskTime.add(end - start)
	if !j.ended {
		j.start, j.end, j.ended = start, end, true
	}
	j.start, j.end = min(j.start, start), max(j.end, end)
}

// instance is a row of batch_instance: started, ended, job, task, machine, status, its number, of how many, and
// the most and the mean of the CPU and the memory that it used.
func (r *Reader) instance(x *row) {
	start := x.number(0)
	end, ended := x.optional(1)
	cpu, hasCPU := x.optional(9)
	memory, hasMemory := x.optional(11)
	if x.fault != "" {
		return
	}
	r.rows++
	if ended && x.text(5) == terminatedWord && start > 0 && end >= start {
		r.instanceTime.add(end - start)
	}
	if hasCPU {
		r.used.add(cpu)
	}
	if hasMemory {
		r.memoryUsed.add(memory)
	}
}

// containerEvent is a row of container_event: at, what, instance, machine, CPU and memory requested.
func (r *Reader) containerEvent(x *row) {
	x.number(4)
	if x.number(0); x.fault == "" {
		of(r.services, x.text(2))
	}
}

// containerUsage is a row of container_usage: at, instance, per cent of its CPU and of its memory.
func (r *Reader) containerUsage(x *row) {
	x.number(0)
	if cpu, memory := x.number(2), x.number(3); x.fault == "" {
		of(r.services, x.text(1)).add(cpu, memory)
	}
}

// serverEvent is a row of server_event: at, machine, what.
func (r *Reader) serverEvent(x *row) {
	if x.number(0); x.fault == "" {
		of(r.machines, x.text(1))
	}
}

// serverUsage is a row of server_usage: at, machine, per cent of its CPU and of its memory.
func (r *Reader) serverUsage(x *row) {
	if at, cpu, memory := x.number(0), x.number(2), x.number(3); x.fault == "" {
		of(r.machines, x.text(1)).add(cpu, memory)
		of(r.hours, hour(at)).add(cpu, memory)
	}
}

// hour names the hour of a time in seconds from the start.
func hour(at float64) string { return fmt.Sprintf("hour %d", 1+int(math.Floor(at/3600))) }

// Summary sums up what was taken.
func (r *Reader) Summary() *Summary {
	s := &Summary{Files: r.files, Batch: r.batch(), Machines: len(r.machines), Space: spread(r.machines),
		Time: spread(r.hours), Proportion: proportion(r.machines)}
	if n := len(r.services); n > 0 {
		var mean, most, memory histogram
		for _, l := range r.services {
			if l.n > 0 {
				cpu, of := l.means()
				mean.add(cpu)
				most.add(l.max)
				memory.add(of)
			}
		}
		s.Services = &Services{Count: n, CPUMean: mean.sums(), CPUMost: most.sums(), Memory: memory.sums()}
		if s.Batch != nil {
			s.Services.PerBatchInstance = float64(s.Batch.TotalInstances) / float64(n)
		}
	}
	return s
}

// shortJob is a job's duration that the source counts by, in seconds: 0.19 hours.
const shortJob = 0.19 * 3600

func (r *Reader) batch() *Batch {
	if len(r.jobs) == 0 && r.rows == 0 {
		return nil
	}
	var tasks, times histogram
	short := 0
	for _, j := range r.jobs {
		tasks.add(float64(j.tasks))
		if j.ended {
			if times.add(j.end - j.start); j.end-j.start <= shortJob {
				short++
			}
		}
	}
	b := &Batch{Jobs: len(r.jobs), Tasks: tasks.total(), Terminated: r.terminated, Failed: r.failed, Waiting: r.waiting,
		Running: r.running, TasksPerJob: tasks.sums(), Instances: r.instances.sums(), TaskDuration: r.taskTime.sums(),
		JobDuration: times.sums(), TotalInstances: r.rows, InstanceDuration: r.instanceTime.sums(),
		Requested: r.requested.sums(), Used: r.used.sums(), MemoryUsed: r.memoryUsed.sums()}
	if times.n > 0 {
		b.Short = 100 * float64(short) / float64(times.n)
	}
	return b
}

// spread is how the means of machines or hours are spread; nil without any.
func spread(all map[string]*load) *Use {
	var cpus, memories histogram
	greatest, most := "", math.Inf(-1)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].n == 0 {
			continue
		}
		cpu, memory := all[name].means()
		cpus.add(cpu)
		memories.add(memory)
		if cpu > most {
			greatest, most = name, cpu
		}
	}
	if cpus.n == 0 {
		return nil
	}
	return &Use{CPU: cpus.sums(), Memory: memories.sums(), Greatest: greatest}
}

func proportion(machines map[string]*load) *Proportion {
	var cpus, memories []float64
	var ratio histogram
	for _, name := range slices.Sorted(maps.Keys(machines)) {
		if l := machines[name]; l.n > 0 {
			cpu, memory := l.means()
			cpus, memories = append(cpus, cpu), append(memories, memory)
			if memory > 0 {
				ratio.add(cpu / memory)
			}
		}
	}
	if len(cpus) < 2 {
		return nil
	}
	p := &Proportion{Correlation: stat.Correlation(cpus, memories, nil), Ratio: ratio.sums()}
	if math.IsNaN(p.Correlation) {
		p.Correlation = 0
	}
	return p
}

// total is the sum of whole numbers.
func (h *histogram) total() int { return int(math.Round(h.sum)) }
