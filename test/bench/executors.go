package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// stragglers is how many stages with a straggler are drawn.
const stragglers = 2000

// executorRows are about the executors that stages have: in the rules of the bindings, who has those that run
// nothing or hang; on real Spark, how many run tasks of a stage where each has one core of the node's.
func executorRows() []row {
	return []row{
		{name: "stragglers", minutes: 0.1, measure: straggling},
		{name: "slots", minutes: 1.5, spark: true, measure: slots},
	}
}

// slots runs an application with executors of one core, without and with a deadline.
func slots(t testing.TB, add adder) {
	s := realenv.StartUp(t)
	var used []float64
	deadline := []string(nil)
	for range 2 {
		run := s.Submit(append(append([]string{"--conf", "spark.executor.cores=1"}, deadline...),
			"test/e2e/testdata/chain.py")...)
		if code := run.Wait(liveLimit); code != 0 {
			t.Fatalf("exit %d: %s", code, run.LastWords())
		}
		used = append(used, float64(s.Log(ended(s).ID).AtOnce()))
		deadline, _ = deadlineFlags(liveSlack * run.Took().Seconds())
	}
	add("slots.used", least(used), "slots")
}

// straggling counts executors that run nothing while a stage waits beside another one that has nothing to
// launch, and one task that runs: the most of any such pair of stages, once driver.Rest has passed.
func straggling(t testing.TB, add adder) {
	idle := make([]float64, 0, stragglers)
	for seed := range uint64(stragglers) {
		idle = append(idle, float64(idleBeside(t, rand.New(rand.NewPCG(seed, 0)))))
	}
	m := benchline.Mean(idle)
	m.Value, m.Each = m.Spread[1], nil
	add("straggler.idle_executors", m, "executors")
	waits := make([]float64, 0, stragglers)
	for seed := range uint64(stragglers) {
		waits = append(waits, waitBeside(rand.New(rand.NewPCG(seed, 1))))
	}
	m = benchline.Mean(waits)
	m.Value, m.Each = m.Spread[1], nil
	add("zombie.wait_s.max", m, "s")
}

// hangs is how long zombies hang.
const hangs = 10 * time.Minute

// waitBeside has a stage fail with tasks that hang in some slots of each executor, and returns for how many seconds
// a free slot waits until the next stage may use it, watched once a second.
func waitBeside(r *rand.Rand) float64 {
	const slots = 16
	var b driver.Bindings
	d := api.Directive{Epoch: 1, Gated: true}
	for node := range 1 + r.IntN(8) {
		id := api.ExecutorID(fmt.Sprint(node))
		d.Executors = append(d.Executors, api.DirectiveExecutor{ID: id, Node: fmt.Sprint(node), Cores: slots})
		b.ExecutorUp(id, fmt.Sprint(node))
	}
	b.Follow(&d)
	first, second, hanging := api.StageKey{Stage: 0}, api.StageKey{Stage: 1}, 0
	b.Ready(first, 0, driver.Alike(slots*len(d.Executors)), nil, false, "")
	for _, x := range d.Executors {
		for range 1 + r.IntN(slots-1) {
			b.Launched(first, hanging, x.ID)
			hanging++
		}
	}
	b.Retire(first)
	b.Ready(second, 0, driver.Alike(slots*len(d.Executors)), nil, false, "")
	waits := func(x api.DirectiveExecutor) bool { return !b.Admits(second, x.ID, false) }
	now := units.Instant(0)
	for ; slices.ContainsFunc(d.Executors, waits) && now < units.Instant(hangs); now = now.Add(time.Second) {
		b.Watch(now)
	}
	return float64(now) / float64(time.Second)
}

// idleBeside has the tasks of a stage end in a random order until one is left, with another stage there that
// waits or comes, and returns how many executors run nothing though they were offered to that.
func idleBeside(t testing.TB, r *rand.Rand) (idle int) {
	var b driver.Bindings
	d := api.Directive{Epoch: 1, Gated: true}
	perStage := 1 + r.IntN(4)
	for node := range 1 + r.IntN(8) {
		for range perStage {
			id := api.ExecutorID(fmt.Sprint(len(d.Executors) + 1))
			d.Executors = append(d.Executors,
				api.DirectiveExecutor{ID: id, Node: fmt.Sprint(node), Cores: 1, PerStage: perStage})
			b.ExecutorUp(id, fmt.Sprint(node))
		}
	}
	b.Follow(&d)
	first, second := api.StageKey{Stage: 0}, api.StageKey{Stage: 1}
	busy := map[api.ExecutorID]api.StageKey{}
	offer := func(key api.StageKey, next *int, tasks int) {
		for _, x := range d.Executors {
			if _, runs := busy[x.ID]; !runs && *next < tasks && b.Admits(key, x.ID, false) {
				b.Launched(key, *next, x.ID)
				busy[x.ID] = key
				*next++
			}
		}
	}
	tasks, launched, waits := len(d.Executors), 0, 0
	b.Ready(first, 0, driver.Alike(tasks), nil, false, "")
	offer(first, &launched, tasks)
	if launched != tasks {
		t.Fatalf("%d of %d tasks were launched", launched, tasks)
	}
	arrives, retires := r.IntN(tasks), r.IntN(3) == 0
	for i, k := range r.Perm(tasks) {
		if i == arrives {
			b.Ready(second, 1, driver.Alike(2*tasks), nil, false, "")
		}
		if i == arrives && retires {
			b.Retire(first)
		}
		if i < tasks-1 {
			delete(busy, d.Executors[k].ID)
			b.Ended(first, d.Executors[k].ID)
		}
	}
	for _, at := range []units.Instant{0, units.Instant(driver.Rest), units.Instant(driver.Rest + time.Second)} {
		b.Watch(at)
		offer(second, &waits, 2*tasks)
	}
	return tasks - len(busy)
}

// least is the least of what was counted, with the spread.
func least(counts []float64) benchline.Measured {
	m := benchline.Mean(counts)
	m.Value = m.Spread[0]
	return m
}
