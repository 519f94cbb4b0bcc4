package versions

import (
	"cmp"
	"encoding/json"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
)

// Put is ledger.ProfileSaved.How of a profile that a user has put.
const Put = "put"

// State are the versions of a stored profile.
type State struct {
	profiles.History
	// planned is the pinned version, nil where that is the newest.
	planned *ledger.Profile
}

var facet = ledger.Register(ledger.Facet[*ledger.Profile, State]{Name: "versions", After: after,
	Instead: func(s State) *ledger.Profile { return s.planned }})

// Of is p's.
func Of(p *ledger.Profile) State { return facet.Of(p) }

// UnmarshalJSON reads a State from its record.
func (s *State) UnmarshalJSON(record []byte) error {
	if err := json.Unmarshal(record, &s.History); err != nil {
		return err
	}
	return s.plan()
}

// plan makes what is planned with of the pinned version.
func (s *State) plan() error {
	s.planned = nil
	body, err := s.Body(s.Pinned, nil)
	if err == nil && body != nil {
		s.planned, err = ledger.NewProfile(*body)
	}
	return err
}

// after is s of p after a fact: another version, or one less.
func after(s State, v ledger.View, p *ledger.Profile, f ledger.Fact) (State, bool) {
	was, planned := s, s.planned
	switch f := f.(type) {
	case ledger.ProfileSaved:
		if f.By == "" && f.How != Put {
			return s, false
		}
		by := cmp.Or(string(f.By), f.Body.Owner)
		s.History = s.Add(profiles.Version{Since: v.Now(), How: f.How, By: by, Body: f.Packed}, p.Was())
	case ledger.RunTakenBack:
		s.History = s.Back()
	default:
		return s, false
	}
	if planned == nil || s.Pinned != was.Pinned {
		if err := s.plan(); err != nil {
			return was, false
		}
	}
	return s, true
}

// Pinned: a profile is planned with its version of that number from now on; 0 is the newest, whichever that is.
type Pinned struct {
	ledger.OfProfile
	Number int
}

// Line is what it says.
func (f Pinned) Line() ledger.Line {
	if f.Number == 0 {
		return f.Says("profile unpinned", "profile %q is planned with its newest version", f.Name)
	}
	return f.Says("profile pinned", "profile %q is planned with its version %d", f.Name, f.Number)
}

// Apply says which version is pinned.
func (f Pinned) Apply(_ ledger.View, _ *ledger.Profile, s *State) (err error) {
	if s.History, err = s.Pin(f.Number); err != nil {
		return err
	}
	return s.plan()
}

// Packed: the body of a version is packed; nothing changes where the version is gone.
type Packed struct {
	ledger.OfProfile
	Of   profiles.Made
	Body []byte
}

// Line is what it says: nothing that anybody looks for.
func (f Packed) Line() ledger.Line { return ledger.Line{Name: "profile packed"} }

// Apply puts the packed body in its place.
func (f Packed) Apply(_ ledger.View, _ *ledger.Profile, s *State) error {
	s.History = s.History.Packed(f.Of, f.Body)
	return nil
}
