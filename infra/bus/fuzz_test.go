package bus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// FuzzCredentials: whatever a credentials file holds, it is refused without a word of what
// is in it, or it is a login with a secret.
func FuzzCredentials(f *testing.F) {
	f.Add([]byte("# ours\nuser-ann:0123456789abcdef\n"))
	f.Add([]byte("node-n1:\nnode-n1:x\nuser-y:z\nnonsense"))
	f.Fuzz(func(t *testing.T, body []byte) {
		path := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := bus.LoadCredential(path, api.PrincipalUser)
		if err != nil {
			for _, line := range strings.Split(string(body), "\n") {
				if _, secret, ok := strings.Cut(line, ":"); ok && len(secret) > 12 && !strings.Contains(path, secret) && strings.Contains(err.Error(), secret) {
					t.Errorf("%q is in %v", secret, err)
				}
			}
			return
		}
		if !strings.HasPrefix(c.Login, "user-") || c.Secret == "" || strings.ContainsAny(c.Login, ". *>") {
			t.Errorf("%q has the login %q", body, c.Login)
		}
	})
}
