package estimate_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func needed(t interface{ Fatal(...any) }, head units.Seconds, stages ...api.ProfileStage) func(units.Seconds) units.Cores {
	body := api.Profile{Schema: api.ProfileSchema, Name: "p", Cores: 8, Runs: 1, Duration: 100, Head: head, Stages: stages}
	p, err := ledger.NewProfile(body)
	if err != nil {
		t.Fatal(err)
	}
	return func(deadline units.Seconds) units.Cores { return estimate.Needed(p, deadline) }
}

func stageOf(id int, work float64, gap units.Seconds) api.ProfileStage {
	return api.ProfileStage{ID: id, Name: "s", Signature: "s", Tasks: 8, Records: int64(work * 1000), NominalRate: 1000, Duration: 5,
		CoreSeconds: units.Work(work), Gap: gap}
}

// 150 core-seconds of work, 10 s of start and gaps.
func TestADeadlineNeedsItsWorkOverItsTime(t *testing.T) {
	needs := needed(t, 6, stageOf(0, 100, 3), stageOf(1, 50, 1))
	for deadline, want := range map[units.Seconds]units.Cores{20: 15, 40: 5, 85: 2, 160: 1} {
		if got := needs(deadline); got < want*0.999 || got > want*1.001 {
			t.Errorf("%v: %v cores, want %v", deadline, got, want)
		}
	}
}

func TestALongerDeadlineNeverNeedsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stages []api.ProfileStage
		for id := range rapid.IntRange(1, 6).Draw(t, "stages") {
			stages = append(stages, stageOf(id, float64(rapid.IntRange(1, 500).Draw(t, "work")), units.Seconds(rapid.IntRange(0, 20).Draw(t, "gap"))))
		}
		needs, before := needed(t, units.Seconds(rapid.IntRange(0, 30).Draw(t, "head")), stages...), units.Cores(0)
		for k, deadline := 0, units.Seconds(1); k < 40; k, deadline = k+1, deadline*1.3 {
			now := needs(deadline)
			if k > 0 && now > before || now <= 0 {
				t.Fatalf("%v after %v for less", now, before)
			}
			before = now
		}
	})
}
