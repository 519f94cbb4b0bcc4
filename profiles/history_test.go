package profiles_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Whatever is added, pinned and taken back, the newest five versions and a pinned one are kept with the bodies that they
// had. The newest is the profile; what is taken back gives its number back.
func TestVersionsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h profiles.History
		var kept []int // The oracle: the numbers of what is kept. The work of a version is its number.
		body := func(number int) *api.Profile {
			p := one(units.Work(number), 1)
			return &p
		}
		newest := func() *api.Profile {
			if len(kept) == 0 {
				return nil
			}
			return body(kept[len(kept)-1])
		}
		given, pinned := 0, 0
		keep := func() {
			old := len(kept) - 5
			kept = slices.DeleteFunc(kept, func(number int) bool { old--; return old >= 0 && number != pinned })
		}
		for step := range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				number := rapid.IntRange(0, given+1).Draw(t, "pin")
				next, err := h.Pin(number)
				if there := number == 0 || slices.Contains(kept, number); (err == nil) != there {
					t.Fatalf("pin %d of %v: %v", number, kept, err)
				}
				if err == nil {
					h, pinned = next, number
					keep()
				}
			case 1:
				if len(kept) > 1 && kept[len(kept)-2] == given-1 {
					h, kept, given = h.Back(), kept[:len(kept)-1], given-1
					if pinned > given {
						pinned = 0
					}
				}
			default:
				h = h.Add(profiles.Version{How: "merged", Since: units.Instant(step)}, newest())
				given++
				kept = append(kept, given)
				keep()
			}
			for made, body := range h.Unpacked(newest()) {
				packed, err := profiles.Pack(*body)
				if err != nil || body.Stages[0].CoreSeconds != units.Work(made.Number) {
					t.Fatalf("version %d is %v, %v", made.Number, body.Stages, err)
				}
				if stale := (profiles.Made{Number: made.Number, Since: made.Since - 1}); len(h.Packed(stale, packed).Unpacked(newest())) != len(h.Unpacked(newest())) {
					t.Fatalf("what was version %d and has been taken back is packed in its place", made.Number)
				}
				if rapid.Bool().Draw(t, "packed") {
					h = h.Packed(made, packed)
				}
			}
		}
		var got []int
		for _, v := range h.Versions {
			got = append(got, v.Number)
			p, err := h.Body(v.Number, newest())
			if err != nil || p.Stages[0].CoreSeconds != units.Work(v.Number) {
				t.Fatalf("version %d is %v, %v", v.Number, p.Stages, err)
			}
		}
		if !slices.Equal(got, kept) || h.Pinned != pinned {
			t.Fatalf("kept are %v and pinned is %d, want %v and %d", got, h.Pinned, kept, pinned)
		}
	})
}

// A profile that was stored before versions were counted is the first.
func TestAProfileOfBeforeIsTheFirstVersion(t *testing.T) {
	before := one(10, 1)
	h := profiles.History{}.Add(profiles.Version{How: "put"}, &before)
	if len(h.Versions) != 2 || h.Newest().Number != 2 {
		t.Fatalf("%+v", h)
	}
	newest := one(20, 1)
	if p, err := h.Body(1, &newest); err != nil || p.Stages[0].CoreSeconds != 10 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := h.Body(0, &newest); err != nil || p.Stages[0].CoreSeconds != 20 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := h.Body(7, &newest); err == nil || !strings.Contains(err.Error(), "there are 1, 2") {
		t.Errorf("%v", err)
	}
}

func TestWhatHasChangedIsSaidInWords(t *testing.T) {
	stage := func(id int, signature string, work units.Work, bytes int64, tasks int) api.ProfileStage {
		return api.ProfileStage{ID: id, Job: id, Name: signature + " at a.py", Signature: signature, Parents: []int{}, Tasks: tasks, Duration: 1,
			Records: 100, Bytes: bytes, CoreSeconds: work, NominalRate: 100 / units.Rate(work)}
	}
	a := api.Profile{Name: "p", Cores: 8, Duration: 100, Stages: []api.ProfileStage{stage(0, "read", 100, 1000, 10), stage(1, "join", 50, 500, 10),
		stage(2, "gone", 20, 500, 10), stage(3, "save", 30, 500, 10), stage(4, "tiny", 0.1, 5, 10)}}
	b := api.Profile{Name: "p", Cores: 8, Duration: 155, Stages: []api.ProfileStage{stage(0, "read", 140, 2000, 10), stage(1, "join", 50, 510, 10),
		stage(3, "save", 15, 500, 25), stage(4, "tiny", 0.4, 5, 10), stage(5, "new", 25, 500, 10)}}
	b.Habit.Stages = map[int]api.StageHabit{3: {Jump: api.Jump{Times: 0.5, Since: "2026-11-20", Runs: 2}}}
	want := []string{"15 % more work in all", "55 % more time at all cores", "stage 0 (read at a.py): twice the input, 40 % more work",
		"stage 3 (save at a.py): half the work, 2.5 times the tasks", "stage 5 (new at a.py) is new: 25.0 core-seconds",
		"stage 2 (gone at a.py) is gone: 20.0 core-seconds", "stage 3 takes 0.5 times since 2026-11-20"}
	if d := cmp.Diff(want, profiles.Diff(a, b)); d != "" {
		t.Error(d)
	}
	if said := profiles.Diff(a, a); said != nil {
		t.Errorf("%q of the same", said)
	}
}
