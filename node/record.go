package node

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

const (
	// maxRecords bounds what is remembered of the stages of one executor.
	maxRecords = 16
	// maxSamples is how many ticks of a stage one status may carry.
	maxSamples = api.MostSamples
	// echo is how long CPU time without any task still belongs to the stage
	// that was active last: result fetch and garbage collection.
	echo = time.Second
)

// record is what one executor did for one stage attempt. It is kept while the
// executor lives, even when it is no longer reported, because the page may show
// the stage's totals for longer.
type record struct {
	key api.StageKey
	// As the page last showed the stage.
	finished, failed, running int
	weight                    float64
	pageCPU                   units.Work
	// pageDelta is the growth of pageCPU in this tick, used the CPU time of the
	// group that this tick attributed, cpu the sum of that.
	pageDelta, used, cpu units.Work
	// active is when one of its tasks last ran, changed when anything that is
	// reported changed.
	active, changed units.Instant
	known           bool

	// As StageStatus has them.
	largeCPU, largeReading units.Work
	heap                   heapUse

	progress     units.Fraction
	quotaChanges int
	// samples are the n ticks that no status has carried yet, at is when each was.
	n       int
	at      [maxSamples]units.Instant
	samples [maxSamples]api.StageSample
}

// see folds in the stage as a new page shows it. The first sight of a stage
// that was at work before anybody watched (baseline) sets the mark only.
func (r *record) see(s *meter.Stage, now units.Instant, baseline bool) {
	cpu := s.CPU + s.RunningCPU
	if !baseline || r.known {
		// The running part falls when a task fails: nothing is taken back.
		r.pageDelta = max(0, cpu-r.pageCPU)
	}
	if r.finished != s.Finished || r.running != s.Running || r.weight != s.Weight {
		r.changed = now
	}
	if s.Running > 0 || (!baseline || r.known) && s.Finished > r.finished {
		r.active = now
	}
	r.known = true
	r.failed, r.largeCPU, r.largeReading = s.Failed, s.LargeCPU, s.LargeReading
	r.pageCPU, r.finished, r.running, r.weight = cpu, s.Finished, s.Running, s.Weight
}

// sample returns what the next status is to carry of this tick, for the caller to
// fill; the oldest is lost when there are too many.
func (r *record) sample(now units.Instant) *api.StageSample {
	if r.n == maxSamples {
		copy(r.at[:], r.at[1:])
		copy(r.samples[:], r.samples[1:])
		r.n--
	}
	r.at[r.n] = now
	r.n++
	return &r.samples[r.n-1]
}

// attribute splits the CPU time that a group used in a tick over the stages of its executor: in proportion to the CPU
// time that their tasks report. If they report none, to their running tasks; if none runs, to the stage that was active
// last, unless that is longer ago than a second. It returns what belongs to no stage (start, idle JVM). The parts and
// the rest sum up to delta.
func attribute(records []*record, delta units.Work, now units.Instant) (rest units.Work) {
	var reported units.Work
	running := 0
	var last *record
	for _, r := range records {
		r.used = 0
		reported += r.pageDelta
		running += r.running
		if r.active > 0 && (last == nil || r.active > last.active) {
			last = r
		}
	}
	if delta <= 0 {
		return 0
	}
	switch {
	case reported > 0:
		for _, r := range records {
			r.take(delta*r.pageDelta/reported, now)
		}
	case running > 0:
		for _, r := range records {
			r.take(delta*units.Work(r.running)/units.Work(running), now)
		}
	case last != nil && now.Sub(last.active) <= echo:
		last.take(delta, now)
	default:
		return delta
	}
	return 0
}

// take attributes part of a tick's CPU time to r.
func (r *record) take(part units.Work, now units.Instant) {
	if r.used = part; part > 0 {
		r.cpu += part
		r.changed = now
	}
}

// describe fills s, which is zero, with the wire form of r.
func (r *record) describe(s *api.StageStatus, key Key, now units.Instant) {
	for i, at := range r.at[:r.n] {
		r.samples[i].Age = units.FromDuration(now.Sub(at))
	}
	s.App, s.StageKey, s.Executor = key.App, r.key, key.ID
	s.CPU, s.Progress, s.QuotaChanges, s.Samples = r.cpu, r.progress, r.quotaChanges, r.samples[:r.n:r.n]
	s.Finished = r.finished
	s.LargeCPU, s.LargeReading = r.largeCPU, r.largeReading
	if r.running == 0 {
		s.Heap = r.heap.HeapUse
	}
}
