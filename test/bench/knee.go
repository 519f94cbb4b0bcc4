package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

const (
	// kneeSizes heaps from kneeLeast on, each kneeRatio times the one before, are swept; the knee is the smallest with
	// kneeWork times the least work at most.
	kneeSizes, kneeLeast = 8, 544 * units.MiB
	kneeRatio, kneeWork  = 1.19, 1.25
	// kneeRuns bounds the runs of a search.
	kneeRuns = 12
)

// cachedOnes are workloads that keep rows as objects on the heap: name and rows.
var cachedOnes = []struct {
	kind string
	rows int
}{{"text", 2_600_000}, {"arrays", 1_100_000}}

// heldRows measure what the kernel protects, and heaps that find their size.
func heldRows() []row {
	return []row{
		experiments(row{name: "shaped", minutes: 10}, 5, "shaped"),
		experiments(row{name: "knee-sim", minutes: 0.1}, 5, "knee"),
		{name: "knee", minutes: 20, spark: true, measure: kneeLive},
		{name: "protect", minutes: 5, spark: true, measure: protected},
	}
}

// kneeLive searches the knee of two cached workloads by runs with spark.pacer.memory.heap=auto, and by a sweep.
func kneeLive(t testing.TB, add adder) {
	var steps, runs []float64
	for _, c := range cachedOnes {
		part(t, "knee "+c.kind, func(t testing.TB) {
			k := kneeOf{t: t, s: realenv.StartUp(t), kind: c.kind, rows: c.rows}
			swept := k.sweep()
			found, n := k.search()
			steps = append(steps, math.Abs(math.Round(math.Log(float64(found)/float64(swept))/math.Log(kneeRatio))))
			runs = append(runs, float64(n))
			t.Logf("knee %s: the sweep finds %v, %d runs find %v", c.kind, swept, n, found)
			k.s.Up.Stop()
		})
	}
	add("knee.live.steps", benchline.Quantile(steps, 1), "steps")
	add("knee.live.runs", benchline.Quantile(runs, 1), "runs")
}

type kneeOf struct {
	t    testing.TB
	s    *realenv.System
	kind string
	rows int
	said string // What pacer profiles knee printed last.
}

// run is one run with that heap, and what it worked; ok is false where it has failed.
func (k *kneeOf) run(profile string, heap units.Bytes, flags ...string) (app api.AppDetail, ok bool) {
	flags = append(flags, "--pacer-profile", profile, "--conf", fmt.Sprintf("spark.executor.memory=%dm", heap/units.MiB),
		// What is kept takes nearly all of the heap, so that one that is too small is collected all the time.
		"--conf", "spark.memory.fraction=0.9", "--conf", "spark.memory.storageFraction=0.9",
		"test/bench/testdata/cached.py", k.kind, strconv.Itoa(k.rows), "12")
	run := k.s.Submit(flags...)
	code := run.Wait(runLimit)
	app = ended(k.s)
	k.t.Logf("%s with %v: exit %d, %.1f core-seconds in %.1f s", profile, heap, code, float64(app.CoreSeconds),
		run.Took().Seconds())
	return app, code == 0
}

// sweep is the smallest heap whose work is close to the least.
func (k *kneeOf) sweep() (knee units.Bytes) {
	work, least := map[units.Bytes]float64{}, math.Inf(1)
	var sizes []units.Bytes
	for i := range kneeSizes {
		size := units.Bytes(float64(kneeLeast)*math.Pow(kneeRatio, float64(i))) / units.MiB * units.MiB
		sizes = append(sizes, size)
		if app, ok := k.run(fmt.Sprintf("swept-%d", i), size); ok {
			work[size] = float64(app.CoreSeconds)
			least = min(least, work[size])
		}
	}
	knee = sizes[len(sizes)-1]
	for i := len(sizes) - 1; i >= 0 && work[sizes[i]] > 0 && work[sizes[i]] <= kneeWork*least; i-- {
		knee = sizes[i]
	}
	return knee
}

// search runs the workload until its knee is found.
func (k *kneeOf) search() (found units.Bytes, runs int) {
	first := units.Bytes(float64(kneeLeast)*math.Pow(kneeRatio, kneeSizes-1)) / units.MiB * units.MiB
	for runs = 1; runs <= kneeRuns; runs++ {
		k.run("searched", first, "--conf", "spark.pacer.memory.heap=auto")
		said := k.says()
		k.t.Logf("%s; %s", said.Advice, said.Sure)
		if found = said.Good; said.Done {
			return found, runs
		}
	}
	k.t.Fatalf("knee %s: no end after %d runs", k.kind, kneeRuns)
	return found, runs
}

// says is what pacer profiles knee says of the search once it knows of the newest run: that is stored after its end.
func (k *kneeOf) says() (said api.Knee) {
	k.s.Await("what is known of the run's heap", 20*time.Second, func() bool {
		code, out := k.s.Pacer("profiles", "knee", "searched", "-o", "json")
		if code != 0 || out == k.said {
			return false
		}
		k.said = out
		return true
	})
	if err := json.Unmarshal([]byte(k.said), &said); err != nil {
		k.t.Fatalf("profiles knee: %v: %s", err, k.said)
	}
	return said
}
