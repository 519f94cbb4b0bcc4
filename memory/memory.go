package memory

import (
	"fmt"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Spark's rule for an executor's memory overhead.
const (
	leastOverhead = 384 * units.MiB
	overheadPart  = 10 // one tenth of the heap
)

// App is an application with its executors on one node. The paper's h is
// Executors x (Heap + Overhead).
type App struct {
	ID        api.AppID
	Executors int
	// Heap and Overhead are per executor and do not change while it runs.
	Heap, Overhead units.Bytes
	// Fixed says that the user chose OffHeap (per executor): it is taken out of
	// the pool like heap, and the application has no share.
	Fixed   bool
	OffHeap units.Bytes
}

// Share is what an application gets.
type Share struct {
	ID api.AppID
	// Total is the application's off-heap memory on the node, PerExecutor that
	// of each of its executors, rounded down to a MiB.
	Total, PerExecutor units.Bytes
}

// Overhead is what an executor needs beside its heap when the user did not say:
// a tenth of the heap, at least 384 MiB, as in Spark.
func Overhead(heap units.Bytes) units.Bytes {
	return max(leastOverhead, heap/overheadPart)
}

// Static is what the application takes whatever the shares are: h.
func (a App) Static() units.Bytes {
	each := a.Heap + a.Overhead
	if a.Fixed {
		each += a.OffHeap
	}
	return units.Bytes(a.Executors) * each
}

func (a App) validate() error {
	if a.Executors < 0 || a.Heap < 0 || a.Overhead < 0 || a.OffHeap < 0 {
		return api.Errorf(api.KindInvalid, "application %s: executors %d, heap %v, overhead %v, off-heap %v: want none negative",
			a.ID, a.Executors, a.Heap, a.Overhead, a.OffHeap)
	}
	each := float64(a.Heap) + float64(a.Overhead) + float64(a.OffHeap)
	if float64(a.Executors)*each >= math.MaxInt64 {
		return api.Errorf(api.KindInvalid, "application %s: %d executors of %.0f bytes: more than can be counted", a.ID, a.Executors, each)
	}
	return nil
}

// Pool is O = M - sum of h: the memory of a node that is left for off-heap use.
// It is negative when the heaps do not fit.
func Pool(memory units.Bytes, apps []App) units.Bytes {
	for _, a := range apps {
		memory -= a.Static()
	}
	return memory
}

// Shares divides a node's memory among apps: o = O/|A| for each application
// without a fixed size, divided again by its executors. Appended to shares, in
// the order of apps. It is a KindInvalid error if a number is negative and a
// KindConflict error if heaps and overheads alone do not fit; every share is
// then 0. On an arrival or a departure call it with the new set of applications:
// the paper's shares after an arrival and a departure follow.
func Shares(memory units.Bytes, apps []App, shares []Share) ([]Share, error) {
	sharing := 0
	var fault error
	var taken float64
	for _, a := range apps {
		if err := a.validate(); err != nil && fault == nil {
			fault = err
			continue
		}
		taken += float64(a.Static())
		if !a.Fixed && a.Executors > 0 {
			sharing++
		}
	}
	if fault == nil && taken > float64(memory) {
		fault = api.Errorf(api.KindConflict, "executors need %.0f MiB of heap and overhead, the node gives %v",
			taken/float64(units.MiB), memory)
	}
	var each units.Bytes
	if fault == nil && sharing > 0 {
		each = Pool(memory, apps) / units.Bytes(sharing)
	}
	for _, a := range apps {
		shares = append(shares, a.share(each, fault == nil))
	}
	if fault != nil {
		return shares, fmt.Errorf("memory shares: %w", fault)
	}
	return shares, nil
}

func (a App) share(each units.Bytes, fits bool) Share {
	switch {
	case !fits || a.Executors == 0:
		return Share{ID: a.ID}
	case a.Fixed:
		return Share{ID: a.ID, Total: a.OffHeap * units.Bytes(a.Executors), PerExecutor: a.OffHeap}
	}
	per := each / units.Bytes(a.Executors) / units.MiB * units.MiB
	return Share{ID: a.ID, Total: per * units.Bytes(a.Executors), PerExecutor: per}
}

// AtStart is the off-heap size, per executor, that an application gets when its
// size cannot be changed later: its share if the node ran expected applications
// like it (at least 1). A KindConflict error says that not even its heaps fit
// that often.
func AtStart(memory units.Bytes, app App, expected int) (units.Bytes, error) {
	expected = max(1, expected)
	if err := app.validate(); err != nil {
		return 0, fmt.Errorf("memory at start: %w", err)
	}
	shares, err := Shares(memory/units.Bytes(expected), []App{app}, make([]Share, 0, 1))
	if err != nil {
		return 0, fmt.Errorf("memory at start for %d applications: %w", expected, err)
	}
	return shares[0].PerExecutor, nil
}
