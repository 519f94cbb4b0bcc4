package api

// Pair is a key of a store (package store) with its value. As a change it sets the key, or
// removes it where Value is nil.
type Pair struct {
	Key   string
	Value []byte
}
