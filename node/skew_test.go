package node

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// A heavy task that comes last: 40 tasks of a core-second and one of 12, on two
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
			t.Errorf("heavy task at place %d: ended after %.2f s, want 40", at, got)
		}
	}
	if blind, pi := end(controller.LawPacer, 0, 40), end(controller.LawPI, 12, 40); blind < 41 || pi < 41 {
		t.Errorf("blind to the longest task it ended after %.2f s, the PI after %.2f s: the test is too easy", blind, pi)
	}
}

// What the driver told of the waiting tasks is taken before the profile's longest
// one: with a light rest the longest chain is that of the running tasks.
func TestTheHeaviestWaitingTaskBoundsTheChains(t *testing.T) {
	m := meter{mode: Work, read: 0.5}
	target := api.StageTarget{Weight: 20, Tasks: 8, Work: 20}
	longest := func(told float64) float64 {
		stage := PageStage{Running: 2, Heaviest: told}
		m.observe(&target, &stage, []PageTask{{Weight: 1.5}, {Weight: 1.5}}, 0)
		return m.chains(nil, &target, &record{running: 2}, 2, 12)[0]
	}
	if blind, told := longest(0), longest(3); blind < 13 || told > 12 || told < 10 {
		t.Errorf("the longest chain is %.1f where nothing is told, %.1f where the heaviest is 3", blind, told)
	}
}

// Finished tasks count as long as they are recent; a heavy one that runs is judged
// by all of them.
func TestThePaceFollowsTheStage(t *testing.T) {
	target := api.StageTarget{Weight: 100, Tasks: 100, Work: 100}
	part := func(weight float64) float64 {
		m := meter{mode: Work, read: 0.5}
		task := []PageTask{{Weight: weight, CPU: 0.2}}
		stage := PageStage{Running: 1}
		for range 40 {
			stage.Weight++
			stage.CPU++
			m.observe(&target, &stage, task, 0)
		}
		for range 20 {
			stage.Weight++
			stage.CPU += 0.5
			m.observe(&target, &stage, task, 0)
		}
		return m.done - stage.Weight
	}
	if got := part(1); got < 0.39 || got > 0.41 {
		t.Errorf("0.2 s at 2 a second count as %.3f, want 0.4", got)
	}
	if got, want := part(5), 0.2*62.0/52; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("of a heavy task they count as %.3f, want %.3f", got, want)
	}
}
