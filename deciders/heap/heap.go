package heap

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

const (
	// LeastSamples is how many samples a footprint needs.
	LeastSamples = 30
	// mostRuns bounds the runs whose figures are kept, mostStages the stages of one and the footprints.
	mostRuns, mostStages = 32, 32
)

// params are the numbers of the search, which ends at the smallest heap with which executors are started. A heap may
// cost a quarter of the first run's work: on real Spark two programs that cache took 1.2 and 4 times that work at
// 512 MiB, and did not collect most of the time.
var params = func() memory.KneeParams {
	p := memory.DefaultKnee
	p.Least, p.Dearer = api.LeastHeap, 0.25
	return p
}()

// State is the search of a profile.
type State struct {
	Search memory.Knee `json:"search"`
	// Next is the heap for the next run without a deadline, 0 where nothing is known. Slots is how many tasks an executor
	// ran at a time, Variants how many variants the profile had, in the search.
	Next     units.Bytes `json:"next_bytes,omitempty"`
	Slots    int         `json:"slots,omitempty"`
	Variants int         `json:"variants,omitempty"`
	// Runs are those of the search, oldest first; Tasks the footprints, by signature of the stage.
	Runs  []api.KneeRun `json:"runs,omitempty"`
	Tasks []Footprint   `json:"tasks,omitempty"`
}

// Footprint is what one task alone has in use in a stage.
type Footprint struct {
	Stage     string      `json:"stage"`
	Samples   int         `json:"samples"`
	Mean      units.Bytes `json:"mean_bytes"`
	Deviation units.Bytes `json:"deviation_bytes"`
}

var facet = ledger.Register(ledger.Facet[*ledger.Profile, State]{Name: "heap"})

// Of is p's; nil has none.
func Of(p *ledger.Profile) State {
	if p == nil {
		return State{}
	}
	return facet.Of(p)
}

// Ran: a run of the profile has ended, and had this heap.
type Ran struct {
	ledger.OfProfile
	App api.AppID
	Run memory.Run
	// Slots and Tasks are as State has them, Stages the signatures of Run.Stages.
	Slots  int
	Stages []string
	Tasks  []Footprint
}

// Line is what it says.
func (f Ran) Line() ledger.Line {
	return f.Says("heap learnt", "%s ran with a heap of %v, of which %v was live", f.App, f.Run.Heap, f.Run.Live)
}

// Learn is what the run of a, which has ended, teaches its profile of the heap; false where that is nothing. A run that
// has failed teaches if an executor has ended for want of heap.
func Learn(v ledger.View, a *ledger.App) (Ran, bool) {
	l := &a.Tenant.Launch
	p := v.Profile(a.Tenant.Owner.User, a.Promise.Profile)
	if p == nil || p.Body.Shared && !p.Body.Taught || l.Heap <= 0 || l.Attach != nil {
		return Ran{}, false
	}
	f := Ran{OfProfile: ledger.OfProfile{Name: p.Body.Name, Owner: p.Body.Owner}, App: a.ID, Run: memory.Run{Heap: l.Heap},
		Slots: slots(a)}
	for _, x := range a.Tenant.Executors {
		f.Run.Work += x.CPU
		f.Run.OutOfMemory = f.Run.OutOfMemory || outOfMemory(x.Exit)
	}
	if a.Outcome.State != api.AppFinished && !f.Run.OutOfMemory {
		return Ran{}, false
	}
	f.fold(a)
	return f, len(f.Run.Stages) > 0 || f.Run.OutOfMemory
}

// slots is how many tasks an executor of a runs at a time.
func slots(a *ledger.App) int {
	n := a.Tenant.Launch.Cores
	if n == 0 {
		n = a.Tenant.Slots / max(1, len(a.Tenant.Executors))
	}
	return max(1, int(float64(n)/max(1, a.Tenant.Launch.TaskCPUs)))
}

// outOfMemory reports whether an executor that ended so had not enough heap: Spark's own exit status for that, or the
// exception.
func outOfMemory(exit string) bool {
	return exit == "exit status 52" || strings.HasPrefix(exit, "exit status 52:") ||
		strings.Contains(exit, "java.lang.OutOfMemoryError")
}

