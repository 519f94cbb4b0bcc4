package planner_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

func TestValidateReportsEveryFault(t *testing.T) {
	if err := planner.Default().Validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	err := planner.Config{Alpha: 2, Split: "luck", Samples: 1}.Validate()
	if err == nil {
		t.Fatal("nonsense was taken")
	}
	for _, part := range []string{"alpha", "luck", "driver silent", "samples", "stages", "replacements", "node"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not reported: %v", part, err)
		}
	}
	if _, err := planner.New(planner.Config{}, nil); err == nil {
		t.Error("an engine without configuration")
	}
}

// Without its counters, and beside records of another release, no planner starts.
func TestStateThatCannotBeReadIsAnError(t *testing.T) {
	for _, r := range []api.Pair{
		{Key: "planner/epoch", Value: []byte("{")},
		{Key: "planner/epoch", Value: []byte(`{"v":99}`)},
		{Key: "app/x/stage/1.0", Value: []byte(`{"v":4}`)},
		{Key: "app/x/stage/1.0", Value: []byte(`{"v":3}`)},
		{Key: "history/x", Value: []byte(`{"v":99}`)},
	} {
		if _, err := planner.New(planner.Default(), []api.Pair{r}); err == nil || !strings.Contains(err.Error(), "planner state") {
			t.Errorf("%s %s: %v", r.Key, r.Value, err)
		}
	}
}
