package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// registerAs registers an application of a user.
func (w *world) registerAs(user string, r api.RegisterRequest) api.RegisterReply {
	w.Helper()
	by := api.Principal{Kind: api.PrincipalUser, Name: user, Role: api.RoleSubmit}
	reply := w.step(planner.Register{To: 1, By: by, Request: r}).(api.RegisterReply)
	if reply.Error != nil {
		w.Fatalf("register %s: %v", r.Name, reply.Error)
	}
	w.directives[reply.AppID] = reply.Directive
	return reply
}

func (w *world) standing(kind api.PrincipalKind, name string, revoked bool) {
	w.Helper()
	w.step(planner.Standing{Principal: api.Principal{Kind: kind, Name: name}, Revoked: revoked})
}

// Of a user whose credentials were revoked a queued application is turned down at once; one that runs
// is told, and ended after a grace, over a restart of the planner too. Others' go on.
func TestTheApplicationsOfARevokedUserEnd(t *testing.T) {
	w := newWorld(t, "a")
	w.memory["a"] = 5 * units.GiB
	w.hello("a")
	big := func(name string) api.RegisterRequest {
		r := registration(name, 0)
		r.Launch.Heap = 2 * units.GiB
		return r
	}
	runs, others := w.registerAs("ann", big("runs")), w.registerAs("bob", registration("others", 0))
	waits, othersWait := w.registerAs("ann", big("waits")), w.registerAs("bob", big("others wait"))
	if waits.Directive.Queued == nil || othersWait.Directive.Queued == nil {
		t.Fatalf("nobody waits: %+v", waits)
	}
	w.standing(api.PrincipalUser, "ann", true)
	again := w.step(planner.Register{To: 1, By: api.Principal{Kind: api.PrincipalApplication, Name: string(waits.AppID)}, Request: big("waits")}).(api.RegisterReply)
	if a := w.app(waits.AppID); a.State != api.AppRefused || a.Reason != "the credentials of user ann were revoked" || again.Error == nil || again.Error.Message != a.Reason {
		t.Errorf("the queued one is %s, %q, and is told %+v", a.State, a.Reason, again)
	}
	if d := w.directives[runs.AppID]; d.Dead != "" || !strings.Contains(d.Notice, "the credentials of user ann were revoked: it is ended in 1m") {
		t.Errorf("the running one is told %+v", d)
	}
	w.restart()
	w.standing(api.PrincipalUser, "ann", true) // As it is told at each start.
	w.hello("a")
	ids := []api.AppID{runs.AppID, others.AppID, othersWait.AppID}
	w.live(planner.Default().RevokeGrace-2*time.Second, ids...)
	if d := w.directives[runs.AppID]; d.Dead != "" {
		t.Errorf("it is ended before its grace: %q", d.Dead)
	}
	w.live(3*time.Second, ids...)
	if d := w.directives[runs.AppID]; !strings.Contains(d.Dead, "the credentials of user ann were revoked") {
		t.Errorf("after its grace it is told %+v", d)
	}
	w.live(15*time.Second, ids[1:]...)
	if a := w.app(runs.AppID); a.State != api.AppFailed {
		t.Errorf("it is %s", a.State)
	}
	for _, id := range ids[1:] {
		if a := w.app(id); a.State == api.AppFailed || a.State == api.AppRefused {
			t.Errorf("%s of another user is %s: %s", id, a.State, a.Headline)
		}
	}
}

// A user who gets other credentials within the grace, because the old ones were lost say, loses nothing.
func TestAUserWithCredentialsAgainGoesOn(t *testing.T) {
	w := newWorld(t, "a")
	runs := w.registerAs("ann", registration("p", 0))
	w.standing(api.PrincipalUser, "ann", true)
	w.live(30*time.Second, runs.AppID)
	w.standing(api.PrincipalUser, "ann", false)
	if d := w.directives[runs.AppID]; !strings.Contains(d.Notice, "goes on") {
		t.Errorf("it is told %+v", d)
	}
	w.live(2*time.Minute, runs.AppID)
	if a := w.app(runs.AppID); a.State != api.AppRunning || w.directives[runs.AppID].Dead != "" {
		t.Errorf("it is %s, %q", a.State, w.directives[runs.AppID].Dead)
	}
}

// A revoked node is lost at once, to the drivers of its executors too, and gets no others.
func TestARevokedNodeIsLostAtOnce(t *testing.T) {
	w := newWorld(t, "a", "b")
	runs := w.registerAs("ann", registration("p", 0))
	w.standing(api.PrincipalNode, "a", true)
	lost := 0
	for _, x := range w.directives[runs.AppID].Executors {
		if x.NodeLost != (x.Node == "a") {
			t.Errorf("executor %+v", x)
		}
		if x.NodeLost {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no executor is on a lost node")
	}
	next := w.registerAs("ann", registration("q", 0))
	for _, x := range next.Directive.Executors {
		if x.Node == "a" {
			t.Errorf("executor %+v is placed on a revoked node", x)
		}
	}
	w.hello("a") // It has got other credentials.
	if last := w.registerAs("ann", registration("r", 0)); len(last.Directive.Executors) != 2 {
		t.Errorf("with credentials again: %+v", last.Directive.Executors)
	}
}
