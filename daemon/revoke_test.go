package daemon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/test/realenv"
)

// Whoever is revoked is out at once though a server that is not embedded keeps the connections: a
// user's running application is told when it ends; a node is lost, an operator's credential
// beside it does not let it in again, and `pacer auth issue` does.
func TestWhoIsRevokedIsOutOnAServerOfOnesOwn(t *testing.T) {
	x := newExternal(t)
	owner := x.dial(own(t, x.p, x.server.URL()))
	ask := func(verb api.Verb, q api.ControlRequest) api.ControlReply {
		t.Helper()
		var r api.ControlReply
		realenv.Await(t, string(verb), func() (ok bool) {
			var err error
			r, err = owner.Control(t.Context(), verb, q)
			return err == nil
		})
		return r
	}
	issue := func(who api.Principal) bus.Credential {
		c := bus.NewCredential(who.Login())
		ask(api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: who, Key: c.Key()}})
		return c
	}
	ann := x.dial(issue(api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}))
	reply, err := ann.Register(t.Context(), application("s-ann", bus.NewCredential("").Key()))
	if err != nil {
		t.Fatal(err)
	}
	soon(t, "an executor", x.w.started)
	ask(api.VerbRevoke, api.ControlRequest{Login: "user-ann"})
	if _, err := ann.Control(t.Context(), api.VerbPing, api.ControlRequest{}); api.KindOf(err) != api.KindDenied || err == nil {
		t.Errorf("ann asks on: %v", err)
	}
	if err := x.stopPlanner(); err != nil {
		t.Fatal(err)
	}
	x.startPlanner()
	if a := ask(api.VerbApp, api.ControlRequest{App: reply.AppID}).App; !strings.Contains(strings.Join(a.Notices, "\n"), "the credentials of user ann were revoked: it is ended in 1m") {
		t.Errorf("ann's application is told %q", a.Notices)
	}

	connected := func() bool { return ask(api.VerbNodes, api.ControlRequest{}).Nodes[0].State == "ready" }
	realenv.Await(t, "the node after the restart", connected)
	ask(api.VerbRevoke, api.ControlRequest{Login: "node-n1"})
	if connected() {
		t.Error("a revoked node is there")
	}
	x.server.Close() // The node has to connect anew, and tries to enrol.
	x.server.Start()
	realenv.Await(t, "a refused enrolment", func() bool { return strings.Contains(x.text.String(), "the credentials of node n1 were revoked") })
	if connected() {
		t.Error("a revoked node has let itself in again")
	}
	issue(api.Principal{Kind: api.PrincipalNode, Name: "n1"})
	realenv.Await(t, "the node with credentials again", connected)
	if err := errors.Join(x.stopNode(), x.stopPlanner()); err != nil {
		t.Error(err)
	}
}
