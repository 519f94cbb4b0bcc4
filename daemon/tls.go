package daemon

import (
	"os"
	"path/filepath"

	"github.com/sparkpacer/pacer/infra/bus"
)

// TLSDir is where in a planner's state its authority and its certificate are, if
// `pacer auth init` has made them.
const TLSDir = "tls"

// Authority is the directory of the planner's own authority.
func (c PlannerConfig) Authority() string { return filepath.Join(c.State, TLSDir) }

// ownTLS is the certificate with which the planner answers at address: the configured
// one, else the generated one where others reach the address.
func (c PlannerConfig) ownTLS(address string) bus.TLS {
	generated := bus.ServerFiles(c.Authority())
	switch {
	case c.TLS.Cert != "":
		return c.TLS
	case address != "" && !bus.IsLoopback(address) && exists(generated.Cert):
		return generated
	}
	return bus.TLS{}
}

// Certificate is the one with which the embedded server answers, none where it needs none.
func (c PlannerConfig) Certificate() bus.TLS { return c.ownTLS(c.Listen) }

// server is the embedded server's configuration.
func (c PlannerConfig) server() bus.ServerConfig {
	return bus.ServerConfig{Listen: c.Listen, TLS: c.ownTLS(c.Listen), Plaintext: c.Plaintext, Logger: c.Logger}
}

// beside is what the node controller in the planner's process has: how the planner reaches
// a server that is not embedded, and the planner's certificate for its own HTTP address.
func (c PlannerConfig) beside(http string) bus.TLS {
	t, own := c.TLS, c.ownTLS(http)
	t.Cert, t.Key = own.Cert, own.Key
	return t
}

// Trust is how clients on this machine reach the planner that c is for.
func (c PlannerConfig) Trust() bus.TLS {
	if c.NatsURL != "" {
		return c.TLS
	}
	t := bus.TLS{CA: c.TLS.CA}
	if authority := filepath.Join(c.Authority(), bus.AuthorityFile); t.CA == "" && c.ownTLS(c.Listen).Cert != "" &&
		exists(authority) {
		t.CA = authority
	}
	return t
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
