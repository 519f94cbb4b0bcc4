package draws

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEachRunOfAPropertyDrawsTheSame(t *testing.T) {
	drawn := func() (all []int64) {
		rapid.Check(t, func(t *rapid.T) { all = append(all, rapid.Int64().Draw(t, "any")) })
		return all
	}
	if first, second := drawn(), drawn(); len(first) < 20 || !slices.Equal(first, second) {
		t.Errorf("drawn are %v, then %v", first, second)
	}
}
