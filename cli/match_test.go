package cli

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
)

func TestMatchesAreToldInAFewWords(t *testing.T) {
	for want, m := range map[string]*api.StageMatch{
		"":                           nil,
		"4 known by query":           {Known: api.StageKnown, Stage: 4, By: "query", Sure: 1},
		"0 known by place 62 %":      {Known: api.StageKnown, Stage: 0, By: "place", Sure: 0.62},
		"estimated from its kind":    {Known: api.StageEstimated, Stage: -1, By: "kind"},
		"estimated from this run":    {Known: api.StageEstimated, Stage: -1, By: "run"},
		"estimated from a mean task": {Known: api.StageEstimated, Stage: -1, By: "task"},
		"new":                        {Known: api.StageNew, Stage: -1},
		"7 gone":                     {Known: api.StageGone, Stage: 7},
	} {
		if got := matchOf(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := stageID(api.StageKey{Stage: -1}) + stageID(api.StageKey{Stage: 3, Attempt: 1}); got != "-3.1" {
		t.Errorf("%q", got)
	}
}
