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
	// Fixed says that OffHeap (per executor) does not move: it is taken out of
	// the pool like heap, and the application has no share.
	Fixed   bool
	OffHeap units.Bytes
	// Weight is the application's part of the pool, 0 counts as 1; Floor is the least that
	// each of its executors has of it.
	Weight float64
	Floor  units.Bytes
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
	if a.Executors < 0 || a.Heap < 0 || a.Overhead < 0 || a.OffHeap < 0 || a.Floor < 0 || !(a.Weight >= 0) ||
		math.IsInf(a.Weight, 0) {
		return api.Errorf(api.KindInvalid,
			"application %s: executors %d, heap %v, overhead %v, off-heap %v, floor %v, weight %v: want none negative",
			a.ID, a.Executors, a.Heap, a.Overhead, a.OffHeap, a.Floor, a.Weight)
	}
	each := float64(a.Heap) + float64(a.Overhead) + float64(a.OffHeap) + float64(a.Floor)
	if float64(a.Executors)*each >= math.MaxInt64 {
		return api.Errorf(api.KindInvalid, "application %s: %d executors of %.0f bytes: more than can be counted", a.ID,
			a.Executors, each)
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
// without a fixed size, more or less by its weight and not below its floor, divided
// again by its executors. Appended to shares, in the order of apps. It is a KindInvalid
// error if a number is negative, with every share 0, and a KindConflict error if heaps,
// overheads and floors do not fit; every share is then its floor. On an arrival or a
// departure call it with the new set of applications: the paper's shares follow.
func Shares(memory units.Bytes, apps []App, shares []Share) ([]Share, error) {
	var taken float64
	for _, a := range apps {
		if err := a.validate(); err != nil {
			for _, a := range apps {
				shares = append(shares, Share{ID: a.ID})
			}
			return shares, fmt.Errorf("memory shares: %w", err)
		}
		taken += float64(a.Static())
		if a.shares() {
			taken += float64(a.floor())
		}
	}
	var parts []units.Bytes
	fits := taken <= float64(memory)
	if fits {
		parts, fits = divide(Pool(memory, apps), apps)
	}
	for i, a := range apps {
		if !fits {
			shares = append(shares, a.share(a.floor()))
			continue
		}
		shares = append(shares, a.share(parts[i]))
	}
	if !fits {
		return shares, fmt.Errorf("memory shares: %w", api.Errorf(api.KindConflict,
			"executors need %.0f MiB of heap, overhead and least off-heap memory, the node gives %v", taken/float64(units.MiB),
			memory))
	}
	return shares, nil
}

// share is what a has of part; a floor is kept to the byte, the rest is in MiB.
func (a App) share(part units.Bytes) Share {
	switch {
	case a.Executors == 0:
		return Share{ID: a.ID}
	case a.Fixed:
		return Share{ID: a.ID, Total: a.OffHeap * units.Bytes(a.Executors), PerExecutor: a.OffHeap}
	}
	per := max(a.Floor, part/units.Bytes(a.Executors)/units.MiB*units.MiB)
	return Share{ID: a.ID, Total: per * units.Bytes(a.Executors), PerExecutor: per}
}
