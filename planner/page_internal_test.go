package planner

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// A part of a list has no more entries than are asked for, and parts have each entry once.
func TestAPageHasAsManyEntriesAsAreAskedFor(t *testing.T) {
	keys := []string{"a", "b\x00ann", "b\x00bob", "c", "d"}
	for most, parts := range map[int]int{0: 1, 1: 5, 2: 3, 5: 1, 9: 1} {
		var got []string
		n := 0
		for p := (&api.Page{Most: most}); n == 0 || p.After != ""; n++ {
			list, more := page(p, keys, func(key string) string { return key })
			if most > 0 && len(list) > most {
				t.Errorf("a part has %d entries, want %d at most", len(list), most)
			}
			got, p.After = append(got, list...), more
		}
		if !slices.Equal(got, keys) || n != parts {
			t.Errorf("%d at a time: %q in %d parts, want %d", most, got, n, parts)
		}
	}
}
