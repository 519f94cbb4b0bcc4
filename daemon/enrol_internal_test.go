package daemon

import (
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// A node finds out once whether the configuration names its own credential: it asks each second, and at each connect.
func TestANodeReadsOnceWhoseCredentialIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "named.key")
	write := func(p api.Principal) {
		if err := bus.WriteSecret(file, bus.NewCredential(p.Login()).Encode()); err != nil {
			t.Fatal(err)
		}
	}
	node, join := api.Principal{Kind: api.PrincipalNode, Name: "n1"}, api.Principal{Kind: api.PrincipalJoin, Name: "k1"}
	for _, c := range []struct {
		first, then api.Principal
		given       bool
	}{{node, join, true}, {join, node, false}} {
		write(c.first)
		e := newEnrolment(NodeConfig{Name: "n1", Credentials: file, State: t.TempDir()}, nil, false, nil)
		if e.given() != c.given {
			t.Errorf("the file has a credential of %s: its own: %v", c.first, e.given())
		}
		write(c.then)
		if e.given() != c.given || (e.path() == file) != c.given {
			t.Errorf("the file of %s is read again", c.first)
		}
	}
}
