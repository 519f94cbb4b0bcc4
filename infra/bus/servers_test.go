package bus_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
)

// server is what the suite needs of a NATS server: the embedded one or its twin.
type server interface {
	Address() string
	// Connect returns a planner's connection.
	Connect(o bus.Options) (*bus.Conn, error)
	Close()
}

// starter runs one of the two servers.
type starter func(t *testing.T, cfg bus.ServerConfig) server

// both runs a test against the embedded server and against a nats-server.
func both(t *testing.T, test func(t *testing.T, run starter)) {
	t.Run("embedded", func(t *testing.T) {
		test(t, func(t *testing.T, cfg bus.ServerConfig) server { t.Helper(); return start(t, cfg) })
	})
	t.Run("external", func(t *testing.T) { test(t, external) })
}

// natsServer is a nats-server that asks the planner whom it may let in.
type natsServer struct {
	*bustest.Server
	keyring *bus.Keyring
	planner bus.Credential
}

// plannerOwn is a planner's credential.
func plannerOwn() bus.Credential {
	return bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
}

func external(t *testing.T, cfg bus.ServerConfig) server {
	t.Helper()
	s := natsServer{keyring: cfg.Keyring, planner: plannerOwn()}
	if s.keyring == nil {
		s.keyring = bus.NewKeyring()
	}
	s.Server = bustest.Start(t, bustest.Config{Listen: cfg.Listen, Planner: s.planner})
	return s
}

// Connect dials as a planner does.
func (s natsServer) Connect(o bus.Options) (*bus.Conn, error) {
	o.Address, o.Credential = s.URL(), s.planner
	c, err := bus.Dial(o)
	if err != nil {
		return nil, err
	}
	return c, authorize(c, s.keyring, s.planner)
}

// Those who connect.
func asUser(name string, role api.Role) api.Principal {
	return api.Principal{Kind: api.PrincipalUser, Name: name, Role: role}
}

func asNode(name string) api.Principal {
	return api.Principal{Kind: api.PrincipalNode, Name: name}
}

func asApp(id string) api.Principal {
	return api.Principal{Kind: api.PrincipalApplication, Name: id}
}

// world is a planner on a server, and who may connect.
type world struct {
	server
	keyring *bus.Keyring
	planner *bus.Conn
	status  chan api.NodeStatus
}

// planner serves echo on a new server.
func planner(t *testing.T, run starter, cfg bus.ServerConfig) world {
	t.Helper()
	if cfg.Keyring == nil {
		cfg.Keyring = bus.NewKeyring()
	}
	w := world{server: run(t, cfg), keyring: cfg.Keyring, status: make(chan api.NodeStatus, 64)}
	w.planner = inProcess(t, w.server)
	if err := serve(w.planner, w.keyring, echo(w.status)); err != nil {
		t.Fatal(err)
	}
	if err := w.planner.Flush(within(t)); err != nil {
		t.Fatal(err)
	}
	return w
}

// as connects as p.
func (w world) as(t *testing.T, p api.Principal, change ...func(*bus.Options)) *bus.Conn {
	t.Helper()
	o := bus.Options{Address: w.Address(), Credential: w.keyring.Lend(p)}
	for _, f := range change {
		f(&o)
	}
	return dial(t, o)
}

// authorize answers a nats-server until the connection ends.
func authorize(c *bus.Conn, keyring *bus.Keyring, own bus.Credential) error {
	_, err := bus.ServeAuthorization(c, keyring, own)
	return err
}
