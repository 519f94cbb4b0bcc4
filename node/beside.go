package node

import (
	"sync"

	"github.com/sparkpacer/pacer/api"
)

// beside carries out, on goroutines of its own, what a tick has to say and to
// remember and nothing waits for: with hundreds of executors the encoding of a
// status takes as long as the rest of the tick, and a save several times that.
// What is handed over is copied, for the engine fills its own again. Of each kind
// one is under way at a time, in the order given; the next waits for it. It is for
// the loop's goroutine.
type beside struct {
	saving, reporting sync.WaitGroup
	state             State
	status            api.NodeStatus
	samples           []api.StageSample
}

// save hands s to write.
func (b *beside) save(s *State, write func(*State)) {
	b.saving.Wait()
	mine := &b.state
	deadlines, executors := append(mine.Deadlines[:0], s.Deadlines...), append(mine.Executors[:0], s.Executors...)
	stages, controls := append(mine.Stages[:0], s.Stages...), append(mine.Controls[:0], s.Controls...)
	*mine = *s // The Plan is never changed.
	mine.Deadlines, mine.Executors, mine.Stages, mine.Controls = deadlines, executors, stages, controls
	b.saving.Go(func() { write(mine) })
}

// report hands s to publish.
func (b *beside) report(s *api.NodeStatus, publish func(*api.NodeStatus)) {
	b.reporting.Wait()
	mine := &b.status
	executors, stages := append(mine.Executors[:0], s.Executors...), append(mine.Stages[:0], s.Stages...)
	*mine = *s
	mine.Executors, mine.Stages = executors, stages
	n := 0
	for i := range stages {
		n += len(stages[i].Samples)
	}
	if cap(b.samples) < n {
		b.samples = make([]api.StageSample, 0, 2*n)
	}
	samples := b.samples[:0]
	for i := range stages {
		from := len(samples)
		samples = append(samples, stages[i].Samples...)
		stages[i].Samples = samples[from:len(samples):len(samples)]
	}
	b.reporting.Go(func() { publish(mine) })
}

// wait returns once nothing is under way.
func (b *beside) wait() {
	b.saving.Wait()
	b.reporting.Wait()
}
