package profiles

import (
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Matcher aligns a run with a profile while it goes on: NewMatcher makes one, and Restore gives it
// what it knew. It is not safe for concurrent use.
type Matcher struct {
	aligner *aligner
	// extra are the annotations that have come since, by id, and whose they are.
	extra map[int]api.ProfileStage
	whose map[int]int
	// open are the places whose stages run, ended those that a query has left when it ended.
	open, ended map[int]bool
	executions  map[int64]queryID
	order       order
	// past is the last place, counted from 1, of a stage that has come and stands for itself.
	past int
	// shared says that another Matcher has the same maps.
	shared bool
}

// Found is what a stage of a run was found to be.
type Found struct {
	Annotation api.ProfileStage
	// Sure is how likely that is, By what it was recognised by.
	Sure units.Fraction
	By   By
	// Changed are the stages of the run that had an annotation until now and have another one, or none (Of). This one is
	// by far the likelier owner of it, or they are of a query that turns out to be another.
	Changed []int
}

// NewMatcher returns a Matcher for a run of which no stage is ready yet.
func NewMatcher(p api.Profile) *Matcher {
	x := newIndex(&p)
	return &Matcher{aligner: newAligner(x), extra: map[int]api.ProfileStage{}, whose: map[int]int{}, open: map[int]bool{},
		ended: map[int]bool{}, executions: map[int64]queryID{}, order: newOrder(p, x)}
}

// Copy returns a Matcher that knows what m knows, and learns nothing of what that learns.
func (m *Matcher) Copy() *Matcher {
	m.shared = true
	c := *m
	return &c
}

// own gives m maps of its own before it changes them.
func (m *Matcher) own() {
	if !m.shared {
		return
	}
	m.shared = false
	m.aligner, m.extra, m.whose = m.aligner.clone(), maps.Clone(m.extra), maps.Clone(m.whose)
	m.open, m.ended, m.executions = maps.Clone(m.open), maps.Clone(m.ended), maps.Clone(m.executions)
	m.order.seen = slices.Clone(m.order.seen)
}

// Match returns the annotation of a stage that became ready, and remembers it. A further attempt of
// a stage, and one that repeats another, gets the annotation of the first. Every other stage gets the likeliest of
// those that are left. It is found by its place in a SQL query, its signature, its lineage, or by what it reads. It is
// found by how much it reads beside what the run has read so far; and by what would be left out. Earlier matches stand,
// unless one was doubtful and this stage is by far the likelier owner (Found.Changed). It returns false where the
// profile knows no such stage.
func (m *Matcher) Match(ready api.StageReady) (Found, bool) {
	if found, again := m.Of(ready.Stage); again {
		m.begin(ready.Stage)
		return found, true
	}
	if ready.Repeats != nil {
		if first, known := m.Of(*ready.Repeats); known {
			m.Restore(ready, first.Annotation.ID)
			return first, true
		}
	}
	m.own()
	m.note(&ready)
	s := seen(&ready)
	found, changed, is := m.aligner.match(&s)
	if !is {
		return Found{}, false
	}
	m.open[found.place] = true
	if len(changed) > 0 {
		m.comeAgain()
	} else {
		m.comeTo(found.place)
	}
	out := m.found(found)
	out.Changed = changed
	return out, true
}

// seen is what a stage of a run shows when it is ready.
func seen(r *api.StageReady) api.ProfileStage {
	return api.ProfileStage{ID: r.Stage, Job: r.Job, Name: r.Name, Signature: r.Signature, Lineage: r.Lineage,
		Query:   r.Query,
		Parents: r.Parents, Tasks: r.Tasks, Records: r.Records, Bytes: r.Bytes}
}

func (m *Matcher) found(x match) Found {
	return Found{Annotation: m.aligner.stages[x.place], Sure: x.sure, By: x.by}
}

// note remembers which query of the run an execution is.
func (m *Matcher) note(ready *api.StageReady) {
	if q := ready.Query; q != nil {
		m.executions[q.Execution] = queryOf(q)
	}
}

// begin notes that a stage of the run runs.
func (m *Matcher) begin(stage int) {
	if x, is := m.aligner.matched[stage]; is && !m.open[x.place] {
		m.own()
		m.open[x.place] = true
	}
}

// Ended notes that an attempt of a stage of the run has ended.
func (m *Matcher) Ended(stage int) {
	if x, is := m.aligner.matched[stage]; is && m.open[x.place] {
		m.own()
		delete(m.open, x.place)
	}
}

// QueryEnded notes that a SQL query of the run has ended, by Spark's number: what is left of it is
// gone.
func (m *Matcher) QueryEnded(execution int64) {
	if _, known := m.executions[execution]; !known {
		return
	}
	m.own()
	for _, i := range m.ofExecution(execution) {
		if !m.aligner.taken(i) {
			m.ended[i] = true
		}
	}
	delete(m.executions, execution)
}

// ofExecution are the places of the profile's query that the run's by Spark's number was found to be.
func (m *Matcher) ofExecution(execution int64) []int {
	mine, known := m.executions[execution]
	its, bound := m.aligner.who.queries[mine]
	if !known || !bound {
		return nil
	}
	return m.aligner.ofQuery[its]
}

// Leaves reports whether stages of the SQL query that Spark has by that number may still come.
func (m *Matcher) Leaves(execution int64) bool {
	its := m.ofExecution(execution)
	if len(its) == 0 {
		return false
	}
	coming := m.Remaining()
	return slices.ContainsFunc(its, func(i int) bool {
		_, comes := slices.BinarySearch(coming, m.aligner.stages[i].ID)
		return comes
	})
}

// Grow takes in an annotation that was not in the profile: of a stage of this run that nobody knew.
// Restore says whose it is, and no other stage gets it.
func (m *Matcher) Grow(annotation api.ProfileStage) {
	m.own()
	m.extra[annotation.ID] = annotation
}

// Restore remembers that a stage of the run has the annotation of that id: in a ledger that is read
// again, or because it has grown. An id that nobody knows changes nothing.
func (m *Matcher) Restore(ready api.StageReady, id int) {
	m.own()
	m.note(&ready)
	if _, extra := m.extra[id]; extra {
		m.whose[ready.Stage] = id
		return
	}
	i, known := m.aligner.place[id]
	if !known {
		return
	}
	s := seen(&ready)
	m.aligner.restore(&s, i)
	m.open[i] = true
	m.comeTo(i)
}

// comeTo notes that a stage of the run has place i, if that is sure.
func (m *Matcher) comeTo(i int) {
	if a := m.aligner; a.certain(i) {
		if !a.folded(i) {
			m.past = max(m.past, i+1)
		}
		m.order.come(a.leg[i], a.stages[i].Job)
	}
}

// comeAgain notes anew which stages of the run have come: one that was taken for another has come as what it is.
func (m *Matcher) comeAgain() {
	m.past, m.order = 0, orderOf(len(m.order.seen), m.order.prior)
	for _, stage := range slices.Sorted(maps.Keys(m.aligner.matched)) {
		m.comeTo(m.aligner.matched[stage].place)
	}
}

// Of returns the annotation of a stage of the run that has one.
func (m *Matcher) Of(stage int) (Found, bool) {
	if id, extra := m.whose[stage]; extra {
		return Found{Annotation: m.extra[id], Sure: 1}, true
	}
	if x, is := m.aligner.matched[stage]; is {
		return m.found(x), true
	}
	return Found{}, false
}

// Filling is how many stages are still to come, by id, of the annotations that stand for several of which some have
// come. None are once the run has come to a stage after them that stands for itself.
func (m *Matcher) Filling() map[int]int {
	a, left := m.aligner, map[int]int{}
	for _, i := range a.filling.lists {
		if i > 0 && i > m.past {
			left[a.stages[i-1].ID] = a.filling.room[i-1]
		}
	}
	return left
}

// Remaining returns the ids, in the profile, of the stages that may still come, ascending. A stage
// does not come any more when
//
//   - one of the run has matched it, or one that reads from it: what that reads is there already, so
//     the driver has skipped it;
//   - its query has ended;
//   - its query or job is likelier left out than still owed (order);
//   - its query or job has begun, the run, which is in order, has come to another one, and nothing that it
//     waits for runs.
//
// At the end of a run that fits there are none.
func (m *Matcher) Remaining() []int { return m.rest(true, m.evidence().comes) }

// Gone returns the ids, in the profile, of the stages that no stage of the run has matched and that
// do not come any more, ascending. A stage that comes after all is matched as any other.
func (m *Matcher) Gone() []int { return m.rest(false, m.evidence().comes) }

// leftBehind returns the ids, in the profile, of the stages that no stage of the run has matched and that would
// have come by now in a run in order.
func (m *Matcher) leftBehind() []int {
	return m.rest(false, func(i int) bool { return !m.passed(i) })
}

// rest returns the ids that nobody has matched of which it is true, or false, that they may come. may says of
// a place whether it may, whatever it waits for.
func (m *Matcher) rest(coming bool, may func(place int) bool) []int {
	a := m.aligner
	if a.coming.before(len(a.stages)) == 0 {
		return nil
	}
	over := make([]bool, len(a.stages))
	for i := len(over) - 1; i >= 0; i-- {
		if !a.taken(i) && !over[i] {
			continue
		}
		over[i] = true
		for _, parent := range a.parents[i] {
			over[parent] = true
		}
	}
	var ids []int
	awaited := make([]bool, len(a.stages))
	for i := range a.stages {
		for _, parent := range a.parents[i] {
			awaited[i] = awaited[i] || m.open[parent] || awaited[parent]
		}
		comes := !over[i] && !m.ended[i] && (awaited[i] || may(i))
		awaited[i] = awaited[i] && comes
		if !a.taken(i) && comes == coming {
			ids = append(ids, a.stages[i].ID)
		}
	}
	return ids
}
