package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// ProfileSaved: Body is the profile of its name from now on. By is the application whose
// run made it so, "" for none.
type ProfileSaved struct {
	Body api.Profile
	By   api.AppID
}

func (f ProfileSaved) apply(l *Ledger) error {
	stored, err := NewProfile(f.Body)
	if err != nil {
		return err
	}
	if f.By != "" {
		l.newest[f.Body.Name] = Learnt{f.By, l.profiles[f.Body.Name], stored}
	}
	l.setProfile(f.Body.Name, stored)
	return nil
}

// ProfileRemoved: the profile of that name is gone; running applications keep their
// copies.
type ProfileRemoved struct{ Name string }

func (f ProfileRemoved) apply(l *Ledger) error {
	if l.profiles[f.Name] == nil {
		return fmt.Errorf("profile %s is not there", f.Name)
	}
	l.setProfile(f.Name, nil)
	return nil
}

// RunTakenBack: the profile of that name is what it was before the run of App went in.
type RunTakenBack struct {
	Name string
	App  api.AppID
}

func (f RunTakenBack) apply(l *Ledger) error {
	r := l.newest[f.Name]
	if r.App != f.App || l.profiles[f.Name] != r.after {
		return fmt.Errorf("the newest run in profile %s is not that of %s", f.Name, f.App)
	}
	delete(l.newest, f.Name)
	l.setProfile(f.Name, r.before)
	return nil
}

// setProfile makes p the profile of that name; nil takes it away.
func (l *Ledger) setProfile(name string, p *Profile) {
	if p == nil {
		delete(l.profiles, name)
		l.put(profileKey(name), nil)
		return
	}
	l.profiles[name] = p
	l.save(profileKey(name), p.Body)
}
