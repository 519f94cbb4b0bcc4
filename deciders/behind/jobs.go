package behind

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// part is what a job needs of a node, in core-seconds.
type part struct {
	node int
	work float64
}

// job is what an application needs of all its nodes, and of those that serve by supervisor.Auto. Times are seconds from
// now.
type job struct {
	app           *ledger.App
	due, by, work float64
	parts         []part
	behind        bool
}

// jobs are those of some nodes, in order of due.
type jobs struct {
	all    []job
	cores  []float64 // Of each node.
	doubts sharing.Doubts
}

// choose puts behind what leaves as many in time as can be, and returns how many those are.
func (s *jobs) choose() (n int) {
	s.giveUp()
	n = s.met(0)
	behind := s.behind()
	slices.SortStableFunc(behind, func(a, b int) int { return cmp.Compare(s.all[a].work, s.all[b].work) })
	for _, i := range behind {
		s.all[i].behind = false
		if m := s.met(0); m > n || m == n && s.met(s.doubts.Reserve) == n {
			n = m
			continue
		}
		s.all[i].behind = true
	}
	behind = s.behind()
	s.put(nil)
	if s.met(0) < n {
		s.put(behind)
	}
	return n
}

// giveUp puts those behind without which the others are in time.
func (s *jobs) giveUp() {
	before, none := make([]float64, len(s.cores)), make([]float64, len(s.cores))
	for i := range s.all {
		j := &s.all[i]
		j.behind = j.due <= 0 || s.full(j, none, 0) >= 0
		for !j.behind {
			node := s.full(j, before, 0)
			if node < 0 {
				j.add(before, 1)
				break
			}
			most := s.largest(node, i)
			if most.behind = true; most != j {
				most.add(before, -1)
			}
		}
	}
}

// full is a node that cannot do its part of j in time after what comes before that, with a part to spare; -1 for none.
func (s *jobs) full(j *job, before []float64, spare float64) int {
	for _, p := range j.parts {
		if p.work > 0 && (before[p.node]+p.work)*(1+spare) > s.cores[p.node]*max(0, j.by+s.doubts.Late) {
			return p.node
		}
	}
	return -1
}

// add has j come before what follows, or no more with a sign of -1.
func (j *job) add(before []float64, sign float64) {
	for _, p := range j.parts {
		before[p.node] += sign * p.work
	}
}

// largest is the one of the first jobs up to last that needs most of a node and is not behind, of several the one that
// is due last: there is one.
func (s *jobs) largest(node, last int) (most *job) {
	needs := -1.0
	for i := range s.all[:last+1] {
		j := &s.all[i]
		at := slices.IndexFunc(j.parts, func(p part) bool { return p.node == node })
		if !j.behind && at >= 0 && j.parts[at].work >= needs {
			most, needs = j, j.parts[at].work
		}
	}
	return most
}

// met is how many are in time by what is chosen, with a part to spare.
func (s *jobs) met(spare float64) (n int) {
	before := make([]float64, len(s.cores))
	for _, behind := range [...]bool{false, true} {
		for i := range s.all {
			if j := &s.all[i]; j.behind == behind {
				if j.due > 0 && s.full(j, before, spare) < 0 {
					n++
				}
				j.add(before, 1)
			}
		}
	}
	return n
}

// behind are the places of those that are.
func (s *jobs) behind() (of []int) {
	for i := range s.all {
		if s.all[i].behind {
			of = append(of, i)
		}
	}
	return of
}

// put has those be behind, and no other.
func (s *jobs) put(of []int) {
	for i := range s.all {
		s.all[i].behind = slices.Contains(of, i)
	}
}
