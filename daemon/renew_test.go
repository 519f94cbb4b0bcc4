package daemon_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// A planner reads the principals of an earlier release, which have hashes, and keeps a public key for each credential that
// is used; files of credentials stay as they are.
func TestPrincipalsOfAnEarlierReleaseAreRenewed(t *testing.T) {
	cfg := plannerConfig(t)
	used, idle := bus.NewCredential("user-ann"), bus.NewCredential("node-n1")
	hashed := func(c bus.Credential) string {
		sum := sha256.Sum256([]byte(c.Secret))
		return hex.EncodeToString(sum[:])
	}
	kept := `{"v": 1, "principals": [
		{"kind": "node", "name": "n1", "credentials": [{"hash": "` + hashed(idle) + `", "issued_at": "2026-01-01T00:00:00Z"}]},
		{"kind": "user", "name": "ann", "role": "submit", "credentials": [{"hash": "` + hashed(used) + `", "issued_at": "2026-01-01T00:00:00Z"}]}]}`
	path := filepath.Join(cfg.State, "credentials", "principals.json")
	if err := bus.WriteSecret(path, []byte(kept)); err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, cfg: cfg}
	for range 2 {
		stop := d.start()
		if _, err := d.dial(used).Control(t.Context(), api.VerbPing, api.ControlRequest{}); err != nil {
			t.Error(err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var now struct{ V int }
		if err := json.Unmarshal(body, &now); err != nil || now.V != 2 {
			t.Errorf("version %d, %v", now.V, err)
		}
		for text, want := range map[string]bool{used.Key(): true, hashed(used): false, used.Secret: false, hashed(idle): true, idle.Key(): false} {
			if strings.Contains(string(body), text) != want {
				t.Errorf("%s is there: %v, want %v", text, !want, want)
			}
		}
	}
}
