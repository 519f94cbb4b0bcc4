package dag

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// backlog is what an application has left to do at a moment, by node: the work of its stages,
// and the branches that they fall into. A walk keeps one and tells it what happens, so that to
// divide the time takes as long as there are stages at work, not as the graph has stages.
//
// A head is a stage that nothing left comes before. Its branch is the head and what only it
// leads to. A cut, which is a barrier or a stage that is alone, comes after all before it and before all after it.
// Nodes behind the first cut that is left belong to whom that belongs to, and are looked at when the cut has ended.
type backlog struct {
	graph *Graph
	whole []float64 // The cores that each stage occupies.
	least float64   // Work that a stage counts for at least.
	work  float64   // That of all.

	// left is what is left of each stage, over where it has ended.
	left []float64
	// owner is the branch that a node belongs to, or shared, or noNode behind the cut. A branch has the
	// number of its first head.
	owner []int
	// skip is how many of the first nodes before this one are known to have ended.
	skip []int
	// follows is the work of a branch without its head, later what is left behind a node.
	follows, later []float64
	heads          bitset
	// cut is the first one that is left. There is none where something has begun that what is left comes
	// before, since that is done again: then all is looked at always.
	cut int
	odd bool

	// sums is a binary tree of sums with a leaf for each node: that of n is sums[2n] and
	// sums[2n+1]. So a sum that loses terms stays exact.
	sums []tally
	// stale are the nodes whose leaves are to be added up before the next look at the sum: many change between two.
	stale []int
	// unsubmitted is how many stages are, last the last of them, follower of those that wait.
	unsubmitted    int
	last, follower int

	noted  []entry // Entries to put back (share).
	dirty  bitset  // Room of release.
	branch []float64
}

// tally is what is left of some nodes. It has what they occupy, their work, the durations of those not submitted and of
// those that wait for an executor behind a stage, and the largest gaps of those not submitted.
type tally struct{ left, work, ahead, behind, gaps float64 }

func (t tally) plus(o tally) tally {
	return tally{t.left + o.left, t.work + o.work, t.ahead + o.ahead, t.behind + o.behind, max(t.gaps, o.gaps)}
}

// entry is a node's part of a backlog.
type entry struct {
	node, owner, skip int
	left, follows     float64
	head              bool
}

// over marks a stage that is not left, shared the owner of one that more than one branch leads to.
const (
	over   = -1
	shared = -2
)

// leastWork is the share of all work that a stage counts for at least: the divisions of a
// schedule stay finite.
const leastWork = 1e-6

// newBacklog is one of which nothing is left: put and await say what is, and settle ends that.
func newBacklog(g *Graph, p Params) *backlog {
	n := len(g.nodes)
	b := &backlog{graph: g, whole: g.whole[1], left: make([]float64, n), owner: make([]int, n), skip: make([]int, n),
		follows: make([]float64, n), later: make([]float64, n), heads: newBitset(n), dirty: newBitset(n), last: noNode,
		follower: noNode}
	if p.Executors == 1 {
		b.whole = g.whole[0]
	}
	size := 1
	for size < n {
		size *= 2
	}
	b.sums = make([]tally, 2*size)
	for i := range g.nodes {
		b.least += b.whole[i]
		if g.nodes[i].stage != nil {
			b.work += work(g.nodes[i].stage)
			b.left[i] = over
		}
	}
	b.least *= leastWork
	return b
}

// put says that a part of a stage is left.
func (b *backlog) put(i int, part float64) {
	b.left[i] = max(b.least, part*b.whole[i])
	b.leaf(i).left, b.leaf(i).work = b.left[i], part*work(b.graph.nodes[i].stage)
}

// await says that a stage is not submitted.
func (b *backlog) await(i int) {
	b.put(i, 1)
	n := &b.graph.nodes[i]
	b.leaf(i).ahead, b.leaf(i).gaps = float64(n.stage.Duration), float64(n.gaps)
	b.unsubmitted++
	b.last = max(b.last, i)
}

// wait says that what is left of a submitted stage, as a share of it, waits for an executor behind others.
func (b *backlog) wait(i int, part float64) {
	b.leaf(i).behind = part * float64(b.graph.nodes[i].stage.Duration)
}

// settle finds the branches.
func (b *backlog) settle() {
	all := 0.0
	for i := len(b.left) - 1; i >= 0; i-- {
		n := &b.graph.nodes[i]
		b.owner[i], b.later[i] = noNode, all
		all += max(0, b.left[i])
		begun := n.stage != nil && b.leaf(i).ahead == 0
		b.odd = b.odd || begun && slices.ContainsFunc(n.before, b.awaited)
	}
	b.reveal(0)
	b.noted = b.noted[:0]
	b.add()
}

// add adds up all leaves.
func (b *backlog) add() {
	for i := len(b.sums)/2 - 1; i > 0; i-- {
		b.sums[i] = b.sums[2*i].plus(b.sums[2*i+1])
	}
	b.stale = b.stale[:0]
}

// awaited reports whether a stage, or one that a barrier waits for, is left.
func (b *backlog) awaited(i int) bool {
	n := &b.graph.nodes[i]
	return n.stage != nil && b.left[i] != over || n.stage == nil && slices.ContainsFunc(n.before, b.awaited)
}

// reveal finds the owners of nodes from one on up to a cut.
func (b *backlog) reveal(from int) {
	for b.cut = from; b.cut < len(b.left); b.cut++ {
		i := b.cut
		if b.left[i] == over {
			continue
		}
		b.note(i)
		if b.own(i); b.left[i] != over && !b.odd && b.graph.nodes[i].cut() {
			if owner := b.owner[i]; owner != shared {
				b.note(owner)
				b.follows[owner] += b.later[i]
			}
			return
		}
	}
}

