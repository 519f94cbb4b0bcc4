package planner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

func BenchmarkWide(b *testing.B) {
	const nodes = 40
	const stages = 3000
	var names []string
	for i := range nodes {
		names = append(names, fmt.Sprintf("n%05d", i))
	}
	w := newWorldOf(b, planner.Default(), names...)
	p := chain("p")
	p.Stages = p.Stages[:0]
	for k := range 30 {
		s := chain("p").Stages[0]
		s.ID, s.Job, s.Signature, s.Parents, s.Tasks = k, k, fmt.Sprint(k), []int{}, 160
		p.Stages = append(p.Stages, s)
	}
	w.put(p)
	var ids []api.AppID
	var subs []string
	var ex []api.ExecutorID
	for i := range nodes {
		ex = append(ex, api.ExecutorID(fmt.Sprint(i+1)))
	}
	var text []byte
	for k := range 4 {
		r := registration("p", 100000)
		r.Submission = fmt.Sprint(k)
		ids, subs = append(ids, w.mustRegister(r).AppID), append(subs, r.Submission)
	}
	k := 0
	b.ReportAllocs()
	for b.Loop() {
		app, stage := k%4, k/4
		if k/4 >= 30 {
			b.Fatalf("use -benchtime=%dx", 120)
		}
		w.now = w.now.Add(time.Millisecond)
		ev := ready(units.Seconds(k), stage, fmt.Sprint(stage), 3000, ex...)
		events := []api.Event{ev}
		if stage > 0 {
			events = []api.Event{done(units.Seconds(k), stage-1, 1), ev}
		}
		w.tell(ids[app], subs[app], events...)
		for _, n := range names {
			p := w.plans[n]
			text, _ = p.AppendJSON(text[:0])
		}
		k++
	}
}
