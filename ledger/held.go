package ledger

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// facets are what facets keep of one application, node or profile. The list is never changed, another one is made:
// snapshots share it.
type facets struct {
	list []held // By the places of facets; those behind its end keep nothing.
	effect
	// was is what a profile has come in the place of (Profile.Was), until a facet has taken it in.
	was *api.Profile
}

// Lodging is a component that a node runs for an application beside executors (Facet.Lodges): with ID for a name in
// Plans and statuses. It claims Memory. Without a Component it leaves: nodes stop it.
type Lodging struct {
	Node      string
	ID        api.ExecutorID
	Memory    units.Bytes
	Component *api.Component
}

// effect is what the values say together of what has them.
type effect struct {
	// cores are those that they reserve (Facet.Cores), drains says that one keeps executors away (Facet.Drains), pacing
	// is a word of Facet.Pacing.
	cores  units.Cores
	drains bool
	pacing string
	// observed is why an application is left alone (Facet.Observed), wanted and on are how many executors its driver is
	// to ask for, and where (Facet.Wants).
	observed string
	wanted   int
	on       []string
	// holds are the executors that are held at some cores, in order of stage and executor (Facet.Holds).
	holds []Hold
	// lodges are what nodes run for an application (Facet.Lodges), awaits that its executors wait for one of these
	// (Facet.Awaits).
	lodges []Lodging
	awaits bool
	// instead is what is planned with in the place of a profile (Facet.Instead), bytes how many all take in the store.
	instead any // A *Profile.
	bytes   int
}

// held is what one facet keeps.
type held struct {
	value any // nil for the zero value.
	// batch is the one in which it changed last, sum that of its record, by which Audit sees a value that was changed, and
	// bytes how many that has.
	batch, sum uint64
	bytes      int
}

// at is what the facet of a place keeps.
func (f *facets) at(place int) held {
	if place < len(f.list) {
		return f.list[place]
	}
	return held{}
}

// with is f with something else in a place.
func (f *facets) with(place int, h held) facets {
	list := slices.Clone(f.list)
	if place >= len(list) {
		list = append(list, make([]held, place+1-len(list))...)
	}
	list[place] = h
	return facets{list: list, effect: f.effect}
}

// hold is what an executor is held at for a stage, the zero value for nothing.
func (e *effect) hold(key api.StageKey, id api.ExecutorID) Hold {
	if len(e.holds) == 0 {
		return Hold{}
	}
	i, found := slices.BinarySearchFunc(e.holds, Hold{Stage: key, Executor: id}, Hold.Compare)
	if !found {
		return Hold{}
	}
	return e.holds[i]
}
