package planner

import "github.com/sparkpacer/pacer/api"

// newest keeps the last change of each key, so that a store that fails for long
// does not make the list grow.
func newest(changes []api.Pair) []api.Pair {
	last := make(map[string]int, len(changes))
	for i, c := range changes {
		last[c.Key] = i
	}
	kept := changes[:0]
	for i, c := range changes {
		if last[c.Key] == i {
			kept = append(kept, c)
		}
	}
	return kept
}
