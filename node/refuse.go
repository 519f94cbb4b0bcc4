package node

import (
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// fault says what makes p impossible: numbers that are negative, none or infinite,
// or a time that has not come yet (by more than ahead, for a JVM may write while
// the shell reads). nil: it can be used.
func (p *Page) fault(now units.Instant, ahead time.Duration) error {
	if early := p.At.Sub(now); early > ahead {
		return fmt.Errorf("its page is from %v ahead of now", early)
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		counts := min(s.Finished, s.Failed, s.Running)
		if counts < 0 || !amounts(s.Weight, s.Records, float64(s.CPU)) || !amounts(s.RunningRecords, float64(s.RunningCPU), s.Heaviest) ||
			!amounts(float64(s.HeavyCPU), float64(s.HeavyReading), 0) {
			return fmt.Errorf("its page says of stage %d.%d: finished %d, failed %d, running %d, weight %v, records %v and %v, CPU %v and %v s, of heavy tasks %v and %v s, heaviest %v",
				s.Key.Stage, s.Key.Attempt, s.Finished, s.Failed, s.Running, s.Weight, s.Records, s.RunningRecords, float64(s.CPU), float64(s.RunningCPU),
				float64(s.HeavyCPU), float64(s.HeavyReading), s.Heaviest)
		}
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if !amounts(t.Weight, float64(t.CPU), t.Records) {
			return fmt.Errorf("its page says of task %d of stage %d.%d: weight %v, CPU %v s, records %v", t.Partition, t.Stage.Stage, t.Stage.Attempt,
				t.Weight, float64(t.CPU), t.Records)
		}
	}
	return nil
}

// amounts reports whether all three are finite numbers >= 0; of infinities and
// NaN, and of nothing else, the difference with itself is not 0.
func amounts(a, b, c float64) bool {
	sum := a + b + c
	return a >= 0 && b >= 0 && c >= 0 && sum-sum == 0
}

// usageFault says what makes a reading of x's group impossible, nil if it can be
// used. A counter that has fallen belongs to another group than the one before.
func (x *executor) usageFault(s *ExecutorSample) error {
	cpu, quota := float64(s.CPU), float64(s.Quota)
	switch {
	case !(cpu >= 0) || math.IsInf(cpu, 1):
		return fmt.Errorf("its CPU time is %v s", cpu)
	case !(quota >= 0):
		return fmt.Errorf("its quota is %v cores", quota)
	case x.cpuKnown && s.CPU < x.cpu:
		return fmt.Errorf("its CPU time fell from %v to %v s", float64(x.cpu), cpu)
	}
	return nil
}

// refuse counts a sample that cannot be used and tells the first of a row.
func (e *Engine) refuse(x *executor, err error) {
	e.counters.SamplesRefused++
	if !x.refusing {
		x.refusing = true
		e.event(Event{Kind: EventSampleRefused, Key: x.key, Detail: err.Error()})
	}
	x.good = false
}
