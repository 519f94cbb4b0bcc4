package cli

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// A stage that stands for several says for how many.
func TestAFoldedStageSaysForHowManyItStands(t *testing.T) {
	var out strings.Builder
	p := api.Profile{Name: "search", Folds: map[int]int{1: 6}, Stages: []api.ProfileStage{{ID: 0, Name: "load"}, {ID: 1, Name: "fit"}}}
	if err := printProfile(&out, p); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "fit x6 ") || strings.Contains(text, "load x") {
		t.Error(text)
	}
}
