package queue

import (
	"encoding/json"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// learnt is what is kept of the runs of a profile.
type learnt struct {
	// V is the version of this record.
	V int `json:"v"`
	// Runs is how many there were, at most newestWeight; Took how long they had executors, in the
	// mean.
	Runs int           `json:"runs"`
	Took units.Seconds `json:"took_s"`
}

const learntVersion = 1

// newestWeight is the number of runs of which the newest one is never a smaller part.
const newestWeight = 8

// Learn is what is to be kept, under a key, after the end of a: how long a run of its profile
// that was not held back to a deadline has executors. Runs that failed say nothing of that.
// ok says that there is something.
func (p Policy) Learn(v ledger.View, a *ledger.App) (key string, state []byte, ok bool) {
	key = keyOf(a)
	ran := a.Outcome.Ended - a.Tenant.Began
	if a.Outcome.State != api.AppFinished || a.Promise.Targeted || len(a.Tenant.Executors) == 0 || !(ran > 0) ||
		key == "" {
		return key, nil, false
	}
	l := read(v, key)
	l.V, l.Runs = learntVersion, min(l.Runs+1, newestWeight)
	l.Took += (ran - l.Took) / units.Seconds(l.Runs)
	state, err := json.Marshal(l)
	return key, state, err == nil
}

// read is what was kept under that key, nothing where it cannot be read.
func read(v ledger.View, key string) learnt {
	var l learnt
	if err := json.Unmarshal(v.Learnt(key), &l); err != nil || l.V != learntVersion ||
		units.Finite("took", l.Took) != nil {
		return learnt{}
	}
	return l
}

// keyOf is the key of a's profile: what another user's runs take says nothing of it.
func keyOf(a *ledger.App) string {
	if user := a.Tenant.Owner.User; user != "" {
		return a.Promise.Profile + "/" + api.Shortened(user)
	}
	return a.Promise.Profile
}

// took is how long runs of a's profile mostly have executors, 0 where nobody knows.
func took(v ledger.View, a *ledger.App) units.Seconds { return read(v, keyOf(a)).Took }
