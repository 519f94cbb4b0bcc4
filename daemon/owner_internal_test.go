package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// mute says nothing and stores nothing.
type mute struct{}

func (mute) PublishPlan(api.Plan) error                      { return nil }
func (mute) PublishDirective(api.AppID, api.Directive) error { return nil }
func (mute) Deaf() bool                                      { return false }
func (mute) Apply([]api.Pair) error                          { return nil }

// An application that registers is its user's, when it registers again by its own credential and after a restart, too.
func TestAnApplicationIsItsUsers(t *testing.T) {
	dir := t.TempDir()
	audit, err := openAudit(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = audit.close() }()
	engine, err := planner.New(planner.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &PlannerDaemon{audit: audit}
	access, err := p.openAccess(principalsPath(dir), engine.Keys())
	if err != nil {
		t.Fatal(err)
	}
	term := &term{planner: p, engine: engine, access: access, loop: planner.NewLoop(engine, mute{}, mute{}, nil)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- term.loop.Run(ctx) }()
	term.loop.Hello(api.NodeStatus{V: api.Version, Node: "a", Incarnation: "a-1", Seq: 1, Host: "127.0.0.1", Offered: 4, Total: 4,
		Memory: 16 * units.GiB}, func(api.HelloReply) {})
	ann := api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}
	r := api.RegisterRequest{V: api.Version, Submission: "s", Name: "wc", Key: bus.NewCredential("").Key(),
		Launch: api.Launch{DriverURL: "spark://x", Heap: units.GiB, SparkVersion: "4.2.0"}}
	register := func(by api.Principal) api.AppID {
		t.Helper()
		replies := make(chan api.RegisterReply, 1)
		term.register(by, r, func(reply api.RegisterReply) { replies <- reply })
		select {
		case reply := <-replies:
			if reply.Error != nil {
				t.Fatal(reply.Error)
			}
			return reply.AppID
		case <-time.After(time.Minute):
			t.Fatal("no answer")
			return ""
		}
	}
	id := register(ann)
	for _, by := range []api.Principal{ann, application(id)} {
		register(by)
		if owner := access.keyring.Owner(string(id)); owner != ann.Login() {
			t.Errorf("%s is %q's, want %s", id, owner, ann.Login())
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	again, err := p.openAccess(principalsPath(dir), engine.Keys())
	if err != nil {
		t.Fatal(err)
	}
	if owner := again.keyring.Owner(string(id)); owner != ann.Login() {
		t.Errorf("after a restart %s is %q's, want %s", id, owner, ann.Login())
	}
}
