package ledger

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"
	"weak"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// profileShelf has the stored profiles, within bounds: those that were used longest ago go.
type profileShelf struct {
	stored map[profileID]*Profile
	uses   map[profileID]use
	// newest is the newest run in each while its application is known; it is not saved.
	newest map[profileID]Learnt
	// drawn are the graphs of stored profiles that somebody has: they take as much memory as these. nil in snapshots.
	drawn map[profileID]drawing
}

// drawing is the graph of a body that has that first stage, as long as somebody has it.
type drawing struct {
	of    *api.ProfileStage
	graph weak.Pointer[dag.Graph]
}

// use is when a stored profile was put, taught or matched last, 0 where that is not known, when that
// was saved, and how many bytes it takes in the store.
type use struct {
	at, saved units.Instant
	bytes     int
}

// profileRecord is a stored profile.
type profileRecord struct {
	api.Profile
	Used units.Instant `json:"used_ns,omitempty"`
}

// profileBounds are Config's of profiles.
type profileBounds struct {
	count, bytes int
	age          time.Duration
}

// saveUse is how old the saved time of a profile's last use may be: a profile may be large.
const saveUse = 24 * time.Hour

// ownersPart is the part of the bounds that the profiles of one owner may take: one in so many.
const ownersPart = 4

func newProfileShelf() profileShelf {
	return profileShelf{stored: map[profileID]*Profile{}, uses: map[profileID]use{}, newest: map[profileID]Learnt{},
		drawn: map[profileID]drawing{}}
}

// copy is s for a snapshot, which does not ask for uses.
func (s *profileShelf) copy() profileShelf {
	return profileShelf{stored: maps.Clone(s.stored), newest: maps.Clone(s.newest)}
}

// find is the profile of that name that counts for a user: its own, else everybody's.
func (s *profileShelf) find(user, name string) *Profile {
	if own := s.stored[profileID{name, user}]; own != nil {
		return own
	}
	return s.stored[profileID{name: name}]
}

// names are those of the profiles that a user sees, in no order.
func (s *profileShelf) names(user string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range s.stored {
			if (id.owner == "" || id.owner == user) && !yield(id.name) {
				return
			}
		}
	}
}

// restore takes p in as it was stored, in so many bytes.
func (s *profileShelf) restore(p *Profile, used units.Instant, bytes int) {
	id := p.id()
	p.Graph = nil
	s.stored[id], s.uses[id] = p, use{at: used, saved: used, bytes: bytes}
}

// match takes in that p is used now, and reports whether that is to be saved.
func (s *profileShelf) match(now units.Instant, p *Profile) bool {
	id := p.id()
	u := s.uses[id]
	u.at = now
	s.uses[id] = u
	return now.Sub(u.saved) > saveUse
}

// draw is p, of that id, with its graph, which runs of it share.
func (s *profileShelf) draw(p *Profile) *Profile {
	d, of := s.drawn[p.id()], &p.Body.Stages[0]
	if g := d.graph.Value(); g != nil && d.of == of && p.Graph == nil {
		with := *p
		with.Graph = g
		return &with
	}
	with := p.Drawn()
	if s.drawn != nil && with != p {
		s.drawn[p.id()] = drawing{of, weak.Make(with.Graph)}
	}
	return with
}

// renew puts a copy in the place of the stored profile of an id, of which facets may keep something else: snapshots
// have the one before.
func (s *profileShelf) renew(id profileID) *Profile {
	before := s.stored[id]
	p := *before
	s.stored[id] = &p
	if r := s.newest[id]; r.after == before {
		r.after = &p
		s.newest[id] = r
	}
	return &p
}

// put makes p, which is used now, the profile of its id, and returns how it is stored. It has the facets of the
// one before.
func (s *profileShelf) put(now units.Instant, p *Profile) ([]byte, error) {
	id := p.id()
	if before := s.stored[id]; before != nil {
		was := before.Body
		p.held = before.held
		p.held.was = &was
	}
	value, err := json.Marshal(profileRecord{p.Body, now})
	p.Graph = nil
	s.stored[id] = p
	s.uses[id] = use{at: now, saved: now, bytes: len(value)}
	return value, err
}

// drop takes the profile of an id away.
func (s *profileShelf) drop(id profileID) {
	delete(s.stored, id)
	delete(s.uses, id)
	delete(s.newest, id)
	delete(s.drawn, id)
}

// size is how many bytes the profile of an id takes in the store, with what facets keep of it.
func (s *profileShelf) size(id profileID) int { return s.uses[id].bytes + s.stored[id].held.bytes }

// bound drops the profiles that nobody has used for too long, and then those that were used longest ago,
// of the owner of the newest beyond its part, and of all; not the newest itself. It returns which.
func (s *profileShelf) bound(now units.Instant, b profileBounds, newest profileID) (dropped []*Profile) {
	ids := slices.SortedFunc(maps.Keys(s.stored), func(a, b profileID) int {
		return cmp.Or(cmp.Compare(s.uses[a].at, s.uses[b].at), cmp.Compare(a.name, b.name), cmp.Compare(a.owner, b.owner))
	})
	part := ownersPart
	if newest.owner == "" {
		part = 1 // They are everybody's.
	}
	count, bytes, all := 0, 0, 0 // The first two of the newest's owner.
	for _, id := range ids {
		all += s.size(id)
		if id.owner == newest.owner {
			count, bytes = count+1, bytes+s.size(id)
		}
	}
	for _, id := range ids {
		u, own := s.uses[id], id.owner == newest.owner
		old := u.at > 0 && b.age > 0 && now.Sub(u.at) > b.age
		full := len(s.stored) > b.count || all > b.bytes || own && (count > b.count/part || bytes > b.bytes/part)
		if id == newest || !old && !full {
			continue
		}
		if all -= s.size(id); own {
			count, bytes = count-1, bytes-s.size(id)
		}
		dropped = append(dropped, s.stored[id])
		s.drop(id)
	}
	return dropped
}

// newestOf is whose profile of that name, a user's own or everybody's, has the application's run as its
// newest.
func (s *profileShelf) newestOf(user, name string, app api.AppID) (profileID, bool) {
	for _, id := range []profileID{{name, user}, {name: name}} {
		if r := s.newest[id]; r.App == app && r.after != nil && s.stored[id] == r.after {
			return id, true
		}
	}
	return profileID{}, false
}
