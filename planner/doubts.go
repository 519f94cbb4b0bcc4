package planner

import "github.com/sparkpacer/pacer/api"

// mostTold is how often it is told that a node controller says what cannot be, until it was lost.
const mostTold = 64

// doubts are what was told of faults in what node controllers say, by node: each is told once, for they come again with
// each status.
type doubts map[string]*doubt

type doubt struct {
	apps map[api.AppID]bool
	// refused are the reasons for which statuses were refused.
	refused map[string]bool
}

func (d doubts) of(node string) *doubt {
	if d[node] == nil {
		d[node] = &doubt{apps: map[api.AppID]bool{}, refused: map[string]bool{}}
	}
	return d[node]
}

// part reports whether it is to be told that a node's part of an application is left out.
func (d doubts) part(node string, app api.AppID) bool {
	return isNew(d.of(node).apps, app)
}

// lost forgets what was told of parts.
func (d doubts) lost(node string) {
	if of := d[node]; of != nil {
		clear(of.apps)
	}
}

// whole reports whether it is to be told why a node's status is refused.
func (d doubts) whole(node, why string) bool {
	return isNew(d.of(node).refused, why)
}

// isNew notes what is to be told, and reports whether it has not been and has a place.
func isNew[K comparable](told map[K]bool, what K) bool {
	if told[what] || len(told) >= mostTold {
		return false
	}
	told[what] = true
	return true
}
