package bus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// A peer of another protocol version is told both, whichever side is newer: what it asks is
// refused, what it publishes is a fault, and nothing of it is taken.
func TestBothVersionsAreSaid(t *testing.T) { both(t, testBothVersionsAreSaid) }

func testBothVersionsAreSaid(t *testing.T, run starter) {
	said := func(what string, err error) {
		t.Helper()
		next, own := fmt.Sprint("version ", api.Version+1), fmt.Sprint("speaks ", api.Version)
		if api.KindOf(err) != api.KindVersion || err == nil || !strings.Contains(err.Error(), next) || !strings.Contains(err.Error(), own) {
			t.Errorf("%s: %v (%v)", what, err, api.KindOf(err))
		}
	}
	keyring := bus.NewKeyring()
	s := run(t, bus.ServerConfig{Keyring: keyring})
	w := world{server: s, keyring: keyring, planner: inProcess(t, s)}
	newer := false // What the planner answers.
	version := func() int {
		if newer {
			return api.Version + 1
		}
		return api.Version
	}
	handlers := echo(make(chan api.NodeStatus, 64))
	handlers.Hello = func(_ api.NodeStatus, reply func(api.HelloReply)) { reply(api.HelloReply{V: version()}) }
	handlers.Register = func(_ api.Principal, _ api.RegisterRequest, reply func(api.RegisterReply)) {
		reply(api.RegisterReply{V: version(), AppID: "app-a"})
	}
	if err := serve(w.planner, keyring, handlers); err != nil {
		t.Fatal(err)
	}
	if err := w.planner.Flush(within(t)); err != nil {
		t.Fatal(err)
	}
	user, driver := w.as(t, asUser("ann", api.RoleSubmit)), w.as(t, asApp("app-a"))
	faults, plans := make(chan error, 8), make(chan api.Plan, 8)
	node := dial(t, bus.Options{Address: s.Address(), Credential: keyring.Lend(asNode("n1")), OnFault: func(err error) { faults <- err }})
	if err := node.SubscribePlan("n1", func(p api.Plan) { plans <- p }); err != nil {
		t.Fatal(err)
	}
	if err := node.Flush(within(t)); err != nil {
		t.Fatal(err)
	}

	ahead := status("n1")
	ahead.V++
	_, err := node.Hello(within(t), ahead)
	said("a newer node", err)
	_, err = driver.SendEvents(within(t), api.Events{V: api.Version + 1, AppID: "app-a", Submission: "s"})
	said("a newer driver", err)
	r := registration("a")
	r.V++
	_, err = user.Register(within(t), r)
	said("a newer driver that registers", err)

	newer = true
	_, err = node.Hello(within(t), status("n1"))
	said("a newer planner's answer to a node", err)
	_, err = user.Register(within(t), registration("a"))
	said("a newer planner's answer to a driver", err)
	if err := w.planner.PublishPlan(api.Plan{V: api.Version + 1, Node: "n1", Epoch: 1}); err != nil {
		t.Fatal(err)
	}
	said("a newer planner's Plan", receive(t, faults))
	if err := w.planner.PublishPlan(api.Plan{V: api.Version, Node: "n1", Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	if p := receive(t, plans); p.Epoch != 2 {
		t.Errorf("plan %d", p.Epoch)
	}
}
