package dag

// Width returns the largest number of stages that can run side by side: the
// largest antichain of the graph.
func (g *Graph) Width() int { return g.width }

// widest looks for the largest antichain job by job: a stage of one job and a
// stage of another never run side by side. In a job it is, by Dilworth's
// theorem, the number of stages less the largest matching between stages and
// stages that depend on them, directly or not.
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

// descendants lists, for each stage of [first, end), the stages of that range
// that depend on it, all counted from first.
func (g *Graph) descendants(first, end int) [][]int {
	n := end - first
	lists := make([][]int, n)
	for i := range n {
		reached := make([]bool, n)
		for j := i; j < n; j++ {
			for _, next := range g.after[first+j] {
				if next < end && (j == i || reached[j]) {
					reached[next-first] = true
				}
			}
		}
		for j, yes := range reached {
			if yes {
				lists[i] = append(lists[i], j)
			}
		}
	}
	return lists
}

// match returns the size of the largest matching of a bipartite graph, given as
// the right neighbours of each left vertex, by augmenting paths.
func match(right [][]int) int {
	m := matching{right: right, left: make([]int, len(right)), tried: make([]int, len(right))}
	for r := range m.left {
		m.left[r], m.tried[r] = -1, -1
	}
	size := 0
	for l := range right {
		if m.augment(l, l) {
			size++
		}
	}
	return size
}

// matching is the state of match: left[r] is the partner of right vertex r or
// -1, tried[r] the last round that visited it.
type matching struct {
	right [][]int
	left  []int
	tried []int
}

func (m *matching) augment(l, round int) bool {
	for _, r := range m.right[l] {
		if m.tried[r] == round {
			continue
		}
		m.tried[r] = round
		if m.left[r] < 0 || m.augment(m.left[r], round) {
			m.left[r] = l
			return true
		}
	}
	return false
}
