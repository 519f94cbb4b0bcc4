package planner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// BenchmarkStageReady is a stage event to its Plans, with ten applications of
// 200 stages on four nodes: the part of plan.latency_ms that is the engine's.
func BenchmarkStageReady(b *testing.B) {
	w, ids, subs := many(b, 100000)
	k := 0
	for b.Loop() {
		app, stage := k%10, k/10%stages
		if k/10 >= stages {
			b.Fatalf("more than %d iterations: use -benchtime=%dx", 10*stages, 10*stages)
		}
		w.now = w.now.Add(time.Millisecond)
		ev := ready(units.Seconds(k), stage, fmt.Sprint(stage), 3000, "1", "2", "3", "4")
		events := []api.Event{ev}
		if stage > 0 {
			events = []api.Event{done(units.Seconds(k), stage-1, 1), ev}
		}
		w.tell(ids[app], subs[app], events...)
		k++
	}
}

// BenchmarkTick is a tick of the engine with those ten applications, of which a stage runs, and whose deadlines seem
// infeasible: each tick looks whether they can be kept after all.
func BenchmarkTick(b *testing.B) {
	w, ids, subs := many(b, 500)
	for i, id := range ids {
		w.tell(id, subs[i], ready(1, 0, "0", 3000, "1", "2", "3", "4"))
	}
	for b.Loop() {
		w.now = w.now.Add(time.Microsecond)
		w.e.Step(w.now, planner.Tick{})
	}
}

const stages = 200

// many are ten applications of as many stages on four nodes.
func many(b *testing.B, deadline units.Seconds) (w *world, ids []api.AppID, subs []string) {
	w = newWorld(b, "a", "b", "c", "d")
	w.standby = nil
	p := chain("p")
	p.Stages = p.Stages[:0]
	for k := range stages {
		s := chain("p").Stages[0]
		s.ID, s.Job, s.Signature, s.Parents, s.Tasks = k, k, fmt.Sprint(k), []int{}, 8
		p.Stages = append(p.Stages, s)
	}
	w.put(p)
	for k := range 10 {
		r := registration("p", deadline)
		r.Submission = fmt.Sprint(k)
		ids, subs = append(ids, w.mustRegister(r).AppID), append(subs, r.Submission)
	}
	return w, ids, subs
}
