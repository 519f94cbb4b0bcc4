package profiles_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// learn folds runs into p, one after the other.
func learn(t *testing.T, p api.Profile, runs ...api.Profile) api.Profile {
	t.Helper()
	for _, run := range runs {
		var err error
		if p, _, err = profiles.Learn(p, run, profiles.Terms{}); err != nil {
			t.Fatal(err)
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// variants says of each variant what it is of, its runs and its share.
func variants(p api.Profile) string {
	var all []string
	for _, v := range p.Split() {
		signatures := ""
		for _, s := range v.Stages {
			signatures += s.Signature
		}
		all = append(all, fmt.Sprintf("%s %d %.2f", signatures, v.Runs, float64(v.Share)))
	}
	return strings.Join(all, ", ")
}

func TestARunBelongsToTheVariantThatHasMostOfItsWork(t *testing.T) {
	day, report := jobs("a", "b", "c", "d", "e"), jobs("a", "v", "w", "x")
	for _, c := range []struct {
		name string
		runs []api.Profile
		want string
	}{
		{"the same", []api.Profile{day}, "abcde 2 0.00"},
		{"a fifth is new", []api.Profile{jobs("a", "b", "c", "z", "e")}, "abcdze 2 0.00"},
		{"two are new", []api.Profile{jobs("a", "b", "y", "z", "e")}, "abcde 1 0.70, abyze 1 0.30"},
		{"half of it is left out", []api.Profile{jobs("a", "b")}, "abcde 1 0.70, ab 1 0.30"},
		{"something else", []api.Profile{report}, "abcde 1 0.70, avwx 1 0.30"},
		{"both in turn", []api.Profile{report, day, report}, "abcde 2 0.55, avwx 2 0.45"},
		{"the newer is likelier", []api.Profile{report, report}, "avwx 2 0.51, abcde 1 0.49"},
		{"of five the least used leaves", []api.Profile{report, day, jobs("2"), jobs("3"), jobs("4")}, "4 1 0.32, abcde 2 0.29, 3 1 0.23, 2 1 0.16"},
	} {
		if got := variants(learn(t, day, c.runs...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A run in which a stage fails that completes in its variant teaches nothing; one that is new and
// fails is what the program does now.
func TestABrokenRunTeachesNothing(t *testing.T) {
	old, run := jobs("a", "b", "c", "d", "e"), jobs("a", "b", "c", "d", "e")
	run.Stages[1].Failed = true
	if _, _, err := profiles.Learn(old, run, profiles.Terms{}); err == nil || !strings.Contains(err.Error(), "completes in its profile: b") {
		t.Errorf("%v", err)
	}
	run = jobs("a", "b", "c", "d", "e", "x")
	run.Stages[5].Failed = true
	if p := learn(t, old, run); !p.Stages[5].Failed || p.Runs != 2 {
		t.Errorf("%+v", p)
	}
}

// Variants have no more stages together than a profile may have.
func TestVariantsAreBounded(t *testing.T) {
	wide := func(letter string) api.Profile {
		var signatures []string
		for i := range api.MostStages * 2 / 5 {
			signatures = append(signatures, fmt.Sprint(letter, i))
		}
		return jobs(signatures...)
	}
	p := learn(t, wide("a"), wide("b"), wide("c"))
	if len(p.Variants) != 1 || p.Stages[0].Signature != "a0" || p.Variants[0].Stages[0].Signature != "c0" {
		t.Errorf("%d variants besides that of %s", len(p.Variants), p.Stages[0].Signature)
	}
	if p := learn(t, wide("a"), jobs("x")); len(p.Variants) != 1 {
		t.Error("one that is small has no room")
	}
}

// Whatever runs come: there are four variants at most, of which none is likelier than the first, and
// the newest run is in one that has all its stages.
func TestLearnOfAnyRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 6)
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			run := drawProfile(t, 6)
			for i := range run.Stages {
				run.Stages[i].Signature = rapid.SampledFrom([]string{"map", "join", "sort", "a", "b", "c"}).Draw(t, "signature")
			}
			learnt, founded, err := profiles.Learn(p, run, profiles.Terms{})
			if err != nil {
				t.Fatal(err)
			}
			if err := learnt.Validate(); err != nil {
				t.Fatal(err)
			}
			sum, was, here := 0.0, len(p.Split()), false
			for _, v := range learnt.Split() {
				sum += float64(v.Share)
				if v.Share > learnt.Share {
					t.Fatalf("a variant of share %v behind one of %v", v.Share, learnt.Share)
				}
				here = here || has(v, run)
			}
			if n := len(learnt.Split()); n > api.MostVariants || n != min(api.MostVariants, was+map[bool]int{true: 1}[founded]) || n > 1 && math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%d variants of %d, founded %v, shares of %v", n, was, founded, sum)
			}
			if !here {
				t.Fatalf("%v has not %v", variants(learnt), line(run))
			}
			p = learnt
		}
	})
}

// has reports whether each stage of run is one that v's newest run had.
func has(v, run api.Profile) bool {
	count := map[string]int{}
	for _, s := range v.Stages {
		if s.Missed == 0 {
			count[s.Signature]++
		}
	}
	for _, s := range run.Stages {
		count[s.Signature]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// What is remembered of failed runs is the whole profile's: each variant that takes its place has it, and later runs
// leave it.
func TestWhatFailedIsOfAllVariants(t *testing.T) {
	old := jobs("a", "b", "c", "d", "e")
	old.Habit.FailedAt, old.Habit.Suspected = 1.7, 1.5
	for name, p := range map[string]api.Profile{
		"merged":                   learn(t, old, jobs("a", "b", "c", "d", "e")),
		"another variant":          learn(t, old, jobs("v", "w")),
		"that is likelier":         learn(t, old, jobs("v", "w"), jobs("v", "w")),
		"whose place another took": profiles.Taken(learn(t, old, jobs("v", "w")), 0),
	} {
		if p.Habit.FailedAt != 1.7 || p.Habit.Suspected != 1.5 {
			t.Errorf("%s: failed at %v, suspected %v", name, p.Habit.FailedAt, p.Habit.Suspected)
		}
	}
	if v := learn(t, old, jobs("v", "w")).Variants[0]; v.Habit.FailedAt != 0 || v.Habit.Suspected != 0 {
		t.Errorf("a stored variant has it again: %v, %v", v.Habit.FailedAt, v.Habit.Suspected)
	}
}
