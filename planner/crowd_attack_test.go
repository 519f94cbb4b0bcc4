package planner_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// crowd has an attached application with so many executors, of which all say that they are on node a.
func (w *world) crowd(name string, executors int) api.AppID {
	w.Helper()
	r := attachedTo(name, 1e6)
	id := w.register(r).AppID
	var numbers []int
	for i := range executors {
		numbers = append(numbers, i+1)
	}
	w.step(w.numbered(id, r.Submission, numbers...))
	return id
}

// held is how many executors of each application node a is to hold, by its Plan, and how many by what the planner knows.
func (w *world) held() (plan map[api.AppID]int, all, known int) {
	plan = map[api.AppID]int{}
	for _, p := range w.plans["a"].Apps {
		plan[p.ID], all = len(p.Executors), all+len(p.Executors)
	}
	for _, here := range w.e.View().Allocations("a") {
		known += len(here.Executors)
	}
	return plan, all, known
}

// However many applications name executors on a node, it is to hold no more than it can tell of, and each application
// has its part of them, whoever came first.
func TestAttackManyApplicationsNameExecutorsOnOneNode(t *testing.T) {
	w := attachedWorld(t)
	w.standby = nil
	for i := range 9 {
		w.crowd(fmt.Sprint("mallory-", i), api.MostOnHost)
	}
	ann := w.crowd("ann", 40)
	w.crowd("late", api.MostOnHost)
	for range 3 {
		plan, all, known := w.held()
		body, err := json.Marshal(w.plans["a"])
		if err != nil || all > api.MostExecutors || all < api.MostExecutors-20 || known != all || len(body) > 8<<20 {
			t.Fatalf("%d executors in %d bytes, %d known: %v", all, len(body), known, err)
		}
		if plan[ann] != 40 {
			t.Errorf("ann has %d of her 40 executors: %v", plan[ann], plan)
		}
		for id, n := range plan {
			if id != ann && (n < 405 || n > 405+10) {
				t.Errorf("%s has %d: %v", id, n, plan)
			}
		}
		before, attached := w.published, len(w.heard("executor attached"))
		w.live(5*time.Second, ann)
		if moved := len(w.heard("executor attached")) - attached; w.published > before+4 || moved > 0 {
			t.Errorf("%d Plans in 5 s in which nothing happens, %d executors are elsewhere", w.published-before, moved)
		}
	}
}

// However many executors a driver tells of at once, nodes and executors are walked over once for all of them.
func TestAttackManyExecutorsInOneBatch(t *testing.T) {
	w := attachedWorld(t)
	w.standby = nil
	r := attachedTo("etl", 1e6)
	id := w.register(r).AppID
	var numbers []int
	for i := range api.MostEvents / 2 {
		numbers = append(numbers, i+1)
	}
	batch := w.numbered(id, r.Submission, numbers...)
	for i := range numbers[:len(numbers)-1] {
		w.events[id]++
		e := goneFrom(api.ExecutorID(fmt.Sprint(i + 1)))
		e.Seq = w.events[id]
		batch.Batch.Events = append(batch.Batch.Events, e)
	}
	w.step(batch)
	if walks := w.e.Walks(); walks == 0 || walks > 4 {
		t.Errorf("%d walks", walks)
	}
	if plan, all, _ := w.held(); all != 1 || plan[id] != 1 {
		t.Errorf("node a holds %v", plan)
	}
}

// A node that says what it has said before has nobody's executors looked at, however many applications there are.
func TestAttackStatusesBesideManyApplications(t *testing.T) {
	w := attachedWorld(t)
	w.standby = nil
	var ids []api.AppID
	for i := range 20 {
		ids = append(ids, w.crowd(fmt.Sprint("etl-", i), 3))
	}
	s := func(unpaced string) planner.Status {
		s := w.status("a")
		s.Executors = []api.ExecutorStatus{{App: ids[7], ID: "2", State: api.ExecutorRunning, Unpaced: unpaced, CPU: units.Work(s.Seq)}}
		return planner.Status{Status: &s}
	}
	for _, c := range []struct {
		unpaced string
		walks   bool
	}{{"", false}, {"gVisor", true}, {"gVisor", false}, {"", true}, {"", false}} {
		walks := uint64(0)
		for range 10 {
			w.step(s(c.unpaced))
			walks += w.e.Walks()
		}
		if (walks > 0) != c.walks || walks > 2*20+30 {
			t.Errorf("%d walks of a node that says %q, walks: %v", walks, c.unpaced, c.walks)
		}
	}
}
