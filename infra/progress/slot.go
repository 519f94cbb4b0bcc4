package progress

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// slot is one state of a page as it is published: the words of its slot, and those that stand behind both.
type slot [slotWords + heapWords]uint64

// decode makes p what s shows, in the memory of p's slices.
func (s *slot) decode(p *meter.Page, generation uint64) {
	p.At, p.Generation = units.Instant(s[slotAt]), generation
	p.Memory = s.memory()
	p.Stages, p.Tasks = p.Stages[:0], p.Tasks[:0]
	for i := range int(s[slotStages]) {
		w := (*[stageWords]uint64)(s[slotHeader+i*stageWords:])
		p.Stages = append(p.Stages, meter.Stage{
			Key:      api.StageKey{Stage: int(w[stageID]), Attempt: int(w[stageAttempt])},
			Finished: int(w[stageFinished]), Failed: int(w[stageFailed]), Weight: fromMillionths(w[stageWeight]),
			Records: records(w[stageRecords]), CPU: work(w[stageCPU]), Running: int(w[stageRunning]),
			RunningRecords: records(w[stageRunningRecords]), RunningCPU: work(w[stageRunningCPU]),
			LargeCPU: work(w[stageLargeCPU]), LargeReading: work(w[stageLargeReading]),
		})
		if of := &p.Stages[i]; word(of.Key) == s[slotHeaviestOf] {
			of.Heaviest = fromMillionths(s[slotHeaviest])
		}
	}
	for i := range int(s[slotTasks]) {
		w := (*[taskWords]uint64)(s[slotFirstTask+i*taskWords:])
		p.Tasks = append(p.Tasks, meter.Task{
			Stage:     api.StageKey{Stage: int(w[taskStage] >> 32), Attempt: int(uint32(w[taskStage]))},
			Partition: int(w[taskPartition]), Weight: fromMillionths(w[taskWeight]), CPU: work(w[taskCPU]),
			Records: records(w[taskRecords]),
		})
	}
}

// encode makes s what p shows: of its stages and tasks those that s has room for.
func (s *slot) encode(p *meter.Page) {
	stages, tasks := p.Stages[:min(len(p.Stages), MaxStages)], p.Tasks[:min(len(p.Tasks), MaxTasks)]
	*s = slot{slotAt: uint64(p.At), slotStages: uint64(len(stages)), slotTasks: uint64(len(tasks))}
	s.remember(&p.Memory)
	for i := range stages {
		from := &stages[i]
		*(*[stageWords]uint64)(s[slotHeader+i*stageWords:]) = [stageWords]uint64{
			stageID: uint64(from.Key.Stage), stageAttempt: uint64(from.Key.Attempt),
			stageFinished: uint64(from.Finished), stageFailed: uint64(from.Failed), stageWeight: toMillionths(from.Weight),
			stageRecords: uint64(from.Records), stageCPU: nanoseconds(from.CPU), stageRunning: uint64(from.Running),
			stageRunningRecords: uint64(from.RunningRecords), stageRunningCPU: nanoseconds(from.RunningCPU),
			stageLargeCPU: nanoseconds(from.LargeCPU), stageLargeReading: nanoseconds(from.LargeReading),
		}
		if from.Heaviest > 0 {
			s[slotHeaviest], s[slotHeaviestOf] = toMillionths(from.Heaviest), word(from.Key)
		}
	}
	for i := range tasks {
		from := &tasks[i]
		*(*[taskWords]uint64)(s[slotFirstTask+i*taskWords:]) = [taskWords]uint64{
			taskStage: word(from.Stage), taskPartition: uint64(from.Partition), taskWeight: toMillionths(from.Weight),
			taskCPU: nanoseconds(from.CPU), taskRecords: uint64(from.Records),
		}
	}
}

// The values of word slotMemory.
const (
	poolsMove  = 1
	poolsFixed = 2
)

func (s *slot) memory() meter.Memory {
	return meter.Memory{
		Known: s[slotMemory] != 0, Moves: s[slotMemory] == poolsMove,
		InForce: units.Bytes(s[slotInForce]), Storage: units.Bytes(s[slotStorage]), Execution: units.Bytes(s[slotExecution]),
		Owed: units.Bytes(s[slotOwed]), Acknowledged: s[slotAcknowledged],
		Spilled: units.Bytes(s[slotSpilled]), Evicted: units.Bytes(s[slotEvicted]),
		Met: int(s[slotMoves]), Moving: time.Duration(s[slotMoving]), Heap: units.Bytes(s[slotHeap]),
		Used: units.Bytes(s[slotUsed]), Collecting: time.Duration(s[slotCollected]),
	}
}

func (s *slot) remember(m *meter.Memory) {
	switch {
	case m.Moves:
		s[slotMemory] = poolsMove
	case m.Known:
		s[slotMemory] = poolsFixed
	}
	s[slotInForce], s[slotStorage], s[slotExecution] = uint64(m.InForce), uint64(m.Storage), uint64(m.Execution)
	s[slotOwed], s[slotAcknowledged] = uint64(m.Owed), m.Acknowledged
	s[slotSpilled], s[slotEvicted] = uint64(m.Spilled), uint64(m.Evicted)
	s[slotMoves], s[slotMoving], s[slotHeap] = uint64(m.Met), uint64(m.Moving), uint64(m.Heap)
	s[slotUsed], s[slotCollected] = uint64(m.Used), uint64(m.Collecting)
}

// word names a stage attempt in one word.
func word(key api.StageKey) uint64 { return uint64(key.Stage)<<32 | uint64(uint32(key.Attempt)) }

// A count of 2^63 and more comes out negative, which meter.Page.Fault refuses.
func records(word uint64) float64 { return float64(int64(word)) }

func work(word uint64) units.Work { return units.Work(time.Duration(word).Seconds()) }

func nanoseconds(w units.Work) uint64 { return uint64(float64(w)*1e9 + 0.5) }

func fromMillionths(word uint64) float64 { return float64(word) / millionths }

func toMillionths(weight float64) uint64 { return uint64(weight*millionths + 0.5) }
