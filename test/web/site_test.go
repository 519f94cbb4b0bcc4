package web

import (
	"net"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/browser"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// site is a planner with two nodes of two cores, and a browser on its page.
type site struct {
	*browser.Tab
	t       *testing.T
	world   *testenv.Env
	address string
}

// on runs a test on a site.
func on(t *testing.T, test func(s *site)) {
	empty(t, func(s *site) {
		for _, name := range []string{"n1", "n2"} {
			s.world.StartNode(testenv.NodeSpec{Name: name, Cores: 2})
		}
		test(s)
	})
}

// empty runs a test on a site without a node.
func empty(t *testing.T, test func(s *site)) {
	browser.Require(t)
	testenv.RunReal(t, func(e *testenv.Env) {
		s := &site{t: t, world: e, address: free(t)}
		e.Planner = func(c *daemon.PlannerConfig) { c.HTTP = s.address }
		e.StartPlanner()
		s.Tab = browser.New(t, 1280, 800)
		test(s)
		if said := s.Console(); len(said) > 0 {
			t.Errorf("the console says %q", said)
		}
		if refused := s.Refused(); len(refused) > 0 {
			t.Errorf("the policy has not allowed %q", refused)
		}
	})
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// link is an address that `pacer web` prints.
func (s *site) link() string {
	s.t.Helper()
	r, err := s.world.Ask(api.VerbWeb, api.ControlRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Web.URL + "/#" + r.Web.Code
}

// enter opens the page with a session.
func (s *site) enter() {
	s.t.Helper()
	s.Open(s.link())
	s.Until(`document.querySelector(".dot.live") !== null`)
}

// recorded runs an application once and leaves its profile.
func (s *site) recorded(name string, work units.Work) plant.App {
	a := testenv.Chain(name, 2, work)
	s.world.Submit(a).Wait()
	return a
}
