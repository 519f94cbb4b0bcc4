package api

import "fmt"

// Pair is a key of a store (package store) with its value. As a change it sets the key, or
// removes it where Value is nil.
type Pair struct {
	Key   string
	Value []byte
}

// MostKey is how many bytes a key of a store has at most. Each kind of store takes every key up to
// that, but for an empty one and one with control characters (RefusedError).
const MostKey = 4096

// RefusedError is of a store that will never take some changes, whatever its state: not those of
// Keys. It has made none of the others either, and takes them without these.
type RefusedError struct {
	Keys []string
	// Why says what is wrong with the first one.
	Why string
}

// Error says it in a line.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("store: key %q: %s", Clip(e.Keys[0], MostToken), e.Why)
	if more := len(e.Keys) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
