package daemon

import (
	"fmt"
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
	o := &office{T: t, principals: p}
	o.ann = o.user("ann")
	o.ticket, err = o.issues(o.ann, "s", issued)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// user has somebody have a credential, who submits.
func (o *office) user(name string) api.Principal {
	o.Helper()
	who := api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleSubmit}
	if err := o.issue(api.Principal{}, api.Issue{Principal: who, Key: bus.NewCredential("").Key()}, time.Now()); err != nil {
		o.Fatal(err)
	}
	return who
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
	bob := o.user("bob")
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

// gated is a shelf that writes while its gate is open, and says when a write begins.
type gated struct {
	shelf
	began, gate chan struct{}
	writes      *int
}

func (g gated) write(body []byte) error {
	g.began <- struct{}{}
	<-g.gate
	*g.writes++
	return g.shelf.write(body)
}

// shut puts a gate before what o writes from now on.
func (o *office) shut() gated {
	g := gated{shelf: o.shelf, began: make(chan struct{}, 2000), gate: make(chan struct{}), writes: new(int)}
	o.shelf = g
	return g
}

// Whoever asks for tickets without end has few of them written: others wait for one write.
func TestAttackTicketsAtOnce(t *testing.T) {
	o := newOffice(t, time.Now())
	bob, g := o.user("bob"), o.shut()
	a := &plannerAccess{principals: o.principals, clerk: newClerk()}
	said := make(chan error, 600)
	ask := func(by api.Principal, submission string) {
		who := api.Principal{Kind: api.PrincipalTicket, Name: submission}
		a.askTicket(by, &api.Issue{Principal: who, Key: bus.NewCredential(who.Login()).Key()}, func(err error) { said <- err })
	}
	for i := range 500 {
		ask(o.ann, fmt.Sprint("more-", i))
	}
	ask(bob, "his")
	for range 500 - ticketsEach {
		if err := <-said; api.KindOf(err) != api.KindTransient {
			t.Fatalf("one too many: %v", err)
		}
	}
	close(g.gate)
	for range ticketsEach + 1 {
		if err := <-said; err != nil {
			t.Errorf("one that waits: %v", err)
		}
	}
	a.clerk.Wait()
	if *g.writes != ticketsEach+1 {
		t.Errorf("%d writes, want %d", *g.writes, ticketsEach+1)
	}
	ask(o.ann, "one more")
	if err := <-said; err != nil {
		t.Errorf("once these are written: %v", err)
	}
}

// A ticket that waits when its user is revoked is issued no more.
func TestAttackATicketBehindARevocation(t *testing.T) {
	o := newOffice(t, time.Now())
	file, g := o.shelf, o.shut()
	a := &plannerAccess{principals: o.principals, clerk: newClerk()}
	said, revoked := make(chan error, 10), make(chan error, 1)
	ask := func(submission string) {
		who := api.Principal{Kind: api.PrincipalTicket, Name: submission}
		a.askTicket(o.ann, &api.Issue{Principal: who, Key: bus.NewCredential(who.Login()).Key()}, func(err error) { said <- err })
	}
	ask("first")
	<-g.began
	go func() { revoked <- o.revoke(o.ann.Login()) }()
	for i := range 9 {
		ask(fmt.Sprint("behind-", i))
	}
	close(g.gate)
	if err := <-revoked; err != nil {
		t.Fatal(err)
	}
	a.clerk.Wait()
	ask("after")
	for range 10 {
		<-said
	}
	if err := <-said; api.KindOf(err) != api.KindDenied {
		t.Errorf("after: %v", err)
	}
	kept, err := openPrincipals(file, bus.NewKeyring())
	if err != nil || len(kept.tickets) > 0 || len(o.tickets) > 0 {
		t.Errorf("ann has %v and %v, %v", kept.tickets, o.tickets, err)
	}
	for _, submission := range []string{"s", "first", "behind-0", "behind-8", "after"} {
		if _, err := o.keyring.Who(ticketLogin(submission)); err == nil {
			t.Errorf("the ticket of %s is taken", submission)
		}
	}
}

// A ticket that is asked for again, by the same key, is written once.
func TestAttackTheSameTicketAgain(t *testing.T) {
	o := newOffice(t, time.Now())
	g := o.shut()
	close(g.gate)
	for range 100 {
		if err := o.issueTicket(o.ann, &api.Issue{Principal: api.Principal{Kind: api.PrincipalTicket, Name: "s"}, Key: o.ticket.Key()}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if *g.writes > 0 {
		t.Errorf("it is written %d times", *g.writes)
	}
	if _, err := o.issues(o.ann, "s", time.Now()); err != nil || *g.writes != 1 {
		t.Errorf("by another key: %d writes, %v", *g.writes, err)
	}
}

// A submission that a ticket is for is its user's, before its driver comes and while that runs.
func TestAttackASubmissionOfAnothersTicket(t *testing.T) {
	o := newOffice(t, time.Now())
	bob := o.user("bob")
	op := api.Principal{Kind: api.PrincipalUser, Name: "op", Role: api.RoleOperate}
	registers := func(by api.Principal, submission string) error {
		_, err := o.registrant(by, &api.RegisterRequest{Submission: submission, Key: "k"})
		return err
	}
	for _, drives := range []bool{false, true} {
		if drives {
			o.drives("app-1", "k")
		}
		if err := registers(bob, "s"); err == nil || api.KindOf(err) != api.KindDenied || err.Error() != "submission s is another user's" {
			t.Errorf("bob registers it: %v", err)
		}
		for _, by := range []api.Principal{o.ann, op, {}, {Kind: api.PrincipalApplication, Name: "app-1"}} {
			if err := registers(by, "s"); err != nil {
				t.Errorf("%s: %v", by, err)
			}
		}
		if err := registers(bob, "his"); err != nil {
			t.Errorf("bob's own: %v", err)
		}
	}
	if err := o.exited(o.ann, "s"); err != nil || registers(bob, "s") != nil {
		t.Errorf("once it has ended: %v", err)
	}
	late := newOffice(t, time.Now().Add(-25*time.Hour))
	if _, err := late.registrant(bob, &api.RegisterRequest{Submission: "s"}); err != nil {
		t.Errorf("once the ticket has ended: %v", err)
	}
}
