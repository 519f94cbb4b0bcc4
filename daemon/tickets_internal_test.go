package daemon

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/ledger"
)

// office is principals with a user ann, who has a ticket for submission s.
type office struct {
	*testing.T
	*principals
	ann    api.Principal
	ticket bus.Credential
}

func newOffice(t *testing.T, issued time.Time) *office {
	t.Helper()
	p, err := openPrincipals(principalsPath(t.TempDir()), bus.NewKeyring())
	if err != nil {
		t.Fatal(err)
	}
	o := &office{T: t, principals: p, ann: api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}}
	if err := p.issue(api.Issue{Principal: o.ann, Key: bus.NewCredential("").Key()}, issued); err != nil {
		t.Fatal(err)
	}
	o.ticket, err = o.issues(o.ann, "s", issued)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *office) issues(by api.Principal, submission string, at time.Time) (bus.Credential, error) {
	who := api.Principal{Kind: api.PrincipalTicket, Name: submission}
	c := bus.NewCredential(who.Login())
	return c, o.issueTicket(by, &api.Issue{Principal: who, Key: c.Key()}, at)
}

// admits is why a driver with the ticket may not register, nil where it may.
func (o *office) admits(submission, key string) error {
	by, err := o.keyring.Knows(o.ticket)
	if err != nil {
		return err
	}
	by, err = o.registrant(by, &api.RegisterRequest{Submission: submission, Key: key})
	if err == nil && (by.Login() != o.ann.Login() || !by.Ticket) {
		o.Errorf("it registers as %+v", by)
	}
	return err
}

func (o *office) drives(app api.AppID, key string) {
	o.Helper()
	if err := o.admits("s", key); err != nil {
		o.Fatal(err)
	}
	if err := o.used(o.ticket.Login, app, key); err != nil {
		o.Fatal(err)
	}
}

func (o *office) over(app api.AppID, state api.AppState, by api.EndedBy) {
	o.Helper()
	f := ledger.Archived{App: app, Detail: api.AppDetail{AppSummary: api.AppSummary{ID: app, Submission: "s", State: state, EndedBy: by}}}
	if err := o.archived(f); err != nil {
		o.Fatal(err)
	}
}

func (o *office) until() time.Time {
	by, _ := o.keyring.Who(o.ticket.Login)
	return by.Until
}

// A ticket ends with what it is for, and before that where nobody uses it.
func TestAttackALeftTicket(t *testing.T) {
	now := time.Now()
	refused := func(o *office, key string) {
		o.Helper()
		if err := o.admits("s", key); api.KindOf(err) != api.KindDenied || err == nil {
			o.Errorf("it registers: %v", err)
		}
	}
	for name, steal := range map[string]func(o *office){
		"once its submission has exited": func(o *office) {
			o.drives("app-1", "k")
			if err := o.exited(o.ann, "s"); err != nil {
				o.Fatal(err)
			}
			refused(o, "k")
		},
		"once its driver has ended in order": func(o *office) {
			o.drives("app-1", "k")
			o.over("app-1", api.AppFinished, api.EndedByLastWord)
			refused(o, "k2")
		},
		"once its user is revoked": func(o *office) {
			o.drives("app-1", "k")
			if err := o.revoke(o.ann.Login()); err != nil {
				o.Fatal(err)
			}
			refused(o, "k")
			again, err := openPrincipals(o.shelf, bus.NewKeyring())
			if err != nil || len(again.tickets) > 0 {
				o.Errorf("after a restart there are %v, %v", again.tickets, err)
			}
		},
		"an hour after a driver was lost": func(o *office) {
			o.drives("app-1", "k")
			if !o.until().IsZero() {
				o.Errorf("while it runs it ends at %v", o.until())
			}
			o.over("app-1", api.AppFailed, api.EndedBySilence)
			if left := time.Until(o.until()); left < 59*time.Minute || left > time.Hour {
				o.Errorf("it is good for %v more", left)
			}
		},
		"by one driver after the other": func(o *office) {
			for i := range mostDrivers {
				o.drives("app-1", string(rune('a'+i)))
			}
			refused(o, "one more")
		},
		"without a key": func(o *office) {
			if err := o.admits("s", ""); api.KindOf(err) != api.KindInvalid {
				o.Errorf("it registers: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { steal(newOffice(t, now)) })
	}
	t.Run("that nobody has used for a day", func(t *testing.T) { refused(newOffice(t, now.Add(-25*time.Hour)), "k") })
}

// A user's tickets are bounded, and another user takes none of them.
func TestAttackManyTickets(t *testing.T) {
	o, now := newOffice(t, time.Now()), time.Now()
	bob := api.Principal{Kind: api.PrincipalUser, Name: "bob", Role: api.RoleSubmit}
	if _, err := o.issues(bob, "s", now); api.KindOf(err) != api.KindDenied {
		t.Errorf("bob has a ticket for ann's submission: %v", err)
	}
	if err := o.exited(bob, "s"); err != nil || o.admits("s", "k") != nil {
		t.Errorf("bob has ended ann's ticket: %v", err)
	}
	for i := range mostTickets {
		o.tickets[string(rune('a'+i))] = &ticket{User: bob.Login(), Until: now.Add(time.Minute)}
	}
	if _, err := o.issues(bob, "more", now); api.KindOf(err) != api.KindTransient {
		t.Errorf("bob has one more: %v", err)
	}
	if _, err := o.issues(bob, "more", now.Add(2*time.Minute)); err != nil {
		t.Errorf("once his have ended: %v", err)
	}
}

// A driver that another one follows, and a further context of one, register; what is past takes nothing from them.
func TestATicketOutlastsALostDriver(t *testing.T) {
	o := newOffice(t, time.Now())
	o.drives("app-1", "k")
	o.over("app-1", api.AppFailed, api.EndedBySilence)
	o.drives("app-2", "k2")
	o.drives("app-3", "k2")
	o.over("app-2", api.AppUnknown, api.EndedByNext)
	if !o.until().IsZero() {
		t.Errorf("it ends at %v", o.until())
	}
	kept, err := openPrincipals(o.shelf, bus.NewKeyring())
	if err != nil {
		t.Fatal(err)
	}
	o.principals = kept
	o.drives("app-3", "k2")
}
