package api

// Pair is a key of the planner's store with its value. As a change it sets the key, or
// removes it where Value is nil.
type Pair struct {
	Key   string
	Value []byte
}
