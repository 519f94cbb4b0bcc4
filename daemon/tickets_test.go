package daemon_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// onYARN is an application whose executors YARN starts.
func onYARN(submission, key string) api.RegisterRequest {
	r := application(submission, key)
	r.Launch.Attach = &api.Attach{Manager: api.ManagerYARN, App: "application_1_0001"}
	return r
}

// ticket has a user have a ticket for a submission.
func ticket(ctx context.Context, by *bus.Conn, submission string) (bus.Credential, error) {
	who := api.Principal{Kind: api.PrincipalTicket, Name: submission}
	c := bus.NewCredential(who.Login())
	_, err := by.Control(ctx, api.VerbTicket, api.ControlRequest{Issue: &api.Issue{Principal: who, Key: c.Key()}})
	return c, err
}

// Whoever reads a ticket where executors can has nothing by it: not before, beside or after its driver.
func TestAttackATicket(t *testing.T) {
	d := &desk{T: t, cfg: plannerConfig(t)}
	text := &logs{}
	d.cfg.Logger = text.logger()
	stop := d.start()
	user := func(name string, role api.Role) *bus.Conn {
		return d.dial(d.issue(api.Principal{Kind: api.PrincipalUser, Name: name, Role: role}))
	}
	ann, viv := user("ann", api.RoleSubmit), user("viv", api.RoleView)
	c, err := ticket(t.Context(), ann, "s-ann")
	if err != nil {
		t.Fatal(err)
	}
	denied := func(t *testing.T, err error) {
		t.Helper()
		if err == nil || api.KindOf(err) != api.KindDenied || strings.Contains(err.Error(), "\n") {
			t.Errorf("it is taken: %v", err)
		}
	}
	thief := d.dial(c)
	t.Run("of who may look", func(t *testing.T) {
		_, err := ticket(t.Context(), viv, "s-viv")
		denied(t, err)
	})
	t.Run("issued as a credential", func(t *testing.T) {
		who := api.Principal{Kind: api.PrincipalTicket, Name: "s-ann"}
		_, err := d.owner.Control(t.Context(), api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: who, Key: bus.NewCredential("").Key()}})
		if api.KindOf(err) != api.KindInvalid {
			t.Errorf("it is taken: %v", err)
		}
	})
	t.Run("for another submission", func(t *testing.T) {
		_, err := thief.Register(t.Context(), onYARN("s-other", bus.NewCredential("").Key()))
		denied(t, err)
	})
	t.Run("to ask and to speak", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if r, err := thief.Control(ctx, api.VerbApps, api.ControlRequest{}); err == nil {
			t.Errorf("it sees %+v", r)
		}
		if _, err := ticket(ctx, thief, "s-more"); err == nil {
			t.Error("it has another ticket")
		}
		if _, err := thief.SendEvents(ctx, api.Events{V: api.Version, AppID: "app-20260101000000-0001"}); err == nil {
			t.Error("it speaks as an application")
		}
		for _, path := range []string{"/api/v1/nodes", "/metrics"} {
			if status, body := get(t, httpOf(text.String(), "planner")+path, c.Login+":"+c.Secret); status < 400 {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	})

	key := bus.NewCredential("").Key()
	if err := stop(); err != nil { // A planner that starts again knows it.
		t.Fatal(err)
	}
	stop = d.start()
	t.Run("registered by another user before", func(t *testing.T) {
		bob := user("bob", api.RoleSubmit)
		_, err := bob.Register(t.Context(), onYARN("s-ann", bus.NewCredential("").Key()))
		denied(t, err)
	})
	driver := d.dial(c)
	reply, err := driver.Register(t.Context(), onYARN("s-ann", key))
	if err != nil || !reply.Own {
		t.Fatalf("its driver: %+v, %v", reply, err)
	}
	for range 30 {
		if again, err := driver.Register(t.Context(), onYARN("s-ann", key)); err != nil || again.AppID != reply.AppID {
			t.Errorf("its driver, which has not heard: %+v, %v", again, err)
		}
	}
	if r, err := d.owner.Control(t.Context(), api.VerbApp, api.ControlRequest{App: reply.AppID}); err != nil || r.App.User != "ann" {
		t.Errorf("it is of %+v, %v", r.App, err)
	}
	t.Run("beside its driver", func(t *testing.T) {
		thief, other := d.dial(c), onYARN("s-ann", bus.NewCredential("").Key())
		if _, err := thief.Register(t.Context(), other); api.KindOf(err) != api.KindConflict {
			t.Errorf("in its driver's place: %v", err)
		}
		other.Context = 100
		if _, err := thief.Register(t.Context(), other); api.KindOf(err) != api.KindTransient {
			t.Errorf("as the next attempt: %v", err)
		}
	})
	t.Run("after its submission", func(t *testing.T) {
		ann := d.dial(d.issue(api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}))
		if _, err := ann.Control(t.Context(), api.VerbExit, api.ControlRequest{Submission: "s-ann"}); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); ; {
			conn, err := bus.Dial(bus.Options{Address: d.address, Credential: c})
			if api.KindOf(err) == api.KindDenied {
				return
			}
			if err == nil {
				conn.Close()
			}
			if time.Now().After(end) {
				t.Fatalf("it connects: %v", err)
			}
		}
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	audit, err := os.ReadFile(filepath.Join(d.cfg.State, "audit.log"))
	for _, want := range []string{`"who":"user-ann","verb":"ticket","what":"ticket-s-ann","result":"ok"`, `"who":"ticket-s-ann","verb":"register"`} {
		if err != nil || !strings.Contains(string(audit), want) {
			t.Errorf("the audit log does not say %s:\n%s", want, audit)
		}
	}
	if line := `"verb":"register","what":"wc ` + string(reply.AppID) + `","result":"ok"`; strings.Count(string(audit), line) != 1 {
		t.Errorf("the audit log says %d times that it is registered", strings.Count(string(audit), line))
	}
	kept, err := os.ReadFile(filepath.Join(d.cfg.State, "credentials", "principals.json"))
	if err != nil || strings.Contains(string(kept), c.Secret) {
		t.Errorf("the planner keeps the secret of a ticket: %v", err)
	}
}
