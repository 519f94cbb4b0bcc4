package profiles_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// jobs is a profile of one stage of 10 core-seconds for each signature, in a job of its own, on two cores.
func jobs(signatures ...string) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "jobs", Runs: 1, Cores: 2, Head: 1}
	for i, s := range signatures {
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Name: s, Signature: s, Tasks: 4, Duration: 5, Records: 100, CoreSeconds: 10, NominalRate: 10})
	}
	p.Duration = 1 + 5*units.Seconds(len(signatures))
	return p
}

// line says of each stage of a profile its job, its signature and for how many runs it was missed.
func line(p api.Profile) (text string) {
	for _, s := range p.Stages {
		text += fmt.Sprintf("%d%s", s.Job, s.Signature)
		if s.Missed > 0 {
			text += fmt.Sprintf("-%d", s.Missed)
		}
		text += " "
	}
	return text
}

func TestMergeTakesTheRunsShape(t *testing.T) {
	old := jobs("a", "b", "c")
	for _, c := range []struct {
		name string
		run  api.Profile
		want string
	}{
		{"a stage more", jobs("a", "b", "x", "c"), "0a 1b 2x 3c "},
		{"one more at the end", jobs("a", "b", "c", "x"), "0a 1b 2c 3x "},
		{"one less", jobs("a", "c"), "0a 1b-1 2c "},
		{"the first one gone", jobs("b", "c"), "0a-1 1b 2c "},
		{"the last one gone", jobs("a", "b"), "0a 1b 2c-1 "},
		{"another in its place", jobs("a", "x", "c"), "0a 1b-1 2x 3c "},
		{"in another order", jobs("b", "a", "c"), "0b 1a 2c "},
	} {
		got := atAllCores(old, c.run)
		if line(got) != c.want {
			t.Errorf("%s: %s, want %s", c.name, line(got), c.want)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A stage that the run lacks stays where it was in its job, and behind what it reads from.
func TestAStageThatTheRunLacksStaysInItsJob(t *testing.T) {
	old := jobs("left", "right", "join", "sum")
	for i, job := range []int{0, 0, 0, 1} {
		old.Stages[i].Job = job
	}
	old.Stages[2].Parents, old.Stages[3].Parents = []int{0, 1}, []int{2}
	run := jobs("left", "right", "sum")
	run.Stages[1].Job, run.Stages[2].Job, run.Stages[2].Parents = 0, 1, []int{0, 1}
	got := atAllCores(old, run)
	if line(got) != "0left 0right 0join-1 1sum " || !slices.Equal(got.Stages[2].Parents, []int{0, 1}) || !slices.Equal(got.Stages[3].Parents, []int{0, 1}) {
		t.Errorf("%s, %+v", line(got), got.Stages)
	}
}

// What reads from a stage that is skipped, as its output is there, waits for nothing in that run alone.
func TestAStageThatIsSkipped(t *testing.T) {
	old, run := jobs("read", "map", "sum"), jobs("read", "sum")
	for i := range old.Stages {
		old.Stages[i].Job = 0
	}
	old.Stages[1].Parents, old.Stages[2].Parents, old.Stages[2].Gap = []int{0}, []int{1}, 3
	run.Stages[1].Job, run.Stages[1].Gap = 0, 28
	got := atAllCores(old, run)
	if s := got.Stages[2]; line(got) != "0read 0map-1 0sum " || !slices.Equal(s.Parents, []int{1}) || s.Gap != 3 {
		t.Errorf("%s, %+v", line(got), got.Stages)
	}
}

// A stage that comes again counts anew; one that is missed five times in a row leaves.
func TestAStageThatFiveRunsLackLeaves(t *testing.T) {
	p := jobs("a", "b", "c")
	for range 4 {
		p = atAllCores(p, jobs("a", "c"))
	}
	if line(p) != "0a 1b-4 2c " {
		t.Fatalf("after four runs: %s", line(p))
	}
	if again := atAllCores(p, jobs("a", "b", "c")); line(again) != "0a 1b 2c " {
		t.Errorf("when it comes again: %s", line(again))
	}
	if p = atAllCores(p, jobs("a", "c")); line(p) != "0a 1c " || p.Duration != 11 {
		t.Errorf("after five runs: %s, %v", line(p), p.Duration)
	}
}

// A run that was held back teaches the times of what had all cores, and no others.
func TestWhatIsHeldBackTeachesNoTimes(t *testing.T) {
	old, run := jobs("a", "b", "c"), jobs("a", "b", "x", "y", "c")
	for i := range run.Stages {
		run.Stages[i].Duration = 40
	}
	held := map[int]bool{0: true, 2: true, 4: true}
	seconds := func(p api.Profile) (list []units.Seconds) {
		for _, s := range p.Stages {
			list = append(list, s.Duration)
		}
		return list
	}
	if got, want := seconds(profiles.Merge(old, run, profiles.Terms{Held: held})), []units.Seconds{5, 22.5, 5, 40, 5}; !slices.Equal(got, want) {
		t.Errorf("durations %v, want %v", got, want)
	}
	run.Cores = 4
	got := profiles.Merge(old, run, profiles.Terms{Held: held})
	if want := []units.Seconds{5, 5, 5, 5, 5}; !slices.Equal(seconds(got), want) || got.Cores != 2 {
		t.Errorf("of other cores: %v on %v, want %v on 2", seconds(got), got.Cores, want)
	}
	run.Cores, run.Contended = 2, true
	if got := seconds(atAllCores(old, run)); !slices.Equal(got, []units.Seconds{5, 5, 5, 5, 5}) {
		t.Errorf("beside others: %v", got)
	}
	if first := profiles.First(run, profiles.Terms{Held: held}); !first.Contended {
		t.Error("the times of a first run that was held back count")
	}
}

// Whatever two runs did: their merge is a valid profile that has each stage of the run, with what that
// says of jobs and parents, and each of old that it lacks; where stages can be told apart, the same run
// again changes its shape no more.
func TestMergeOfAnyTwoRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, run := drawProfile(t, 8), drawProfile(t, 8)
		for i := range old.Stages {
			old.Stages[i].Missed = rapid.IntRange(0, 2).Draw(t, "missed")
		}
		distinct := rapid.Bool().Draw(t, "distinct")
		if distinct {
			rename(t, old)
			rename(t, run)
		}
		held := map[int]bool{}
		for _, s := range run.Stages {
			held[s.ID] = rapid.Bool().Draw(t, "held")
		}
		run.Contended, old.Contended = rapid.Bool().Draw(t, "contended"), rapid.Bool().Draw(t, "old contended")
		terms := profiles.Terms{Held: held}
		merged := profiles.Merge(old, run, terms)
		if err := merged.Validate(); err != nil {
			t.Fatal(err)
		}
		_, ends := play(merged)
		if want := slices.Max(ends) + merged.Tail + merged.Exit; math.Abs(float64(merged.Duration-want)) > 1e-6 {
			t.Fatalf("it takes %v, and says %v", want, merged.Duration)
		}
		var of []int // The places in the merge of the run's stages.
		missed := 0
		for i, s := range merged.Stages {
			if s.Missed > 0 {
				missed++
			} else {
				of = append(of, i)
			}
		}
		if len(of) != len(run.Stages) || missed != max(0, len(merged.Stages)-len(of)) || len(merged.Stages) > len(old.Stages)+len(run.Stages) {
			t.Fatalf("%d stages of %d are there, and %d that it lacks", len(of), len(run.Stages), missed)
		}
		same := cmp.Equal(shape(old), shape(merged)) // Branches may have another order in the run.
		for i, k := range of {
			got, want := merged.Stages[k], run.Stages[i]
			if same {
				continue
			}
			if got.Name != want.Name || got.Signature != want.Signature || len(want.Parents) > 0 && len(got.Parents) != len(want.Parents) {
				t.Fatalf("stage %d is %+v, in the run %+v", i, got, want)
			}
			for n, parent := range want.Parents {
				if got.Parents[n] != merged.Stages[of[parent]].ID {
					t.Fatalf("stage %d reads from %v, in the run from %v", i, got.Parents, want.Parents)
				}
			}
			if i > 0 && (want.Job == run.Stages[i-1].Job) != (got.Job == merged.Stages[of[i-1]].Job) {
				t.Fatalf("stage %d is in another job", i)
			}
		}
		again := profiles.Merge(merged, run, terms)
		if d := cmp.Diff(shape(merged), shape(again)); distinct && d != "" {
			t.Fatalf("the same run again changes the shape:\n%s", d)
		}
	})
}

// rename gives the stages of p signatures of their own.
func rename(t *rapid.T, p api.Profile) {
	names := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}).Draw(t, "signatures")
	for i := range p.Stages {
		p.Stages[i].Signature = names[i]
	}
}

// shape is what a profile says of its stages' places.
func shape(p api.Profile) (lines []string) {
	for _, s := range p.Stages {
		lines = append(lines, fmt.Sprint(s.ID, s.Job, s.Signature, s.Parents))
	}
	return lines
}
