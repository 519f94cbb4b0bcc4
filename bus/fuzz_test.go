package bus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/bus"
)

// FuzzCredentials: whatever a credentials file holds, it is refused without a word of what
// is in it, or each role has a password.
func FuzzCredentials(f *testing.F) {
	f.Add([]byte("# ours\nplanner:a\nnode:b\napplication:c:d\noperator: e\n"))
	f.Add([]byte("node:\nnode:x\nnode:y\nadmin:z\nnonsense"))
	f.Fuzz(func(t *testing.T, body []byte) {
		path := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := bus.LoadCredentials(path)
		if err != nil {
			for _, line := range strings.Split(string(body), "\n") {
				if _, secret, ok := strings.Cut(line, ":"); ok && len(secret) > 12 && !strings.Contains(path, secret) && strings.Contains(err.Error(), secret) {
					t.Errorf("%q is in %v", secret, err)
				}
			}
			return
		}
		if len(c) == 0 || len(c) > 4 {
			t.Errorf("%d roles", len(c))
		}
		for role, password := range c {
			if role == "" || password == "" {
				t.Errorf("role %q has an empty password", role)
			}
		}
	})
}
