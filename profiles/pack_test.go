package profiles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// What is packed with all digits is what was there, and what keeps five of them is near it.
func TestAPackedProfileIsTheProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 7)
		if rapid.Bool().Draw(t, "taught") {
			p = profiles.Merge(p, p, profiles.Terms{Day: "2026-11-20"})
			p.Stages[0].Query = &api.QueryStage{Shape: "abc", Nth: 1, Exchange: -1}
		}
		for range rapid.IntRange(0, 2).Draw(t, "variants") {
			v := drawProfile(t, 4)
			v.Share = 0.25
			p.Variants = append(p.Variants, v)
		}
		for taught, equal := range map[bool]cmp.Option{false: cmp.Options{}, true: cmp.Options{about[float64](0.06), about[units.Seconds](0.06),
			about[units.Work](1e-3), about[units.Rate](1e-3), about[units.Fraction](0.06), about[int64](1e-3),
			cmpopts.IgnoreFields(api.Growth{}, "Size", "Work", "Sizes", "Common", "Works")}} {
			p := p
			p.Runs = map[bool]int{true: max(1, p.Runs)}[taught]
			packed, err := profiles.Pack(p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := profiles.Unpack(packed)
			if d := cmp.Diff(p, got, equal, cmpopts.EquateEmpty()); err != nil || d != "" {
				t.Fatalf("taught: %v, %v\n%s", taught, err, d)
			}
		}
	})
}

// about is what numbers that were rounded are equal by.
func about[T ~float64 | ~int64](part float64) cmp.Option {
	return cmp.Comparer(func(a, b T) bool { return math.Abs(float64(a-b)) <= part*math.Abs(float64(a)) })
}

// large is a run of so many stages on by times the input, as a cluster shows one: no number is round, no hash is like
// another, and each third stage is the result of a job.
func large(of uint64, stages int, by float64, noise *rand.Rand) api.Profile {
	r := rand.New(rand.NewPCG(of, 1))
	p := api.Profile{Schema: api.ProfileSchema, Name: fmt.Sprintf("etl %x", r.Uint64()), Owner: "ann", Runs: 1, Cores: 16,
		Head: units.Seconds(9 + noise.Float64()), Tail: units.Seconds(noise.Float64()), Exit: units.Seconds(noise.Float64())}
	for id := range stages {
		power := []float64{0, 1, 1, 1.3}[r.IntN(4)]
		work := 200 * r.Float64() * math.Pow(by, power) * (1 + 0.03*noise.NormFloat64())
		size := func(most float64) int64 { return 1 + int64(most*r.Float64()*by*(1+0.001*noise.NormFloat64())) }
		s := api.ProfileStage{ID: id, Job: id / 3, Name: fmt.Sprintf("%s at Etl.scala:%d", []string{"map", "join", "save"}[id%3], 10*id),
			Signature: fmt.Sprintf("%016x", r.Uint64()), Lineage: fmt.Sprintf("%016x", r.Uint64()), Tasks: 1 + r.IntN(400), Records: size(1e9), Bytes: size(1e11),
			CoreSeconds: units.Work(work), Duration: units.Seconds(0.01 + work/15*(1+0.1*noise.Float64())), Gap: units.Seconds(0.3 * noise.Float64()),
			LongestTask: units.Seconds(work / 50 * (1 + noise.Float64())), Parents: []int{}}
		switch id % 3 {
		case 0:
			s.TaskCost, s.FixedPart = units.Work(0.01+0.1*noise.Float64()), units.Fraction(0.5*noise.Float64())
			fallthrough
		case 1:
			s.RecordsWritten, s.BytesWritten = size(1e8), size(1e10)
		}
		if id%3 > 0 {
			s.Parents = []int{id - 1}
		}
		s.NominalRate = units.Rate(float64(s.Records) / work)
		p.Stages = append(p.Stages, s)
	}
	return p
}

// taughtBy is what so many runs have taught, each on another input.
func taughtBy(of uint64, runs int) api.Profile {
	noise := rand.New(rand.NewPCG(of, 2))
	p := large(of, 30, 1, noise)
	for range runs - 1 {
		p = profiles.Merge(p, large(of, 30, 0.7+0.6*noise.Float64(), noise), profiles.Terms{})
	}
	return p
}

// A version of 30 stages that twelve runs have taught is small.
func TestAVersionIsSmall(t *testing.T) {
	for of := range uint64(9) {
		p := taughtBy(of, 12)
		body, err := profiles.Pack(p)
		if n := len(body); err != nil || n > 2500 || len(p.Habit.Stages) != 30 {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}

// FuzzUnpack: what is no packed profile is refused, whatever it is.
func FuzzUnpack(f *testing.F) {
	packed, err := profiles.Pack(taughtBy(1, 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add(packed[:len(packed)/2])
	f.Fuzz(func(t *testing.T, body []byte) {
		if p, err := profiles.Unpack(body); err == nil && p.Validate() != nil {
			t.Error("an invalid profile was unpacked")
		}
	})
}

// A large profile that nobody has taught keeps every digit, too.
func TestALargeProfileIsPackedWhole(t *testing.T) {
	p := large(7, 2000, 1, rand.New(rand.NewPCG(3, 3)))
	p.Runs = 0
	packed, err := profiles.Pack(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := profiles.Unpack(packed)
	if d := cmp.Diff(p, got, cmpopts.EquateEmpty()); err != nil || d != "" {
		t.Fatalf("%v\n%s", err, d)
	}
}
