package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/deciders/versions"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/units"
)

// Of the profiles that are kept: how many names, with how many versions and stages each, taught by how many runs.
const (
	keptNames    = 10_000
	keptVersions = 5
	keptStages   = 30
	keptRuns     = 12
)

// versionRows are about versions of profiles, and what they say of other inputs.
func versionRows() []row {
	return []row{{name: "versions", minutes: 2, measure: versionsKept}, {name: "growth", minutes: 2, measure: growthFound}}
}

// taught is a profile of keptStages, as keptRuns runs on different inputs have taught it: no number is round, and no
// signature is like another.
func taught(seed uint64) api.Profile {
	noise := rand.New(rand.NewPCG(seed, 2))
	run := func(by float64) api.Profile {
		r := rand.New(rand.NewPCG(seed, 1))
		p := api.Profile{Schema: api.ProfileSchema, Name: fmt.Sprintf("etl %x", r.Uint64()), Runs: 1, Cores: 16,
			Head: units.Seconds(9 + noise.Float64()), Tail: units.Seconds(noise.Float64()), Exit: units.Seconds(noise.Float64())}
		size := func(most float64) int64 { return 1 + int64(most*r.Float64()*by) }
		for id := range keptStages {
			work := 200 * r.Float64() * math.Pow(by, 2*r.Float64()) * (1 + 0.03*noise.NormFloat64())
			s := api.ProfileStage{ID: id, Job: id / 3, Name: fmt.Sprintf("save at Etl.scala:%d", 10*id),
				Signature: fmt.Sprintf("%016x", r.Uint64()), Lineage: fmt.Sprintf("%016x", r.Uint64()),
				Tasks: 1 + r.IntN(400), Records: size(1e9), Bytes: size(1e11),
				CoreSeconds: units.Work(work), Duration: units.Seconds(0.01 + work/15*(1+0.1*noise.Float64())),
				Gap:         units.Seconds(0.3 * noise.Float64()),
				LongestTask: units.Seconds(work / 50 * (1 + noise.Float64())), NominalRate: 1, Parents: []int{}}
			if id%3 < 2 {
				s.RecordsWritten, s.BytesWritten = size(1e8), size(1e10)
			}
			if id%3 == 0 {
				s.TaskCost, s.FixedPart = units.Work(0.01+0.1*noise.Float64()), units.Fraction(0.5*noise.Float64())
			} else {
				s.Parents = []int{id - 1}
			}
			s.NominalRate = units.Rate(float64(s.Records) / work)
			p.Stages = append(p.Stages, s)
		}
		return p
	}
	p := run(1)
	for range keptRuns - 1 {
		p = profiles.Merge(p, run(0.7+0.6*noise.Float64()), profiles.Terms{})
	}
	return p
}

// versionsKept measures how many bytes a version takes, and the memory of a planner that goes on from a store of
// keptNames profiles with keptVersions versions each.
func versionsKept(t testing.TB, add adder) {
	var bytes []float64
	for seed := range uint64(100) {
		body, err := profiles.Pack(taught(seed))
		if err != nil {
			t.Fatal(err)
		}
		bytes = append(bytes, float64(len(body)))
	}
	add("profiles.body_bytes", benchline.Median(bytes), "B")
	dir := t.TempDir()
	if err := os.Setenv(versionsDir, dir); err != nil {
		t.Fatal(err)
	}
	fillVersions(t, filepath.Join(dir, "planner.db"))
	add.all(alone(t, versionsChild))
}

const versionsDir = "PACER_BENCH_VERSIONS"

// fillVersions makes a store of profiles with versions, each as large as another one.
func fillVersions(t testing.TB, path string) {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.New(ledger.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var bodies [50]api.Profile
	var packed [50][]byte
	for seed := range bodies {
		bodies[seed] = taught(uint64(seed))
		if packed[seed], err = profiles.Pack(bodies[seed]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range keptNames {
		body := bodies[i%len(bodies)]
		body.Name = fmt.Sprintf("etl %d", i)
		for v := range keptVersions {
			body.Runs += v
			by := api.AppID(fmt.Sprintf("app-%d-%d", i, v))
			saved := ledger.ProfileSaved{Body: body, By: by, How: "merged", Packed: packed[i%len(packed)]}
			if err := l.Record(saved); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Apply(l.Close().Pairs); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// versionsRead is what alone runs for versionsKept.
func versionsRead(t testing.TB) []figure {
	daemon.LimitPlannerMemory() // As the planner's daemon does.
	s, err := store.Open(filepath.Join(os.Getenv(versionsDir), "planner.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var pairs []api.Pair
	for _, prefix := range ledger.Prefixes() {
		some, err := s.Load(prefix)
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, some...)
	}
	l, err := ledger.New(ledger.Config{}, pairs)
	if err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory() // As the planner's daemon does.
	all := l.View().Profiles()
	for _, p := range all {
		if n := len(versions.Of(p).Versions); n != keptVersions {
			t.Fatalf("%s has %d versions", p.Body.Name, n)
		}
	}
	if len(all) != keptNames {
		t.Fatalf("there are %d profiles", len(all))
	}
	rss := residentMiB(t, os.Getpid())
	runtime.KeepAlive(l)
	return []figure{{"profiles.rss_mib", benchline.One(rss), "MiB"}}
}

// growthFound measures how far the work of stages at three times the input is from what runs at half of it, and at
// all of it, say, in the simulator.
func growthFound(t testing.TB, add adder) {
	add("growth.error_pct.median", benchline.Median(growthErrors(t, 0.01)), "%")
	add("growth.error_pct.noisy", benchline.Median(growthErrors(t, 0.02)), "%")
}

// growthErrors are those of each stage where its work differs by that part from run to run.
func growthErrors(t testing.TB, spread float64) (off []float64) {
	for seed := range uint64(100) {
		run := func(by float64) api.Profile {
			r := rand.New(rand.NewPCG(seed, 5))
			a := plant.App{Name: "grows", Head: 3, Tail: 0.3}
			for i := range 5 {
				work, size := 20+180*r.Float64(), 1e5+1e6*r.Float64()
				noise := rand.New(rand.NewPCG(seed, uint64(100*by)+uint64(i))).NormFloat64()
				s := plant.Stage{Name: fmt.Sprint("s", i), Tasks: 64, Records: int64(size * by),
					Written: int64(size * by / 2), Gap: 0.1,
					Work: units.Work(work * math.Pow(by, 2*r.Float64()) * (1 + spread*noise))}
				if i > 0 {
					s.Parents = []int{i - 1}
				}
				a.Stages = append(a.Stages, s)
			}
			p, _, err := sim.Record(paceWorld(seed), a)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		known := profiles.Merge(run(0.5), run(1), profiles.Terms{})
		truth := run(3)
		for i := range truth.Stages {
			by := float64(truth.Stages[i].Records) / float64(known.Stages[i].Records)
			said, _ := profiles.Scaled(known, by)
			off = append(off, 100*math.Abs(float64(said.Stages[i].CoreSeconds/truth.Stages[i].CoreSeconds)-1))
		}
	}
	return off
}
