package dag

import "slices"

// listSchedule says which stages of a schedule have executors when there may be fewer of
// these than branches: a list schedule. A stage keeps its executor to its end. An executor that comes free goes to
// stages that wait, in order of id (that of submission: so do drivers). Only then it goes to stages that have become
// ready by that end: these come after their gap.
type listSchedule struct {
	// most is how many stages can have executors, 0 for any number.
	most int
	// taken are nodes, in rising order.
	taken   []int
	waiting bitset
}

// begin has a new schedule begin with most executors, which those nodes have.
func (q *listSchedule) begin(most int, taken []int) {
	q.most, q.taken = most, q.taken[:0]
	clear(q.waiting)
	if most > 0 {
		for _, i := range taken {
			q.taken = insert(q.taken, i)
		}
	}
}

// admit returns those of the stages that nothing is left before, in rising order,
// that have executors. Stages that are ready no more have ended.
func (q *listSchedule) admit(ready bitset) []int {
	if q.most <= 0 {
		q.taken = slices.AppendSeq(q.taken[:0], ready.all())
		return q.taken
	}
	q.taken = slices.DeleteFunc(q.taken, func(i int) bool { return !ready.has(i) })
	q.fill()
	q.waiting = append(q.waiting[:0], ready...)
	for _, i := range q.taken {
		q.waiting.remove(i)
	}
	q.fill()
	return q.taken
}

// fill gives free executors to stages that wait.
func (q *listSchedule) fill() {
	for w := 0; w < len(q.waiting) && len(q.taken) < q.most; {
		if i := q.waiting.pop(w); i != noNode {
			q.taken = insert(q.taken, i)
		} else {
			w++
		}
	}
}

// insert puts i among nodes in rising order.
func insert(nodes []int, i int) []int {
	at, _ := slices.BinarySearch(nodes, i)
	return slices.Insert(nodes, at, i)
}