func (b *backlog) leaf(i int) *tally { return &b.sums[len(b.sums)/2+i] }

// sum says that the leaf of a node has changed.
func (b *backlog) sum(i int) {
	if n := len(b.stale); n == 0 || b.stale[n-1] != i {
		b.stale = append(b.stale, i)
	}
}

// all is what is left.
func (b *backlog) all() tally {
	if 8*len(b.stale) > len(b.left) {
		b.add()
	}
	for _, leaf := range b.stale {
		for i := (len(b.sums)/2 + leaf) / 2; i > 0; i /= 2 {
			b.sums[i] = b.sums[2*i].plus(b.sums[2*i+1])
		}
	}
	b.stale = b.stale[:0]
	return b.sums[1]
}

// overhead is Graph.Overhead of the stages that are not submitted.
func (b *backlog) overhead() units.Seconds {
	return units.Seconds(b.all().gaps) + b.graph.profile.Tail + b.graph.profile.Exit
}

// submit says that a stage is submitted, and waits.
func (b *backlog) submit(i int) {
	b.leaf(i).ahead, b.leaf(i).gaps = 0, 0
	b.wait(i, 1)
	b.sum(i)
	b.unsubmitted--
	for b.last >= 0 && b.leaf(b.last).ahead == 0 {
		b.last--
	}
}

// begin says that a stage has an executor.
func (b *backlog) begin(i int) {
	b.leaf(i).behind = 0
	b.progress(i, 1)
}

// progress says what is left of a stage that runs, as a share of it.
func (b *backlog) progress(i int, part float64) {
	was := b.left[i]
	b.put(i, part)
	b.sum(i)
	if owner := b.owner[i]; owner >= 0 && !b.heads.has(i) {
		b.follows[owner] += b.left[i] - was
	}
}

// finish says that a stage has ended.
func (b *backlog) finish(i int) {
	*b.leaf(i) = tally{}
	b.sum(i)
	b.end(i)
	b.noted = b.noted[:0]
}

// end takes a stage out, and what it alone held up becomes a head.
func (b *backlog) end(i int) {
	b.note(i)
	head := b.heads.has(i)
	if owner := b.owner[i]; owner >= 0 && !head {
		b.note(owner)
		b.follows[owner] -= b.left[i]
	}
	b.left[i] = over
	b.heads.remove(i)
	if i == b.cut {
		b.reveal(i + 1)
		return
	}
	if head && !b.odd && b.succeed(i) {
		return
	}
	for _, next := range b.graph.nodes[i].after {
		b.dirty.add(next)
	}
	for w := i / 64; w < len(b.dirty); w++ {
		for next := b.dirty.pop(w); next != noNode; next = b.dirty.pop(w) {
			if b.left[next] == over || b.owner[next] == noNode {
				continue
			}
			b.note(next)
			switch {
			case !b.own(next):
			case next != b.cut:
				for _, later := range b.graph.nodes[next].after {
					b.dirty.add(later)
				}
			case b.left[next] == over: // The barrier has fallen.
				b.reveal(next + 1)
			case b.owner[next] != shared:
				b.note(b.owner[next])
				b.follows[b.owner[next]] += b.later[next]
			}
		}
	}
}

// succeed has the only stage that a head which has ended leads to follow it at the head of its branch,
// all of which it leads to. It is false where there is no such stage.
func (b *backlog) succeed(i int) bool {
	next := noNode
	for _, n := range b.graph.nodes[i].after {
		switch {
		case b.left[n] == over:
		case next != noNode:
			return false
		default:
			next = n
		}
	}
	if next == noNode {
		return true // It leads to nothing.
	}
	n := &b.graph.nodes[next]
	if b.owner[next] != b.owner[i] || n.stage == nil || slices.ContainsFunc(n.before[b.skip[next]:], func(o int) bool {
		return b.left[o] != over
	}) {
		return false
	}
	branch := b.owner[i]
	b.note(next)
	b.note(branch)
	b.heads.add(next)
	b.follows[branch] = max(0, b.follows[branch]-b.left[next])
	return true
}

// own finds the owner of a node that is left, and says whether it is another one.
func (b *backlog) own(i int) bool {
	n, owner := &b.graph.nodes[i], i
	k := b.skip[i]
	for k < len(n.before) && b.left[n.before[k]] == over {
		k++
	}
	b.skip[i] = k
	if k < len(n.before) {
		owner = b.owner[n.before[k]]
		if slices.ContainsFunc(n.before[k:], func(o int) bool { return b.left[o] != over && b.owner[o] != owner }) {
			owner = shared
		}
	}
	if owner == b.owner[i] {
		return false
	}
	switch b.owner[i] = owner; {
	case owner == i && n.stage == nil:
		b.left[i] = over // No stage waits for a barrier that has nothing left before it.
	case owner == i:
		b.follows[i] = 0
		b.heads.add(i)
	case owner != shared:
		b.note(owner)
		b.follows[owner] += b.left[i]
	}
	return true
}

// note has undo put back what there is of a node.
func (b *backlog) note(i int) {
	b.noted = append(b.noted, entry{i, b.owner[i], b.skip[i], b.left[i], b.follows[i], b.heads.has(i)})
}

// undo puts back what has changed.
func (b *backlog) undo() {
	for _, e := range slices.Backward(b.noted) {
		i := e.node
		b.owner[i], b.skip[i], b.left[i], b.follows[i] = e.owner, e.skip, e.left, e.follows
		if e.head {
			b.heads.add(i)
		} else {
			b.heads.remove(i)
		}
	}
	b.noted = b.noted[:0]
}
