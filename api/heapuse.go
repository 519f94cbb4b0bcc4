package api

import "github.com/sparkpacer/pacer/units"

// HeapBins is into how many equal parts a heap is divided where it is told how much of it was in use.
const HeapBins = 64

// HeapUse is how an executor's heap was used while tasks of a stage ran there: by what the newest collection had left.
type HeapUse struct {
	// Bins are how many ticks have found each part of the heap to be the highest in use.
	Bins [HeapBins]int32 `json:"bins"`
	// Live is the most that a collection has left.
	Live units.Bytes `json:"live_bytes"`
	// Busy is for how long tasks of the stage ran, Collecting for how long of that collections went on.
	Busy       units.Seconds `json:"busy_s"`
	Collecting units.Seconds `json:"collecting_s"`
	// Alone are the ticks in which one task alone had run since before the newest collection: Mean and Deviation are of
	// what was in use then.
	Alone     int         `json:"alone,omitempty"`
	Mean      units.Bytes `json:"alone_mean_bytes,omitempty"`
	Deviation units.Bytes `json:"alone_deviation_bytes,omitempty"`
}

func (h *HeapUse) look(f *faults) {
	for i := range h.Bins {
		n := int(h.Bins[i])
		within(f, "a bin of its heap", &n, 0, MostCount)
		h.Bins[i] = int32(n)
	}
	for _, size := range [...]*units.Bytes{&h.Live, &h.Mean, &h.Deviation} {
		within(f, "a size of its heap", size, 0, MostMoved)
	}
	within(f, "busy_s", &h.Busy, 0, MostAmount)
	within(f, "collecting_s", &h.Collecting, 0, MostAmount)
	within(f, "alone", &h.Alone, 0, MostCount)
}

// LeastHeap is the smallest heap with which executors are started where the planner chooses it: Spark takes 450 MiB,
// and collectors keep a part of a heap that Spark does not count.
const LeastHeap = 512 * units.MiB

// Knee is what is known of the smallest heap at which an application is not slower (`pacer profiles knee`).
type Knee struct {
	V     int    `json:"v"`
	Name  string `json:"name"`
	Owner string `json:"owner,omitempty"`
	// Runs are those of the search, the smallest heap first.
	Runs []KneeRun `json:"runs"`
	// Good is the smallest heap of a run that was not slower, Bad the greatest of one that was, 0 for none. Next is that
	// of the next run, Safe that of one with a deadline; Done says that the search has ended.
	Good units.Bytes `json:"good_bytes,omitempty"`
	Bad  units.Bytes `json:"bad_bytes,omitempty"`
	Next units.Bytes `json:"next_bytes,omitempty"`
	Safe units.Bytes `json:"safe_bytes,omitempty"`
	Done bool        `json:"done,omitempty"`
	// Slots is how many tasks an executor ran at a time, Samples how many there are of one task alone, of the stage with
	// most of them.
	Slots   int `json:"slots,omitempty"`
	Samples int `json:"alone,omitempty"`
	// Advice says in a line what to do, Sure how sure that is.
	Advice string `json:"advice"`
	Sure   string `json:"sure"`
}

// KneeRun is a run of the search.
type KneeRun struct {
	Heap units.Bytes `json:"heap_bytes"`
	// Live is the most that a collection has left, Collecting the part of the time with running tasks that went into
	// collections.
	Live       units.Bytes    `json:"live_bytes"`
	Work       units.Work     `json:"core_seconds"`
	Collecting units.Fraction `json:"collecting"`
	// OutOfMemory says that an executor ended for want of heap, Bad that this heap was too small.
	OutOfMemory bool `json:"out_of_memory,omitempty"`
	Bad         bool `json:"bad,omitempty"`
}
