package progress

import (
	"time"

	"github.com/sparkpacer/pacer/units"
)

// StaleAfter is the age beyond which a page says nothing about its executor any
// more: a JVM at 0.05 core left gaps of up to 0.8 s (docs/spark.md, S25).
const StaleAfter = 2 * time.Second

// Snapshot is one published state of a page. Its slices are reused by Read.
type Snapshot struct {
	// At is when the page was written, on CLOCK_MONOTONIC.
	At units.Instant
	// Generation counts publications: the same number, the same state.
	Generation uint64
	// PID is the JVM's process id as it sees itself.
	PID int
	// GC is the time spent in garbage collection since the JVM's start.
	GC time.Duration
	// Heap is the heap in use.
	Heap units.Bytes
	// Running is how many tasks run; Tasks holds the first MaxTasks of them.
	Running int
	// Stages are those of most recent activity, newest first.
	Stages []Stage
	Tasks  []Task
}

// Stage is what the executor did for one stage attempt.
type Stage struct {
	ID, Attempt int
	// Finished and Failed count tasks; Weight is that of the finished ones, with
	// a mean of 1 over the stage's tasks.
	Finished, Failed int
	Weight           float64
	// What the finished tasks read, wrote and took.
	RecordsRead, RecordsWritten units.Records
	BytesRead, BytesWritten     units.Bytes
	CPU, RunTime                time.Duration
	// Running counts running tasks, with what they have read and taken so far.
	Running            int
	RunningRecordsRead units.Records
	RunningBytesRead   units.Bytes
	RunningCPU         time.Duration
	// Changed is when one of its tasks last started or ended.
	Changed units.Instant
	// Heaviest is what the heaviest task of the stage weighs that waited, wherever it
	// will run, when one was last started here; 0 when that is not known. A page
	// tells it of one stage.
	Heaviest float64
	// HeavyCPU is what the finished tasks took that weigh more than two mean ones,
	// HeavyReading how much of it until each had read its last record.
	HeavyCPU, HeavyReading time.Duration
}

// Task is a running task.
type Task struct {
	// ID is Spark's task attempt id.
	ID             int64
	Stage, Attempt int
	Partition      int
	// Weight is 1 for the mean task of the stage.
	Weight      float64
	Start       units.Instant
	CPU         time.Duration
	RecordsRead units.Records
	BytesRead   units.Bytes
}

func (s *Snapshot) decode(generation, pid uint64, slot *[slotWords]uint64) {
	s.At, s.Generation, s.PID = units.Instant(slot[slotAt]), generation, int(pid)
	s.GC, s.Heap, s.Running = time.Duration(slot[slotGC]), units.Bytes(slot[slotHeap]), int(slot[slotRunning])
	s.Stages, s.Tasks = s.Stages[:0], s.Tasks[:0]
	for i := range int(slot[slotStages]) {
		stage := decodeStage((*[stageWords]uint64)(slot[slotHeader+i*stageWords:]))
		if stage.word() == slot[slotHeaviestOf] {
			stage.Heaviest = float64(slot[slotHeaviest]) / millionths
		}
		s.Stages = append(s.Stages, stage)
	}
	for i := range int(slot[slotTasks]) {
		s.Tasks = append(s.Tasks, decodeTask((*[taskWords]uint64)(slot[slotFirstTask+i*taskWords:])))
	}
}

func decodeStage(w *[stageWords]uint64) Stage {
	return Stage{
		ID: int(w[stageID]), Attempt: int(w[stageAttempt]),
		Finished: int(w[stageFinished]), Failed: int(w[stageFailed]), Weight: float64(w[stageWeight]) / millionths,
		RecordsRead: units.Records(w[stageRecordsRead]), RecordsWritten: units.Records(w[stageRecordsWritten]),
		BytesRead: units.Bytes(w[stageBytesRead]), BytesWritten: units.Bytes(w[stageBytesWritten]),
		CPU: time.Duration(w[stageCPU]), RunTime: time.Duration(w[stageRunTime]),
		Running:            int(w[stageRunning]),
		RunningRecordsRead: units.Records(w[stageRunningRecordsRead]),
		RunningBytesRead:   units.Bytes(w[stageRunningBytesRead]),
		RunningCPU:         time.Duration(w[stageRunningCPU]),
		Changed:            units.Instant(w[stageChanged]),
		HeavyCPU:           time.Duration(w[stageHeavyCPU]),
		HeavyReading:       time.Duration(w[stageHeavyReading]),
	}
}

func decodeTask(w *[taskWords]uint64) Task {
	return Task{
		ID: int64(w[taskID]), Stage: int(w[taskStage] >> 32), Attempt: int(uint32(w[taskStage])),
		Partition: int(w[taskPartition]), Weight: float64(w[taskWeight]) / millionths,
		Start: units.Instant(w[taskStart]), CPU: time.Duration(w[taskCPU]),
		RecordsRead: units.Records(w[taskRecordsRead]), BytesRead: units.Bytes(w[taskBytesRead]),
	}
}

func (s *Snapshot) encode(slot *[slotWords]uint64) {
	*slot = [slotWords]uint64{
		slotAt: uint64(s.At), slotStages: uint64(min(len(s.Stages), MaxStages)), slotTasks: uint64(min(len(s.Tasks), MaxTasks)),
		slotRunning: uint64(s.Running), slotGC: uint64(s.GC), slotHeap: uint64(s.Heap),
	}
	for i, stage := range s.Stages[:slot[slotStages]] {
		stage.encode((*[stageWords]uint64)(slot[slotHeader+i*stageWords:]))
		if stage.Heaviest > 0 {
			slot[slotHeaviest], slot[slotHeaviestOf] = uint64(stage.Heaviest*millionths+0.5), stage.word()
		}
	}
	for i, task := range s.Tasks[:slot[slotTasks]] {
		task.encode((*[taskWords]uint64)(slot[slotFirstTask+i*taskWords:]))
	}
}

// word names the stage attempt in one word.
func (s *Stage) word() uint64 { return uint64(s.ID)<<32 | uint64(uint32(s.Attempt)) }

func (s Stage) encode(w *[stageWords]uint64) {
	*w = [stageWords]uint64{
		stageID: uint64(s.ID), stageAttempt: uint64(s.Attempt), stageFinished: uint64(s.Finished), stageFailed: uint64(s.Failed),
		stageWeight: uint64(s.Weight*millionths + 0.5), stageRecordsRead: uint64(s.RecordsRead), stageBytesRead: uint64(s.BytesRead),
		stageCPU: uint64(s.CPU), stageRunning: uint64(s.Running), stageRunningRecordsRead: uint64(s.RunningRecordsRead),
		stageRunningBytesRead: uint64(s.RunningBytesRead), stageRunningCPU: uint64(s.RunningCPU),
		stageRecordsWritten: uint64(s.RecordsWritten), stageBytesWritten: uint64(s.BytesWritten),
		stageRunTime: uint64(s.RunTime), stageChanged: uint64(s.Changed),
		stageHeavyCPU: uint64(s.HeavyCPU), stageHeavyReading: uint64(s.HeavyReading),
	}
}

func (t Task) encode(w *[taskWords]uint64) {
	*w = [taskWords]uint64{
		taskID: uint64(t.ID), taskStage: uint64(t.Stage)<<32 | uint64(uint32(t.Attempt)), taskPartition: uint64(t.Partition),
		taskWeight: uint64(t.Weight*millionths + 0.5), taskStart: uint64(t.Start), taskCPU: uint64(t.CPU),
		taskRecordsRead: uint64(t.RecordsRead), taskBytesRead: uint64(t.BytesRead),
	}
}
