package config

import (
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
)

// Commands look for the user's own credential first, then in the planner's state: for one that no user has, and for that
// of a planner whose unit keeps it there.
func TestWhereACredentialIsFound(t *testing.T) {
	c := Client{Planner: "127.0.0.1:4222", Dir: t.TempDir(), State: t.TempDir()}
	if own, err := c.Credential(); err != nil || own.Login != "" {
		t.Errorf("where there is none: %q, %v", own.Login, err)
	}
	for _, path := range []string{bus.CredentialPath(filepath.Join(c.State, "credentials"), c.Planner), daemon.OperatorPath(c.State),
		bus.CredentialPath(c.Dir, c.Planner)} { // The last one first.
		p := api.Principal{Kind: api.PrincipalUser, Name: "ops"}
		if err := bus.WriteSecret(path, bus.NewCredential(p.Login()).Encode()); err != nil {
			t.Fatal(err)
		}
		if own, err := c.Credential(); err != nil || own.Path != path {
			t.Errorf("want that of %s: %s, %v", path, own.Path, err)
		}
	}
}
