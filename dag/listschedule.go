package dag

import "slices"

// listSchedule says which stages of a schedule have executors when there may be fewer of
// these than branches: a list schedule. A stage keeps its executor to its end. One
// that comes free goes to those that wait, in order of id (that of submission: so do
// drivers), and only then to stages that have become ready by that end: these come
// after their gap.
type listSchedule struct {
	// most is how many stages can have executors, 0 for any number.
	most int
	// taken and waiting are places, in rising order.
	taken, waiting []int
}

func newListSchedule(g *Graph, p Params, m Moment) *listSchedule {
	q := &listSchedule{most: p.Executors}
	if q.most > 0 {
		for _, id := range m.Seated {
			if i, ok := g.index[id]; ok {
				q.taken = insert(q.taken, i)
			}
		}
	}
	return q
}

// admit returns those of the stages that nothing is left before, in rising order,
// that have executors. Those that are ready no more have ended.
func (q *listSchedule) admit(ready []int) []int {
	if q.most <= 0 {
		return ready
	}
	q.taken = slices.DeleteFunc(q.taken, func(i int) bool { return !contains(ready, i) })
	q.fill()
	if q.waiting == nil && len(ready) > len(q.taken) {
		q.waiting = make([]int, 0, len(ready))
	}
	for _, i := range ready {
		if !contains(q.taken, i) && !contains(q.waiting, i) {
			q.waiting = insert(q.waiting, i)
		}
	}
	q.fill()
	return q.taken
}

// fill gives free executors to stages that wait.
func (q *listSchedule) fill() {
	for len(q.waiting) > 0 && len(q.taken) < q.most {
		q.taken = insert(q.taken, q.waiting[0])
		q.waiting = q.waiting[1:]
	}
}

// contains looks for i among places in rising order.
func contains(places []int, i int) bool {
	_, found := slices.BinarySearch(places, i)
	return found
}

// insert puts i among places in rising order.
func insert(places []int, i int) []int {
	at, _ := slices.BinarySearch(places, i)
	return slices.Insert(places, at, i)
}