// fold takes in what the executors of a have told of its stages: of those with the same signature the one that used
// most counts.
func (f *Ran) fold(a *ledger.App) {
	var busy, collecting units.Seconds
	type seen struct {
		signature string
		mean      float64
		use       memory.StageUse
		task      Footprint
	}
	var all []seen
	for _, s := range a.Order {
		var bins [api.HeapBins]int64
		total, mean := int64(0), 0.0
		task := Footprint{Stage: s.Ready.Signature}
		for i := range s.Sights {
			h := s.Sights[i].Heap
			if h == nil {
				continue
			}
			for bin, n := range h.Bins {
				bins[bin] += int64(n)
				total += int64(n)
			}
			f.Run.Live = max(f.Run.Live, h.Live)
			busy, collecting = busy+h.Busy, collecting+h.Collecting
			task = task.with(h.Alone, h.Mean, h.Deviation)
		}
		if total == 0 {
			continue
		}
		use := memory.StageUse{Slots: f.Slots}
		for bin, n := range bins {
			if n > 0 {
				used := (float64(bin) + 0.5) / api.HeapBins * float64(f.Run.Heap)
				part := float64(n) / float64(total)
				mean += used * part
				use.Container = append(use.Container, memory.Bin{Used: units.Bytes(used), Part: part})
			}
		}
		all = append(all, seen{s.Ready.Signature, mean, use, task})
	}
	if busy > 0 {
		f.Run.Collecting = float64(collecting / busy)
	}
	slices.SortStableFunc(all, func(a, b seen) int { return cmp.Compare(b.mean, a.mean) })
	for _, s := range all {
		if len(f.Stages) == mostStages {
			break
		}
		if slices.Contains(f.Stages, s.signature) {
			continue
		}
		f.Stages, f.Run.Stages = append(f.Stages, s.signature), append(f.Run.Stages, s.use)
		if s.task.Samples > 0 {
			f.Tasks = append(f.Tasks, s.task)
		}
	}
}

// with is t with that many more samples.
func (t Footprint) with(samples int, mean, deviation units.Bytes) Footprint {
	if samples <= 0 {
		return t
	}
	n, m := float64(t.Samples), float64(samples)
	off := float64(mean - t.Mean)
	squares := n*square(float64(t.Deviation)) + m*square(float64(deviation)) + square(off)*n*m/(n+m)
	t.Mean += units.Bytes(math.Round(off * m / (n + m)))
	t.Samples += samples
	t.Deviation = units.Bytes(math.Round(math.Sqrt(squares / (n + m))))
	return t
}

func square(x float64) float64 { return x * x }

// Apply takes the run in.
func (f Ran) Apply(_ ledger.View, p *ledger.Profile, s *State) error {
	s.Tasks = footprints(s.Tasks, f.Tasks)
	switch variants := 1 + len(p.Body.Variants); {
	case s.Slots > 0 && f.Slots < s.Slots:
		return nil // It says how much a task needs, and not how much as many as usual do.
	case f.Slots > s.Slots || variants > s.Variants && s.Variants > 0:
		*s = State{Slots: f.Slots, Variants: variants, Tasks: s.Tasks}
	default:
		s.Variants = variants
	}
	run := f.Run
	run.Stages = slices.Clone(f.Run.Stages)
	for i := range run.Stages {
		if t := find(s.Tasks, f.Stages[i]); t.Samples >= LeastSamples {
			run.Stages[i].Mean, run.Stages[i].Deviation = t.Mean, t.Deviation
		}
	}
	before := s.Search
	size, _ := s.Search.Next(run, params)
	bad := s.Search.Bad >= run.Heap && s.Search.Bad > before.Bad || s.Search.Good == 0
	if bad && before.Good > 0 && run.Heap >= before.Good {
		// The good heap is too small by now: the input has grown, or it is another program.
		s.Search, s.Runs = memory.Knee{}, nil
		first := run
		first.OutOfMemory = true // A first run has nothing to be slower than.
		size, _ = s.Search.Next(first, params)
	}
	s.Next = size
	s.Runs = append(slices.Clone(s.Runs), api.KneeRun{Heap: run.Heap, Live: run.Live, Work: run.Work,
		Collecting: units.Fraction(run.Collecting), OutOfMemory: run.OutOfMemory, Bad: bad})
	s.Runs = s.Runs[max(0, len(s.Runs)-mostRuns):]
	return nil
}

// footprints are those of before with those of a run, which replace others where it has more samples.
func footprints(before, run []Footprint) []Footprint {
	all := slices.Clone(before)
	for _, t := range run {
		i := slices.IndexFunc(all, func(o Footprint) bool { return o.Stage == t.Stage })
		switch {
		case i < 0:
			all = append(all, t)
		case t.Samples >= min(all[i].Samples, LeastSamples):
			all[i] = t
		}
	}
	slices.SortStableFunc(all, func(a, b Footprint) int { return cmp.Compare(b.Samples, a.Samples) })
	return all[:min(len(all), mostStages)]
}

func find(all []Footprint, stage string) Footprint {
	if i := slices.IndexFunc(all, func(t Footprint) bool { return t.Stage == stage }); i >= 0 {
		return all[i]
	}
	return Footprint{}
}

// Choose is the heap of executors of an application that leaves it to the planner, and begins with what it has asked
// for. A run with a deadline is never the one that tries a smaller heap. It is whole MiB, and at least Spark's least.
func (s State) Choose(asked units.Bytes, deadline bool) units.Bytes {
	size := s.Next
	if deadline {
		size = s.Search.Safe(params)
	}
	if size == 0 {
		return asked
	}
	return max(api.LeastHeap, (size+units.MiB-1)/units.MiB*units.MiB)
}
