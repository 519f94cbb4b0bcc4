package bus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
)

// A server that listens nowhere and its connections live inside one process, on
// whatever clock that has: the whole system can be tested in virtual time.
func TestAServerWithoutSocketsRunsInVirtualTime(t *testing.T) {
	bustest.Bubble(t, func(t *testing.T) {
		keyring := bus.NewKeyring()
		s, err := bus.StartServer(bus.ServerConfig{Keyring: keyring})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Connect(bus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(serve(p, keyring, echo(nil)), p.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		c, err := s.ConnectAs(asUser("ann", api.RoleView), bus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Control(t.Context(), api.VerbPing, api.ControlRequest{}); err != nil {
			t.Error(err)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := c.Control(ctx, api.VerbApp, api.ControlRequest{App: "silent"}); api.KindOf(err) != api.KindTransient {
			t.Errorf("silence: %v", err)
		}
		if waited := time.Since(start); waited != time.Hour {
			t.Errorf("the timeout came after %v", waited)
		}
		c.Close()
		p.Close()
		s.Close()
	})
}
