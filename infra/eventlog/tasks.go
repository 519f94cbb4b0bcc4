package eventlog

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// running is an attempt that has not ended.
type running struct {
	// done are the tasks that have ended well, by index.
	done []uint64
	// kind is what the tasks are: "ShuffleMapTask", "ResultTask"; "" before one has ended.
	kind string
}

// mostTasks is of how many tasks of an attempt it is known which have ended.
const mostTasks = 1 << 26

// first reports whether the task of an index, of so many, ends well for the first time.
func (a *running) first(index, tasks int) bool {
	if index < 0 || index >= min(tasks, mostTasks) {
		return false
	}
	at, bit := index/64, uint64(1)<<(index%64)
	if at >= len(a.done) {
		a.done = append(a.done, make([]uint64, at+1-len(a.done))...)
	}
	was := a.done[at]&bit != 0
	a.done[at] |= bit
	return !was
}

func taskStart(r *reader, s *scan) {
	var of api.StageKey
	for key := range s.members {
		switch string(key) {
		case "Stage ID":
			of.Stage = int(s.number())
		case "Stage Attempt ID":
			of.Attempt = int(s.number())
		}
	}
	if a := r.stage(of.Stage).attempt(of.Attempt); a != nil {
		a.Open++
	}
}

func taskEnd(r *reader, s *scan) {
	r.task = Task{}
	t, kind := &r.task, ""
	for key := range s.members {
		switch string(key) {
		case "Stage ID":
			t.Stage = int(s.number())
		case "Stage Attempt ID":
			t.Attempt = int(s.number())
		case "Task Type":
			kind = r.names.of(s.quoted())
		case "Task End Reason":
			for key := range s.members {
				if string(key) == "Reason" {
					t.Reason = r.names.of(s.quoted())
				}
			}
		case "Task Info":
			r.taskInfo(s, t)
		case "Task Metrics":
			s.metrics(&t.Metrics)
		}
	}
	if s.bad {
		return
	}
	if t.OK = t.OK && t.Reason == "Success"; t.Reason == "FetchFailed" {
		r.losses++
	}
	r.add(t, kind)
	if r.each != nil {
		r.each(t)
	}
}

// add adds a task to its attempt.
func (r *reader) add(t *Task, kind string) {
	a := r.stage(t.Stage).attempt(t.Attempt)
	if a == nil {
		return
	}
	a.Open = max(0, a.Open-1)
	run := r.running[t.StageKey]
	if run != nil {
		run.kind = kind
	}
	if t.OK && run != nil && run.first(t.Index, a.Tasks) {
		a.Done.add(t, a.Tasks)
		return
	}
	if a.Reasons == nil {
		a.Reasons = map[string]int{}
	}
	a.Reasons[t.Reason]++
	a.Lost.add(t, a.Tasks)
}

func (r *reader) taskInfo(s *scan, t *Task) {
	t.OK = true
	for key := range s.members {
		switch string(key) {
		case "Index":
			t.Index = int(s.number())
		case "Launch Time":
			t.Launch = s.number()
		case "Finish Time":
			t.Finish = r.moment(s.number())
		case "Executor ID":
			t.Executor = api.ExecutorID(r.names.of(s.quoted()))
		case "Failed", "Killed":
			t.OK = !s.truth() && t.OK
		}
	}
}

// How many of Spark's units a second has.
const milli, nano = 1e3, 1e9

func (s *scan) seconds(unit float64) units.Seconds { return units.Seconds(float64(s.number()) / unit) }

func (s *scan) metrics(m *Metrics) {
	for key := range s.members {
		switch string(key) {
		case "Executor CPU Time", "Executor Deserialize CPU Time":
			m.CPU += s.seconds(nano)
		case "Executor Run Time":
			m.Run = s.seconds(milli)
		case "JVM GC Time":
			m.GC = s.seconds(milli)
		case "Disk Bytes Spilled":
			m.SpilledDisk = s.number()
		case "Peak Execution Memory":
			m.PeakMemory = s.number()
		case "Shuffle Read Metrics":
			s.shuffleRead(m)
		case "Shuffle Write Metrics":
			s.shuffleWritten(m)
		case "Input Metrics":
			m.Input = s.flow("Bytes Read", "Records Read")
		case "Output Metrics":
			m.Output = s.flow("Bytes Written", "Records Written")
		}
	}
}

func (s *scan) shuffleRead(m *Metrics) {
	for key := range s.members {
		switch string(key) {
		case "Fetch Wait Time":
			m.FetchWait = s.seconds(milli)
		case "Remote Bytes Read":
			m.RemoteBytes = s.number()
			m.Fetched.Bytes += m.RemoteBytes
		case "Local Bytes Read":
			m.Fetched.Bytes += s.number()
		case "Total Records Read":
			m.Fetched.Records = s.number()
		}
	}
}

func (s *scan) shuffleWritten(m *Metrics) {
	for key := range s.members {
		switch string(key) {
		case "Shuffle Bytes Written":
			m.Shuffled.Bytes = s.number()
		case "Shuffle Write Time":
			m.WriteTime = s.seconds(nano)
		case "Shuffle Records Written":
			m.Shuffled.Records = s.number()
		}
	}
}

// flow has the numbers of those names.
func (s *scan) flow(bytes, records string) (f Flow) {
	for key := range s.members {
		switch string(key) {
		case bytes:
			f.Bytes = s.number()
		case records:
			f.Records = s.number()
		}
	}
	return f
}

// add adds a task of an attempt that has so many.
func (t *Totals) add(task *Task, tasks int) {
	if t.Tasks == 0 || task.Launch < t.First {
		t.First = task.Launch
	}
	t.Last = max(t.Last, task.Finish)
	t.Tasks++
	held := units.Seconds(float64(max(0, task.Finish-task.Launch)) / milli)
	t.LongestCPU, t.LongestRun = max(t.LongestCPU, task.CPU), max(t.LongestRun, task.Run)
	size := task.Read().Bytes
	t.MostBytes = max(t.MostBytes, size)
	t.BySize.add(float64(size), float64(task.CPU))
	if 2*t.Tasks > tasks {
		t.Late.add(float64(size), float64(task.CPU+held)/2)
	}
	t.Metrics.add(&task.Metrics)
}

func (l *Line) add(x, y float64) {
	l.N, l.X, l.Y, l.XX, l.XY = l.N+1, l.X+x, l.Y+y, l.XX+x*x, l.XY+x*y
}

func (m *Metrics) add(o *Metrics) {
	m.CPU += o.CPU
	m.Run += o.Run
	m.GC += o.GC
	m.FetchWait += o.FetchWait
	m.WriteTime += o.WriteTime
	m.SpilledDisk += o.SpilledDisk
	m.PeakMemory = max(m.PeakMemory, o.PeakMemory)
	m.Input, m.Fetched = m.Input.plus(o.Input), m.Fetched.plus(o.Fetched)
	m.RemoteBytes += o.RemoteBytes
	m.Output, m.Shuffled = m.Output.plus(o.Output), m.Shuffled.plus(o.Shuffled)
}
