package meter

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Page is what an executor's progress page shows: package progress reads it.
type Page struct {
	// At is when the JVM wrote it, on the clock of the reader's now.
	At units.Instant
	// Generation grows with each publication; 0 means no data.
	Generation uint64
	Stages     []Stage
	// Tasks are running tasks, not necessarily all.
	Tasks []Task
	// Memory is what is told of memory.
	Memory Memory `json:",omitzero"`
}

// Memory is what a page tells of its JVM's memory.
type Memory struct {
	// Known says that the JVM has looked at its off-heap pools, Moves that it resizes them
	// as the node wants; where it does not, nothing else is told of them.
	Known, Moves bool
	// InForce is the pools' size, of which Storage and Execution are in use.
	InForce, Storage, Execution units.Bytes
	// Owed is by how much InForce is more than what was wanted last.
	Owed units.Bytes
	// Acknowledged is the sequence of the newest wish that the JVM goes by.
	Acknowledged uint64
	// Spilled is what tasks have spilled, Evicted what blocks had to go for wishes, Met how
	// many wishes were met and Moving how long that took; since its start.
	Spilled, Evicted units.Bytes
	Met              int
	Moving           time.Duration
	// Heap is what the JVM has of its heap, Used what of it was in use after the newest collection, 0 where that is not
	// known, and Collecting how long its collections have taken.
	Heap       units.Bytes
	Used       units.Bytes   `json:",omitzero"`
	Collecting time.Duration `json:",omitzero"`
}

// fault says what makes m impossible.
func (m *Memory) fault() error {
	sizes := [...]units.Bytes{m.InForce, m.Storage, m.Execution, m.Owed, m.Spilled, m.Evicted, m.Heap, m.Used}
	if slices.Min(sizes[:]) < 0 || slices.Max(sizes[:]) > api.MostMoved || m.Met < 0 || m.Met > api.MostCount ||
		m.Moving < 0 || m.Collecting < 0 {
		return fmt.Errorf("its page says of memory: %+v", *m)
	}
	return nil
}

// Stage is one stage attempt on a page.
type Stage struct {
	Key      api.StageKey
	Finished int
	Failed   int
	Running  int
	// Weight, Records and CPU are those of the finished tasks.
	Weight  float64
	Records float64
	CPU     units.Work
	// RunningRecords and RunningCPU are those of the running tasks.
	RunningRecords float64
	RunningCPU     units.Work
	// Heaviest is what the heaviest waiting task of the stage weighs, wherever it
	// will run, as the driver told with the newest task; 0 when that is not known.
	Heaviest float64
	// LargeCPU is the CPU time of the finished tasks that weigh more than Large or use more than
	// Long, LargeReading the part of it until each had read its last record.
	LargeCPU     units.Work `json:",omitzero"`
	LargeReading units.Work `json:",omitzero"`
}

// Task is one running task on a page.
type Task struct {
	Stage     api.StageKey
	Partition int
	Weight    float64
	CPU       units.Work
	Records   float64
}

// Fault says what makes p impossible. These are numbers that are negative, none, or more than a status says of a stage
// (api.NodeStatus). A time is impossible, too, that has not come yet (by more than ahead, for a JVM may write while the
// shell reads). nil: it can be used.
func (p *Page) Fault(now units.Instant, ahead time.Duration) error {
	if early := p.At.Sub(now); early > ahead {
		return fmt.Errorf("its page is from %v ahead of now", early)
	}
	if err := p.Memory.fault(); err != nil {
		return err
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		if !known(s.Key) || !counts(s.Finished, s.Failed, s.Running) || !amounts(s.Weight, s.Records, float64(s.CPU)) ||
			!amounts(s.RunningRecords, float64(s.RunningCPU), s.Heaviest) ||
			!amounts(float64(s.LargeCPU), float64(s.LargeReading), 0) {
			return fmt.Errorf(
				"its page says of stage %d.%d: finished %d, failed %d, running %d, weight %v, records %v and %v, CPU %v and %v "+
					"s, of large tasks %v and %v s, heaviest %v",
				s.Key.Stage, s.Key.Attempt, s.Finished, s.Failed, s.Running, s.Weight, s.Records, s.RunningRecords, float64(s.CPU),
				float64(s.RunningCPU),
				float64(s.LargeCPU), float64(s.LargeReading), s.Heaviest)
		}
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if !known(t.Stage) || !amounts(t.Weight, float64(t.CPU), t.Records) {
			return fmt.Errorf("its page says of task %d of stage %d.%d: weight %v, CPU %v s, records %v", t.Partition,
				t.Stage.Stage, t.Stage.Attempt,
				t.Weight, float64(t.CPU), t.Records)
		}
	}
	return nil
}

// amounts reports whether all three are amounts.
func amounts(a, b, c float64) bool { return min(a, b, c) >= 0 && max(a, b, c) <= api.MostAmount }

// counts reports whether all three are counts.
func counts(a, b, c int) bool { return min(a, b, c) >= 0 && max(a, b, c) <= api.MostCount }

// known reports whether a stage may have that name.
func known(k api.StageKey) bool { return counts(k.Stage, k.Attempt, 0) }
