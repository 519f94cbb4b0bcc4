package api

import (
	"fmt"
	"math"
	"strings"

	"github.com/sparkpacer/pacer/units"
)

// faults collects what is wrong with a value, so that a user sees it all at once.
type faults []string

func (f *faults) check(ok bool, format string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

func (f *faults) finite(what string, v float64) {
	if !(v >= 0) || math.IsInf(v, 0) {
		f.check(false, "%s is %v, want a finite number >= 0", what, v)
	}
}

func (f *faults) positive(what string, v float64) {
	if !(v > 0) || math.IsInf(v, 0) {
		f.check(false, "%s is %v, want a finite number > 0", what, v)
	}
}

func (f faults) err(what string) error {
	if len(f) == 0 {
		return nil
	}
	return Errorf(KindInvalid, "%s: %s", what, strings.Join(f, "; "))
}

// CheckVersion returns a KindVersion error unless v is the version of this build.
func CheckVersion(peer string, v int) error {
	if v == Version {
		return nil
	}
	return Errorf(KindVersion, "%s speaks protocol version %d, this side speaks %d: install the same release of Pacer on both", peer, v, Version)
}

const (
	// maxFloor bounds the off-heap floor that is declared: a PiB, above any machine.
	maxFloor = units.Bytes(1) << 50
	// maxPage is Spark's own bound of a page.
	maxPage = 16 * units.GiB
)

// Validate reports every fault of r at once.
func (r RegisterRequest) Validate() error {
	if err := CheckVersion("the driver", r.V); err != nil {
		return err
	}
	var f faults
	f.check(r.Submission != "", "submission is empty")
	f.check(r.Name != "", "name is empty")
	f.check(r.Launch.DriverURL != "", "driver_url is empty")
	f.check(r.Launch.Cores >= 0, "cores is negative")
	f.check(r.Launch.Heap > 0, "heap_bytes is %d, want > 0", int64(r.Launch.Heap))
	f.check(min(r.Launch.Overhead, r.Launch.OffHeap, r.Launch.OffHeapFloor, r.Launch.OffHeapPage) >= 0, "a memory size is negative")
	f.check(r.Launch.OffHeapFloor <= maxFloor, "offheap_floor_bytes is %d, want at most %d", int64(r.Launch.OffHeapFloor), int64(maxFloor))
	f.check(r.Launch.OffHeapPage <= maxPage, "offheap_page_bytes is %d, want at most %d", int64(r.Launch.OffHeapPage), int64(maxPage))
	weight := r.Launch.OffHeapWeight
	f.check(weight == 0 || weight >= 0.01 && weight <= 100, "offheap_weight is %v, want 0.01 to 100, or 0 for 1", weight)
	f.finite("deadline_s", float64(r.Deadline))
	f.finite("elapsed_s", float64(r.Elapsed))
	f.check(r.Mode == "" || r.Mode == ModeControl || r.Mode.HandsOff(), "mode is %q, want %s, %s or %s", string(r.Mode), ModeControl, ModeObserve, ModeOff)
	f.check(r.Class.Known(), "class is %q, want one of %v", string(r.Class), Classes())
	return f.err("registration")
}

// Validate reports every fault of e at once: version, sequence, and that each
// event carries what its type needs.
func (e Events) Validate() error {
	if err := CheckVersion("the driver", e.V); err != nil {
		return err
	}
	var f faults
	for i, event := range e.Events {
		f.check(event.Seq > 0 && (i == 0 || event.Seq == e.Events[i-1].Seq+1), "events[%d]: seq %d is out of order", i, event.Seq)
		f.finite(fmt.Sprintf("events[%d]: at_s", i), float64(event.At))
		var ok bool
		switch event.Type {
		case EventExecutorUp, EventExecutorGone:
			ok = event.Executor != nil
		case EventStageReady:
			ok = event.Stage != nil && event.Stage.Tasks > 0
		case EventStageBound:
			ok = event.Bound != nil
		case EventStageDone:
			ok = event.Done != nil
		case EventUnpaced, EventEnd, EventExit:
			ok = true
		}
		f.check(ok, "events[%d]: type %q without its body", i, event.Type)
	}
	return f.err("events of " + string(e.AppID))
}

// Validate reports every fault of s at once. It allocates nothing for one without:
// a planner checks thousands in a second.
func (s *NodeStatus) Validate() error {
	if s.V != Version {
		return CheckVersion("node "+s.Node, s.V)
	}
	var f faults
	if !ValidNodeName(s.Node) {
		f.check(false, "node name %q: want letters, digits, - and _", s.Node)
	}
	f.check(s.Incarnation != "", "incarnation is empty")
	f.positive("offered_cores", float64(s.Offered))
	f.positive("total_cores", float64(s.Total))
	f.finite("others_cores", float64(s.Others))
	f.check(s.Memory >= 0, "memory_bytes is negative")
	return f.err("node status")
}

// ValidNodeName reports whether name can be part of a NATS subject and of a
// cgroup path: 1 to 63 letters, digits, hyphens and underscores.
func ValidNodeName(name string) bool {
	if name == "" || len(name) > 63 {
		return false
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return false
		}
	}
	return true
}
