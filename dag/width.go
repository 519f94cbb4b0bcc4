package dag

import (
	"iter"
	"math"
	"math/bits"
)

// Width returns the largest number of stages that can run side by side: the
// largest antichain of the graph.
func (g *Graph) Width() int { return g.width }

// survey fills in width and alone, job by job: a stage of one job and a stage of another
// never run side by side. In a job the largest antichain is, by Dilworth's
// theorem, the number of stages less the largest matching between stages and
// stages that depend on them, directly or not. Sets of stages are bit sets: for n stages
// with e edges it takes n*e/64 + n^3/64 steps at most.
func (g *Graph) survey() {
	for first := 0; first < len(g.nodes); {
		end := first
		for end < len(g.nodes) && g.nodes[end].stage != nil {
			end++
		}
		g.surveyJob(first, end)
		first = end + 1
	}
}

// surveyJob is survey for the job of those nodes: a stage is alone if all others come before or
// after it.
func (g *Graph) surveyJob(first, end int) {
	sets := g.descendants(first, end)
	related := make([]int, len(sets))
	for i, set := range sets {
		for k := range set.all() {
			related[i]++
			related[k]++
		}
	}
	for i, n := range related {
		g.nodes[first+i].alone = n == len(sets)-1
	}
	g.width = max(g.width, len(sets)-match(sets))
}

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) add(i int)    { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int) { b[i/64] &^= 1 << (i % 64) }

// pop takes the least number out of those from 64*w on, 64 of them, noNode if there is none.
func (b bitset) pop(w int) int {
	if b[w] == 0 {
		return noNode
	}
	i := w*64 + bits.TrailingZeros64(b[w])
	b[w] &= b[w] - 1
	return i
}

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// all yields the numbers in rising order; those taken out meanwhile may still come.
func (b bitset) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

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
		for _, next := range g.nodes[i].after {
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
	m := matching{right: right, left: make([]int, n), untried: newBitset(n)}
	for r := range m.left {
		m.left[r] = -1
	}
	size := 0
	for l := range right {
		for i := range m.untried {
			m.untried[i] = math.MaxUint64 // Beyond n there are no neighbours.
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
		// A deeper call visits vertices of the same word: it is read again each time.
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
