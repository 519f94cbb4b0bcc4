package profiles_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// follow tells the rivals of p a run's stages, one after the other, and returns at which of them which other
// variant was found to fit better, -1 for none.
func follow(p api.Profile, run api.Profile) (stage, place int) {
	r := profiles.NewRivals(p)
	for i, s := range run.Stages {
		r.Ready(api.StageReady{StageKey: api.StageKey{Stage: i}, Job: i, Name: s.Name, Signature: s.Signature, Tasks: s.Tasks, Records: s.Records})
		if place, is := r.Better(); is {
			return i, place
		}
		r.Ended(i)
	}
	return -1, 0
}

func TestAnotherVariantFitsBetter(t *testing.T) {
	p := jobs("a", "b", "c", "d", "e")
	p.Variants = []api.Profile{jobs("a", "b"), jobs("v", "w", "x"), jobs("a", "b", "c", "y", "z")}
	for _, c := range []struct {
		name  string
		run   api.Profile
		stage int
		place int
	}{
		{"the same", jobs("a", "b", "c", "d", "e"), -1, 0},
		{"a stage that nobody knows", jobs("a", "b", "new", "c", "d", "e"), -1, 0},
		{"what another one begins with", jobs("v", "w", "x"), 0, 1},
		{"what another one goes on with", jobs("a", "b", "c", "y", "z"), 3, 2},
		{"it may be over as well as not", jobs("a", "b"), -1, 0},
	} {
		if stage, place := follow(p, c.run); stage != c.stage || place != c.place {
			t.Errorf("%s: variant %d fits at stage %d, want %d at %d", c.name, place, stage, c.place, c.stage)
		}
	}
	taken := profiles.Taken(p, 2)
	if line(taken) != line(p.Variants[2]) || len(taken.Variants) != 3 || line(taken.Variants[0]) != "0a 1b 2c 3d 4e " {
		t.Errorf("taken is %s", line(taken))
	}
	if err := taken.Validate(); err != nil {
		t.Error(err)
	}
	none := profiles.NewRivals(jobs("a"))
	none.Ready(api.StageReady{})
	none.Ended(0)
	none.QueryEnded(0)
	if _, is := none.Better(); is {
		t.Error("where there is one variant another one fits better")
	}
}

// What has been left out of the present variant tells for one that has it not, once it cannot come later any
// more, unless its newest run had left it out as well.
func TestWhatIsLeftOutTellsForAnother(t *testing.T) {
	p := jobs("a", "b", "c", "d")
	p.Variants = []api.Profile{jobs("a", "c", "e")}
	if stage, place := follow(p, jobs("a", "c", "e")); stage != 2 || place != 0 {
		t.Errorf("at stage %d, variant %d", stage, place)
	}
	p.Stages[1].Missed = 1
	if stage, _ := follow(p, jobs("a", "c")); stage != -1 {
		t.Errorf("at stage %d", stage)
	}
}
