package sparkrun

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sparkpacer/pacer/api"
)

// Task is a finished task as Spark's event log tells it.
type Task struct {
	api.StageKey
	Executor api.ExecutorID
	OK       bool
	// Reason is Spark's word for why it ended: "Success", "FetchFailed" ...
	Reason string
	// Launch and Finish are Unix milliseconds.
	Launch, Finish int64
	// CPU is its CPU time in seconds.
	CPU float64
	// Remote and Local are the shuffle bytes that it read from other hosts and
	// from this one, whichever executor wrote them.
	Remote, Local int64
}

// Log is what the tests and benchmarks read from an event log.
type Log struct {
	// Spark is the driver's version.
	Spark string
	// Properties are the driver's, as Spark and its cluster manager have completed them.
	Properties map[string]string
	Tasks      []Task
	// Parents are the stages that a stage reads from.
	Parents map[int][]int
	// Added and Removed are the executors in order. An executor that goes once the application has ended, when Pacer stops
	// its executors while Spark closes the log, is not among them.
	Added, Removed []api.ExecutorID
	// AddedAt and RemovedAt are when each of these was, in Unix milliseconds.
	AddedAt, RemovedAt map[api.ExecutorID]int64
	// End is when the SparkContext was stopped, in Unix milliseconds; 0 when it was
	// not.
	End int64
}

// EventLogFlags are the flags of spark-submit that make ReadLog's input in dir.
func EventLogFlags(dir string) []string {
	return []string{"--conf", "spark.ui.enabled=false",
		"--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.dir=file://" + dir,
		"--conf", "spark.eventLog.compress=false", "--conf", "spark.eventLog.rolling.enabled=false"}
}

// ReadLog reads the event log of an application, also of one that runs or was killed,
// which EventLogFlags have made in dir.
func ReadLog(dir string, app api.AppID) (Log, error) {
	path := filepath.Join(dir, string(app))
	if _, err := os.Stat(path); err != nil {
		path += ".inprogress"
	}
	f, err := os.Open(path)
	if err != nil {
		return Log{}, fmt.Errorf("read an event log: %w", err)
	}
	defer f.Close()
	log := Log{Parents: map[int][]int{}, AddedAt: map[api.ExecutorID]int64{}, RemovedAt: map[api.ExecutorID]int64{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if err := log.add(lines.Bytes()); err != nil {
			return Log{}, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Log{}, fmt.Errorf("read %s: %w", path, err)
	}
	return log, nil
}

func (l *Log) add(line []byte) error {
	var e struct {
		Event      string
		Spark      string            `json:"Spark Version"`
		Time       int64             `json:"Timestamp"`
		Properties map[string]string `json:"Spark Properties"`
		StageID    int               `json:"Stage ID"`
		Attempt    int               `json:"Stage Attempt ID"`
		Executor   api.ExecutorID    `json:"Executor ID"`
		Task       struct {
			Executor api.ExecutorID `json:"Executor ID"`
			Launch   int64          `json:"Launch Time"`
			Finish   int64          `json:"Finish Time"`
			Failed   bool
			Killed   bool
		} `json:"Task Info"`
		End struct {
			Reason string
		} `json:"Task End Reason"`
		Metrics struct {
			CPU     int64 `json:"Executor CPU Time"`
			Shuffle struct {
				Remote int64 `json:"Remote Bytes Read"`
				Local  int64 `json:"Local Bytes Read"`
			} `json:"Shuffle Read Metrics"`
		} `json:"Task Metrics"`
		Stage struct {
			ID      int   `json:"Stage ID"`
			Parents []int `json:"Parent IDs"`
		} `json:"Stage Info"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	switch e.Event {
	case "SparkListenerLogStart":
		l.Spark = e.Spark
	case "SparkListenerEnvironmentUpdate":
		l.Properties = e.Properties
	case "SparkListenerTaskEnd":
		l.Tasks = append(l.Tasks, Task{StageKey: api.StageKey{Stage: e.StageID, Attempt: e.Attempt},
			Executor: e.Task.Executor,
			OK:       !e.Task.Failed && !e.Task.Killed, Reason: e.End.Reason, Launch: e.Task.Launch, Finish: e.Task.Finish,
			CPU:    float64(e.Metrics.CPU) / 1e9,
			Remote: e.Metrics.Shuffle.Remote, Local: e.Metrics.Shuffle.Local})
	case "SparkListenerStageSubmitted":
		l.Parents[e.Stage.ID] = e.Stage.Parents
	case "SparkListenerExecutorAdded":
		l.Added = append(l.Added, e.Executor)
		l.AddedAt[e.Executor] = e.Time
	case "SparkListenerExecutorRemoved":
		if l.End == 0 {
			l.Removed = append(l.Removed, e.Executor)
			l.RemovedAt[e.Executor] = e.Time
		}
	case "SparkListenerApplicationEnd":
		l.End = e.Time
	}
	return nil
}

// Span is when a stage's tasks ran, in Unix milliseconds.
func (l Log) Span(stage int) (first, last int64) {
	for _, task := range l.Tasks {
		if task.Stage != stage {
			continue
		}
		if first == 0 || task.Launch < first {
			first = task.Launch
		}
		last = max(last, task.Finish)
	}
	return first, last
}

// Shuffled are the shuffle bytes that all tasks read from other hosts, and from
// their own.
func (l Log) Shuffled() (remote, local int64) {
	for _, task := range l.Tasks {
		remote += task.Remote
		local += task.Local
	}
	return remote, local
}

// Bounds are the first task's launch and the last one's end, in Unix
// milliseconds.
func (l Log) Bounds() (first, last int64) {
	for stage := range l.Parents {
		from, to := l.Span(stage)
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
