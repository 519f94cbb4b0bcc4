package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// ProfileSaved: Body is the profile of its name and owner from now on. By is the application whose
// run made it so, "" for none; How is the word for that. Packed is Body packed (profiles.Pack), nil where it is not.
type ProfileSaved struct {
	Body   api.Profile
	By     api.AppID
	How    string
	Packed []byte
}

func (f ProfileSaved) apply(l *Ledger) error {
	stored, err := NewProfile(f.Body)
	if err != nil {
		return err
	}
	id := stored.id()
	before := l.profiles.stored[id]
	keepProfile(l, stored)
	if delete(l.profiles.newest, id); f.By != "" {
		l.profiles.newest[id] = Learnt{f.By, before, stored}
	}
	l.batch.subject.profile = id
	return nil
}

// ProfileRemoved: the profile of that name and owner is gone; running applications keep
// their copies.
type ProfileRemoved struct{ Name, Owner string }

func (f ProfileRemoved) apply(l *Ledger) error {
	id := profileID{f.Name, f.Owner}
	if l.profiles.stored[id] == nil {
		return fmt.Errorf("profile %s is not there", f.Name)
	}
	dropProfile(l, id)
	return nil
}

// RunTakenBack: the profile of that name and owner is what it was before the run of App went in.
type RunTakenBack struct {
	Name, Owner string
	App         api.AppID
}

func (f RunTakenBack) apply(l *Ledger) error {
	id := profileID{f.Name, f.Owner}
	r := l.profiles.newest[id]
	if r.App != f.App || l.profiles.stored[id] != r.after {
		return fmt.Errorf("the newest run in profile %s is not that of %s", f.Name, f.App)
	}
	if r.before == nil {
		dropProfile(l, id)
		return nil
	}
	delete(l.profiles.newest, id)
	before := *r.before // Snapshots have it as it was.
	keepProfile(l, &before)
	l.batch.subject.profile = id
	return nil
}

// keepProfile stores p, and drops others where there are too many.
func keepProfile(l *Ledger, p *Profile) {
	id := p.id()
	value, err := l.profiles.put(l.now, p)
	l.batch.encoded(profileKey(id), value, err)
	if l.cfg.Profiles > 0 {
		bounds := profileBounds{l.cfg.Profiles, l.cfg.ProfileBytes, l.cfg.ProfileAge}
		for _, gone := range l.profiles.bound(l.now, bounds, id) {
			gone.remove(&l.batch)
		}
	}
}

func dropProfile(l *Ledger, id profileID) {
	l.profiles.stored[id].remove(&l.batch)
	l.profiles.drop(id)
}

// remove removes what is stored of p.
func (p *Profile) remove(b *batch) {
	b.put(profileKey(p.id()), nil)
	removeFacets(p, b)
}

// useProfile takes in that p is matched to a run.
func useProfile(l *Ledger, p *Profile) {
	if l.profiles.match(l.now, p) {
		keepProfile(l, p)
	}
}
