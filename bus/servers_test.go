package bus_test

import (
	"os"
	"testing"

	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/bus/bustest"
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

// natsServer is a nats-server whose planner has a password of its own.
type natsServer struct {
	*bustest.Server
	credentials string
}

func external(t *testing.T, cfg bus.ServerConfig) server {
	t.Helper()
	s := natsServer{}
	if cfg.Credentials != "" {
		text, err := os.ReadFile(cfg.Credentials)
		if err != nil {
			t.Fatal(err)
		}
		s.credentials = secrets(t, string(text)+"\nplanner:p-secret\n")
	}
	s.Server = bustest.Start(t, bustest.Config{Listen: cfg.Listen, Credentials: s.credentials})
	return s
}

// Connect dials as a planner does.
func (s natsServer) Connect(o bus.Options) (*bus.Conn, error) {
	o.Address, o.Role, o.Credentials = s.URL(), bus.RolePlanner, s.credentials
	return bus.Dial(o)
}
