package usage

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const (
	// Silent is for how long a node that says nothing is taken to go on as it was: a planner takes it for lost then.
	Silent = 5 * time.Second
	// leastSpan is the least time over which it is measured what executors use.
	leastSpan = 400 * time.Millisecond
	// longest is after which time without a call all is forgotten.
	longest = 24 * time.Hour
	// unit is that of levels, in cores: they are added and taken away all the time, and whole numbers do not drift.
	unit = 1e-6
)

// History is who had the cores of a cluster. The zero value has none.
type History struct {
	second           int64 // Under way, since 1970; 0 before the first status.
	seconds, minutes *ring
	nodes            map[string]*node
	levels           map[api.AppID]*level
	offered, others  int64
}

// level is what an application has of all nodes, in units; nodes is of how many.
type level struct {
	used, granted int64
	nodes         int
}

// node is what the newest statuses of a node say.
type node struct {
	// heard is when the newest came, measured when that was of which the CPU times are.
	heard, measured units.Instant
	offered, others int64
	executors       []executor
	before          []executor // Room of the executors before, used again.
	shares          []share
}

type executor struct {
	app  api.AppID
	id   api.ExecutorID
	cpu  units.Work
	used float64 // In cores.
}

// share is a node's part of a level.
type share struct {
	app           api.AppID
	used, granted int64
}

// Status takes in the status of a node, which came at that moment.
func (h *History) Status(at units.Instant, s *api.NodeStatus) {
	h.pass(at)
	n := h.nodes[s.Node]
	if s.Leaving {
		h.drop(s.Node, n)
		return
	}
	if n == nil {
		n = &node{}
		h.nodes[strings.Clone(s.Node)] = n
	}
	h.count(n, -1)
	n.measure(at, s)
	n.heard = at
	n.offered, n.others = toUnits(float64(s.Offered)), toUnits(float64(s.Others))
	h.count(n, 1)
}

// toUnits is a number of cores in units: 0 of what can be none.
func toUnits(cores float64) int64 {
	if !(cores > 0) {
		return 0
	}
	return int64(math.Round(min(cores, api.MostCores) / unit))
}

// measure finds what n's executors use.
func (n *node) measure(at units.Instant, s *api.NodeStatus) {
	span := at.Sub(n.measured)
	anew := n.measured == 0 || span >= leastSpan
	before := n.executors
	n.executors, n.before, n.shares = n.before[:0], before, n.shares[:0]
	for i := range s.Executors {
		x := &s.Executors[i]
		if x.State == api.ExecutorExited {
			continue
		}
		now := executor{app: x.App, id: x.ID, cpu: x.CPU}
		if last := find(before, len(n.executors), x); last != nil {
			now.app, now.id, now.used = last.app, last.id, last.used
			if anew {
				now.used = max(0, float64(x.CPU-last.cpu)/span.Seconds())
			} else {
				now.cpu = last.cpu
			}
		}
		n.executors = append(n.executors, now)
		granted := now.used
		if x.Quota >= 0 {
			granted = float64(x.Quota)
		}
		n.share(now.app, toUnits(now.used), toUnits(granted))
	}
	if anew {
		n.measured = at
	}
}

// find is the executor of x among those of the status before, in which it most often has the same place.
func find(before []executor, place int, x *api.ExecutorStatus) *executor {
	is := func(e executor) bool { return e.id == x.ID && e.app == x.App }
	if place < len(before) && is(before[place]) {
		return &before[place]
	}
	if i := slices.IndexFunc(before, is); i >= 0 {
		return &before[i]
	}
	return nil
}

func (n *node) share(app api.AppID, used, granted int64) {
	i := slices.IndexFunc(n.shares, func(s share) bool { return s.app == app })
	if i < 0 {
		i = len(n.shares)
		n.shares = append(n.shares, share{app: app})
	}
	n.shares[i].used += used
	n.shares[i].granted += granted
}

// count adds n to the levels, or with -1 takes it away.
func (h *History) count(n *node, times int64) {
	h.offered += times * n.offered
	h.others += times * n.others
	for _, s := range n.shares {
		l := h.levels[s.app]
		if l == nil {
			l = &level{}
			h.levels[s.app] = l
		}
		l.used += times * s.used
		l.granted += times * s.granted
		if l.nodes += int(times); l.nodes == 0 {
			delete(h.levels, s.app)
		}
	}
}

func (h *History) drop(name string, n *node) {
	if n != nil {
		h.count(n, -1)
		delete(h.nodes, name)
	}
}

// pass lets time pass until at.
func (h *History) pass(at units.Instant) {
	second := int64(at) / int64(time.Second)
	if h.second == 0 || second-h.second > int64(longest/time.Second) {
		*h = History{second: second, seconds: newRing(1, 900, second), minutes: newRing(60, 1440, second/60),
			nodes: make(map[string]*node), levels: make(map[api.AppID]*level)}
	}
	for ; h.second < second; h.second++ {
		end := units.Instant((h.second + 1) * int64(time.Second))
		for name, n := range h.nodes {
			if end.Sub(n.heard) > Silent {
				h.drop(name, n)
			}
		}
		h.sample()
		h.seconds.end()
		if (h.second+1)%60 == 0 {
			h.minutes.end()
		}
	}
}

// sample takes the levels into the points under way, the greatest first: these get columns where few are left.
func (h *History) sample() {
	if len(h.nodes) == 0 {
		return
	}
	apps := slices.SortedFunc(maps.Keys(h.levels), func(a, b api.AppID) int {
		return cmp.Or(cmp.Compare(h.levels[b].used, h.levels[a].used), cmp.Compare(a, b))
	})
	for _, r := range []*ring{h.seconds, h.minutes} {
		r.sample(float64(h.offered)*unit, float64(h.others)*unit)
		for _, app := range apps {
			if l := h.levels[app]; l.used > 0 || l.granted > 0 {
				r.add(app, float64(l.used)*unit, float64(l.granted)*unit)
			}
		}
	}
}

// Node is who has a node's cores at now; nil where that is not known.
func (h *History) Node(now units.Instant, name string) *api.NodeCores {
	h.pass(now)
	n := h.nodes[name]
	if n == nil {
		return nil
	}
	c := &api.NodeCores{Others: units.Cores(n.others) * unit}
	for _, s := range n.shares {
		c.Used += units.Cores(s.used) * unit
		c.Granted += units.Cores(s.granted) * unit
	}
	return c
}

// Of is what there is at now for q: points that have ended.
func (h *History) Of(now units.Instant, q api.Query) api.CoresHistory {
	h.pass(now)
	if q.Step > 1 {
		return h.minutes.history(q.After)
	}
	return h.seconds.history(q.After)
}
