package node

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// A large task that comes last: 40 tasks of a core-second and one of 12, on two
// slots in 40 s. All cores would need 32 s. The law that is told how long the
// longest task is predicted to take leaves it time, wherever it comes; without
// that it is late.
func TestTheLastTaskIsInTime(t *testing.T) {
	end := func(law string, longest units.Seconds, at int) float64 {
		cfg := testConfig(2)
		cfg.Controller.Law = law
		w := newWorld(t, cfg)
		a := planApp(appA, 2, ids("1"))
		w.ready(1, a)
		x := w.exec(Key{appA, "1"})
		s := x.submit(0, 41, 1)
		*x.queue[at] = simTask{stage: s, weight: 12, cpu: 12, records: 12000}
		tg := target(0, "1", 41, 52, 40*time.Second, 1.3)
		tg.Weight, tg.Records, tg.LongestTask = 52, 52000, longest
		a.Stages = append(a.Stages, tg)
		begin := w.now
		w.apply(plan(2, a))
		for !x.idle() {
			w.tick(t, w.e)
		}
		return s.end.Sub(begin).Seconds()
	}
	for _, at := range []int{0, 10, 30, 40} {
		if got := end(controller.LawPacer, 12, at); got > 40.5 || got < 39 {
			t.Errorf("large task at place %d: ended after %.2f s, want 40", at, got)
		}
	}
	if blind, pi := end(controller.LawPacer, 0, 40), end(controller.LawPI, 12, 40); blind < 41 || pi < 41 {
		t.Errorf("blind to the longest task it ended after %.2f s, the PI after %.2f s: the test is too easy", blind, pi)
	}
}
