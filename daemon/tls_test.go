package daemon_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
)

// What others reach is secured by what `pacer auth init` made, and loopback needs nothing.
func TestAForeignAddressUsesTheGeneratedCertificate(t *testing.T) {
	cfg := plannerConfig(t)
	cfg.Listen = "0.0.0.0:0"
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "pacer auth init NAME") {
		t.Errorf("without a certificate: %v", err)
	}
	open := cfg
	open.Plaintext = true
	if err := open.Validate(); err != nil {
		t.Errorf("as the setting says: %v", err)
	}
	authority, err := bus.NewAuthority(cfg.Authority(), time.Now())
	if err == nil {
		_, err = authority.Issue(bus.ServerFiles(cfg.Authority()), []string{"127.0.0.1"}, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	local := cfg
	local.Listen = "127.0.0.1:4222"
	if local.Trust() != (bus.TLS{}) || cfg.Trust() != (bus.TLS{CA: authority.CA()}) {
		t.Errorf("loopback %+v, elsewhere %+v", local.Trust(), cfg.Trust())
	}
	line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Planner(ctx, cfg)
	})
	address := strings.TrimPrefix(line, "planner ready on ")
	_, port, _ := net.SplitHostPort(address)
	ping := func(trust bus.TLS) error {
		conn, err := bus.Dial(bus.Options{Address: "127.0.0.1:" + port, Credential: own(t, cfg, address), TLS: trust})
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Control(t.Context(), api.VerbPing, api.ControlRequest{})
		return err
	}
	if err := ping(cfg.Trust()); err != nil {
		t.Error(err)
	}
	if err := ping(bus.TLS{CA: bustest.NewAuthority(t).CA()}); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("another authority: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A node controller beside its planner has the planner's certificate for its own address.
func TestUpHasOneCertificate(t *testing.T) {
	c := daemon.UpConfig{Planner: plannerConfig(t), Node: nodeConfig()}
	c.Node.HTTP = "10.1.2.3:0"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "node: http: 10.1.2.3:0 can be reached from other machines, so a certificate is needed: run `pacer auth init 10.1.2.3`") {
		t.Errorf("without a certificate: %v", err)
	}
	authority, err := bus.NewAuthority(c.Planner.Authority(), time.Now())
	if err == nil {
		_, err = authority.Issue(bus.ServerFiles(c.Planner.Authority()), []string{"10.1.2.3"}, time.Now())
	}
	if err = errors.Join(err, c.Validate()); err != nil {
		t.Error(err)
	}
	c.Planner.State = t.TempDir()
	c.Planner.Plaintext = true
	if err := c.Validate(); err != nil {
		t.Errorf("as the setting says: %v", err)
	}
}
