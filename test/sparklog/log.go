package sparklog

import (
	"os"
	"path/filepath"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
)

// Log is the event log of a run.
type Log struct {
	eventlog.Application
	Tasks []eventlog.Task
	// Added and Removed are the executors in order; what went once the application had ended is not among the latter.
	Added, Removed []api.ExecutorID
}

// Flags are the flags of spark-submit that make Read's input in dir.
func Flags(dir string) []string {
	return []string{"--conf", "spark.ui.enabled=false",
		"--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.dir=file://" + dir,
		"--conf", "spark.eventLog.compress=false", "--conf", "spark.eventLog.rolling.enabled=false"}
}

// Read reads the event log of an application, also of one that runs or was killed, which Flags have made in dir.
func Read(dir string, app api.AppID) (Log, error) {
	path := filepath.Join(dir, string(app))
	if _, err := os.Stat(path); err != nil {
		path += ".inprogress"
	}
	sources, err := eventlog.Open(path)
	if err != nil {
		return Log{}, err
	}
	var log Log
	log.Application, err = eventlog.Read(sources, func(t *eventlog.Task) { log.Tasks = append(log.Tasks, *t) })
	for _, x := range log.Executors {
		log.Added = append(log.Added, x.ID)
		if x.Removed > 0 {
			log.Removed = append(log.Removed, x.ID)
		}
	}
	return log, err
}

// Executor is the one of that id, an empty one where there is none.
func (l Log) Executor(id api.ExecutorID) eventlog.Executor {
	for _, x := range l.Executors {
		if x.ID == id {
			return x
		}
	}
	return eventlog.Executor{}
}

// Stage is the stage of that id, an empty one where there is none.
func (l Log) Stage(id int) eventlog.Stage {
	for _, s := range l.Stages {
		if s.ID == id {
			return s
		}
	}
	return eventlog.Stage{}
}

// WithExecutor says that an attempt of a task was lost because its executor, or the one that it read from, went, and
// not by a fault of its own. "Resubmitted" is Spark's word for a task that had ended and whose output went with its
// executor.
func WithExecutor(t eventlog.Task) bool {
	return t.Reason == "FetchFailed" || t.Reason == "ExecutorLostFailure" || t.Reason == "Resubmitted"
}

// Span is when a stage's tasks ran.
func (l Log) Span(stage int) (first, last int64) {
	for _, task := range l.Tasks {
		if task.Stage == stage {
			if first == 0 || task.Launch < first {
				first = task.Launch
			}
			last = max(last, task.Finish)
		}
	}
	return first, last
}

// Shuffled are the shuffle bytes that all tasks read from other hosts, and from their own.
func (l Log) Shuffled() (remote, local int64) {
	for _, task := range l.Tasks {
		remote += task.RemoteBytes
		local += task.Fetched.Bytes - task.RemoteBytes
	}
	return remote, local
}

// Bounds are the first task's launch and the last one's end.
func (l Log) Bounds() (first, last int64) {
	for _, s := range l.Stages {
		from, to := l.Span(s.ID)
		if from > 0 && (first == 0 || from < first) {
			first = from
		}
		last = max(last, to)
	}
	return first, last
}

// Wall is the time between Bounds in seconds.
func (l Log) Wall() float64 {
	first, last := l.Bounds()
	return float64(last-first) / 1000
}
