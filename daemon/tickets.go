package daemon

import (
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/async"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
)

// ticket lets the driver of one submission register as its user's, where the user's own credential is not to be: a
// cluster manager shows every executor what it brings to the driver. It asks for nothing else, and is one driver's at a
// time: another one, which the cluster manager starts when one is lost, has it when that is heard no more.
type ticket struct {
	Submission string `json:"submission"`
	// User is the login of whose submission it is, and as whom it registers: it ends with their credentials.
	User string `json:"user"`
	Key  string `json:"key"`
	// Until is when it ends; zero while an application runs that has come by it.
	Until time.Time `json:"until,omitzero"`
	// App is the newest application that has come by it, Drivers are the keys of the drivers that had it.
	App     api.AppID `json:"app,omitempty"`
	Drivers []string  `json:"drivers,omitempty"`
}

// How long a ticket is good that no driver has used, and one whose application has ended without the exit of its
// submission being known: the cluster manager may start another driver. How many a user has, and how many drivers one
// may have, one after the other.
const (
	ticketUnused  = 24 * time.Hour
	ticketLingers = time.Hour
	mostTickets   = 500
	mostDrivers   = 16
)

func (t *ticket) principal() api.Principal {
	return api.Principal{Kind: api.PrincipalTicket, Name: t.Submission, Until: t.Until}
}

// ticketLogin is who has the ticket of a submission.
func ticketLogin(submission string) string {
	return (&ticket{Submission: submission}).principal().Login()
}

// How many tickets wait to be written, of a user and of all: whoever revokes one waits for one write, not for these.
const ticketsEach, ticketsAll = 64, 256

func newClerk() async.Lane[string] { return async.Lane[string]{Each: ticketsEach, All: ticketsAll} }

// askTicket has a ticket of by's written to the disk, unless too many wait.
func (a *plannerAccess) askTicket(by api.Principal, i *api.Issue, reply func(error)) {
	login := by.Login()
	err := access.Verb(by, api.VerbTicket)
	if err == nil && !a.open && !a.clerk.Enter(login) {
		err = api.Errorf(api.KindTransient, "%d tickets of yours or %d of all wait to be written: try again in a moment",
			ticketsEach, ticketsAll)
	}
	if err != nil || a.open {
		reply(err)
		return
	}
	a.clerk.Run(login, func() {
		err := a.issueTicket(by, i, time.Now())
		a.clerk.Leave(login)
		reply(err)
	})
}

// issueTicket takes a ticket of by's, whose secret by has made: by may have been revoked since it asked.
func (p *principals) issueTicket(by api.Principal, i *api.Issue, now time.Time) error {
	if i == nil || i.Principal.Kind != api.PrincipalTicket {
		return api.Errorf(api.KindInvalid, "no submission is named for which a ticket is to be issued")
	}
	if err := i.Validate(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	by, err := p.keyring.Who(by.Login())
	if err == nil {
		err = access.Verb(by, api.VerbTicket)
	}
	if err != nil {
		return err
	}
	login, own := i.Principal.Login(), 0
	maps.DeleteFunc(p.tickets, func(_ string, t *ticket) bool { return !t.Until.IsZero() && !now.Before(t.Until) })
	for _, t := range p.tickets {
		if t.User == by.Login() {
			own++
		}
	}
	had := p.tickets[login]
	switch {
	case by.Kind != api.PrincipalUser:
		return api.Errorf(api.KindDenied, "a ticket is a user's, you are %s", by)
	case had != nil && had.User != by.Login():
		return api.Errorf(api.KindDenied, "submission %s is another user's", i.Principal.Name)
	case had != nil && had.Key == i.Key:
		return nil // It has asked twice.
	case had == nil && own >= mostTickets:
		return api.Errorf(api.KindTransient, "%s has %d tickets: more are issued when some have ended", by, own)
	}
	return p.keep(login, &ticket{Submission: i.Principal.Name, User: by.Login(), Key: i.Key,
		Until: now.Add(ticketUnused).UTC().Truncate(time.Second)})
}

// keep has t be the ticket of a login, nil for none; p is locked.
func (p *principals) keep(login string, t *ticket) error {
	had := p.tickets[login]
	if p.tickets[login] = t; t == nil {
		delete(p.tickets, login)
	}
	if err := p.save(); err != nil {
		if p.tickets[login] = had; had == nil {
			delete(p.tickets, login)
		}
		return err
	}
	if t != nil {
		p.keyring.PutOf(t.User, t.principal(), t.Key)
		return nil
	}
	p.keyring.Remove(login)
	p.disconnect(login)
	return nil
}

// registrant is as whom by registers: of a ticket that is its user, for its own submission, which no other user
// registers while it is good: a submission's name is no secret.
func (p *principals) registrant(by api.Principal, r *api.RegisterRequest) (api.Principal, error) {
	login, own := ticketLogin(r.Submission), by.Kind == api.PrincipalTicket
	if own {
		login = by.Login()
	} else if _, err := p.keyring.Who(login); err != nil || by.Kind != api.PrincipalUser || by.Operates() {
		return by, nil // It waits for no write.
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tickets[login]
	switch {
	case !own && t != nil && t.User != by.Login():
		return by, api.Errorf(api.KindDenied, "submission %s is another user's", t.Submission)
	case !own:
		return by, nil
	case t == nil:
		return by, api.Errorf(api.KindDenied, "the ticket of submission %s has ended", by.Name)
	case r.Submission != t.Submission:
		return by, api.Errorf(api.KindDenied, "a ticket registers submission %s and no other one", t.Submission)
	case r.Key == "":
		return by, api.Errorf(api.KindInvalid, "key is empty: a driver with a ticket goes on as its application")
	case len(t.Drivers) >= mostDrivers && !slices.Contains(t.Drivers, r.Key):
		return by, api.Errorf(api.KindDenied, "%d drivers have had the ticket of submission %s", mostDrivers, t.Submission)
	}
	user, err := p.keyring.Who(t.User)
	user.Ticket = true
	return user, err
}

// used notes that a driver has registered an application by the ticket of a login.
func (p *principals) used(login string, app api.AppID, key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tickets[login]
	if t == nil || t.App == app && t.Until.IsZero() && slices.Contains(t.Drivers, key) {
		return nil
	}
	next := *t
	next.App, next.Until = app, time.Time{}
	if !slices.Contains(t.Drivers, key) {
		next.Drivers = append(slices.Clone(t.Drivers), key)
	}
	return p.keep(login, &next)
}

// archived has a ticket end with its application: at once where the driver's end is known to be the last one, else when
// no other driver has come for a while.
func (p *principals) archived(f ledger.Archived) error {
	login := ticketLogin(f.Detail.Submission)
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tickets[login]
	if t == nil || t.App != f.App {
		return nil
	}
	by := f.Detail.EndedBy
	if by == api.EndedByExit || by == api.EndedByLastWord && f.Detail.State == api.AppFinished {
		return p.keep(login, nil)
	}
	next := *t
	next.Until = time.Now().Add(ticketLingers).UTC().Truncate(time.Second)
	return p.keep(login, &next)
}

// exited ends the ticket of a submission whose user says that it has ended.
func (p *principals) exited(by api.Principal, submission string) error {
	login := ticketLogin(submission)
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tickets[login]; t == nil || t.User != by.Login() && !by.Operates() {
		return nil
	}
	return p.keep(login, nil)
}
