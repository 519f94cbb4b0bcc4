package dag

import "math/bits"

// Width returns the largest number of stages that can run side by side: the
// largest antichain of the graph.
func (g *Graph) Width() int { return g.width }

// widest looks for the largest antichain job by job: a stage of one job and a
// stage of another never run side by side. In a job it is, by Dilworth's
// theorem, the number of stages less the largest matching between stages and
// stages that depend on them, directly or not. Sets of stages are bit sets: for n stages
// with e edges it takes n*e/64 + n^3/64 steps at most.
func (g *Graph) widest() int {
	width, stages := 0, g.profile.Stages
	for first := 0; first < len(stages); {
		end := first + 1
		for end < len(stages) && stages[end].Job == stages[first].Job {
			end++
		}
		width = max(width, end-first-match(g.descendants(first, end)))
		first = end
	}
	return width
}

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) add(i int)    { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int) { b[i/64] &^= 1 << (i % 64) }
func (b bitset) union(c bitset) {
	for i, word := range c {
		b[i] |= word
	}
}

// bitsets are n empty sets of numbers below n.
func bitsets(n int) []bitset {
	words := (n + 63) / 64
	all, sets := make(bitset, n*words), make([]bitset, n)
	for i := range sets {
		sets[i] = all[i*words : (i+1)*words]
	}
	return sets
}

// descendants has, for each stage of [first, end), the stages of that range
// that depend on it, all counted from first.
func (g *Graph) descendants(first, end int) []bitset {
	sets := bitsets(end - first)
	for i := end - 1; i >= first; i-- {
		for _, next := range g.after[i] {
			if next < end {
				sets[i-first].add(next - first)
				sets[i-first].union(sets[next-first])
			}
		}
	}
	return sets
}

// match returns the size of the largest matching of a bipartite graph, given as
// the right neighbours of each left vertex, by augmenting paths.
func match(right []bitset) int {
	n := len(right)
	m := matching{right: right, left: make([]int, n), untried: make(bitset, (n+63)/64)}
	for r := range m.left {
		m.left[r] = -1
	}
	size := 0
	for l := range right {
		for r := range n {
			m.untried.add(r)
		}
		if m.augment(l) {
			size++
		}
	}
	return size
}

// matching is the state of match: left[r] is the partner of right vertex r or
// -1, untried are the right vertices that the round has not visited.
type matching struct {
	right   []bitset
	left    []int
	untried bitset
}

func (m *matching) augment(l int) bool {
	for i := range m.untried {
		// What is deeper visits vertices of the same word: it is read again each time.
		for {
			word := m.right[l][i] & m.untried[i]
			if word == 0 {
				break
			}
			r := i*64 + bits.TrailingZeros64(word)
			m.untried.remove(r)
			if m.left[r] < 0 || m.augment(m.left[r]) {
				m.left[r] = l
				return true
			}
		}
	}
	return false
}
