package eventlog

import (
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Application is what a log says of its application.
type Application struct {
	// Spark is the version of the driver's Spark.
	Spark string
	// ID, Attempt, Name and User are Spark's; "" where the log has none.
	ID, Attempt, Name, User string
	// Start is when the SparkContext began, End when it was stopped; 0 for a log that is cut before.
	Start, End int64
	// Failed says that it ended with an exit code other than 0; logs before Spark 4 have none.
	Failed bool
	// Command is the driver's, without the JVM's own options; "" where the log has none.
	Command  string
	Settings Settings
	// Executors are in order of their beginning, the driver of a local run among them.
	Executors []Executor
	Jobs      []Job
	// Stages are in order of their first submission. A skipped stage is none of them.
	Stages  []Stage
	Queries []Query
	// Streaming says that some job is of a streaming query.
	Streaming bool
	// Lines is how many the log had, Unknown how many of these were events of a name that no known Spark has.
	Lines   int
	Unknown map[string]int
	// Cut says where and how the log ends before the application does, "" for a whole one.
	Cut string
}

// Settings are the driver's Spark properties, as Spark and its cluster manager have completed them. Spark
// has left out what is secret.
type Settings map[string]string

// Number is the setting of that name, otherwise what it is by default.
func (s Settings) Number(name string, otherwise float64) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(s[name]), 64)
	if err != nil {
		return otherwise
	}
	return n
}

// Moment is the setting of that name as Unix milliseconds, 0 for none.
func (s Settings) Moment(name string) int64 {
	at, err := strconv.ParseInt(s[name], 10, 64)
	if err != nil {
		return 0
	}
	return at
}

// Executor is one that the log has seen come.
type Executor struct {
	ID    api.ExecutorID
	Cores int
	// Added and Removed are when it came and went; Removed is 0 for one that stayed to the application's end.
	Added, Removed int64
}

// Job is a Spark job.
type Job struct {
	ID int
	// Submitted and Ended are when; Ended is 0 for one that was running at the log's end.
	Submitted, Ended int64
	Failed           bool
	// Stages are all that it needed, skipped ones included.
	Stages []int
	// Query is the number of its SQL query, NoQuery for none.
	Query int64
	// Pool is the fair scheduler's pool, "" for none.
	Pool string
}

// NoQuery is the number of the query of what belongs to none.
const NoQuery = -1

// Query is a SQL query.
type Query struct {
	ID         int64
	Start, End int64
	// Shape is a hash over the operators of its plan before adaptive execution (api.QueryStage); "" where the
	// plan has too many nodes.
	Shape string
	// Nth is how many queries of that shape had their first stages before its own; -1 where it had no stage.
	Nth int
	// Failed says that it ended with an error.
	Failed bool
}

// Stage is a stage that was submitted.
type Stage struct {
	ID   int
	Name string
	// Signature and Lineage are those of api.StageReady.
	Signature, Lineage string
	// Map says that it writes a shuffle; else it computes the result of a job.
	Map bool
	// Python says that Python workers compute a part of it.
	Python bool
	// Job is the first job that needed it, Query and Pool are that job's.
	Job   int
	Query int64
	Pool  string
	// Parents are the stages that wrote what it reads, ascending.
	Parents []int
	// Partitions is how many its last RDD has: a later attempt may have fewer tasks.
	Partitions int
	// Repeats is the earlier stage whose lost output it writes again, nil for none.
	Repeats *int
	// Attempts are in their order.
	Attempts []Attempt
}

// Complete reports whether an attempt of it has ended well.
func (s *Stage) Complete() bool {
	for i := range s.Attempts {
		if a := &s.Attempts[i]; a.Completed > 0 && a.Failed == "" {
			return true
		}
	}
	return false
}

// Attempt is an attempt of a stage.
type Attempt struct {
	Attempt int
	// Tasks is how many it was to run.
	Tasks int
	// Submitted and Completed are when; Completed is 0 for one that was running at the log's end.
	Submitted, Completed int64
	// Failed is why it failed, "" where it did not.
	Failed string
	// Done are the sums of the tasks that ended well, Lost of those that failed or were killed, and of copies.
	Done, Lost Totals
	// Reasons counts why tasks were lost by Spark's words ("FetchFailed", "TaskKilled" ...).
	Reasons map[string]int
	// Open is how many tasks ran at the log's end.
	Open int
}

// Totals are sums over tasks.
type Totals struct {
	// Tasks is how many they are.
	Tasks int
	// Metrics are their sums; of PeakMemory the most of one.
	Metrics
	// LongestCPU, LongestRun and MostBytes are the most of one task: of CPU time, of run time, of bytes read.
	LongestCPU, LongestRun units.Seconds
	MostBytes              int64
	// First and Last are the first launch and the last finish.
	First, Last int64
	// BySize are sums of CPU time over bytes read. Late are those of the tasks that ended in the later half of their
	// attempt, of times midway between their CPU time and that for which they held their slots.
	BySize, Late Line
}

// Line has the sums from which a line of least squares through times of tasks over their sizes follows.
type Line struct {
	N, X, Y, XX, XY float64
}

// Metrics are what Spark measures of a task.
type Metrics struct {
	// CPU is the time of the task's thread, deserializing included, Run the time for which it ran.
	CPU, Run units.Seconds
	// GC is the collector's time meanwhile. FetchWait and WriteTime are waits for shuffled data and for
	// the disk.
	GC, FetchWait, WriteTime units.Seconds
	// SpilledDisk is what did not fit, on the disk, PeakMemory the most execution memory at a time.
	SpilledDisk, PeakMemory int64
	// Input and Fetched are what it read: from outside, and of shuffles. RemoteBytes are those of the latter
	// that came from other hosts.
	Input, Fetched Flow
	RemoteBytes    int64
	// Output and Shuffled are what it wrote: to outside, and for shuffles.
	Output, Shuffled Flow
}

// Flow is data that was read or written.
type Flow struct {
	Bytes, Records int64
}

// Read is all that it read.
func (m *Metrics) Read() Flow { return m.Input.plus(m.Fetched) }

// Written is all that it wrote.
func (m *Metrics) Written() Flow { return m.Output.plus(m.Shuffled) }

func (f Flow) plus(o Flow) Flow { return Flow{f.Bytes + o.Bytes, f.Records + o.Records} }

// Task is a task that has ended.
type Task struct {
	api.StageKey
	// Index is the same for all attempts of a task of its stage's attempt.
	Index int
	// Executor is where it ran.
	Executor api.ExecutorID
	// Launch and Finish are when.
	Launch, Finish int64
	// OK says that it ended well; Reason is Spark's word for how it ended: "Success", "FetchFailed" ...
	OK     bool
	Reason string
	Metrics
}
