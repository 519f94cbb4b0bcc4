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

// FuzzProof: whatever somebody shows, it proves a login by no other signature than that of the nonce by the login's secret.
func FuzzProof(f *testing.F) {
	p, hashed := asUser("ann", api.RoleOperate), asUser("bob", api.RoleOperate)
	keyring := bus.NewKeyring()
	own, old := keyring.Lend(p), bus.NewCredential(hashed.Login())
	keyring.Put(hashed, bus.HashOf(old))
	right := bus.ProofOf(own, []byte("nonce"))
	f.Add(right.Login, right.Sig, []byte("other"), "")
	f.Add(hashed.Login(), bus.RenewalOf(own, hashed.Login(), own.Key(), []byte("nonce")).Sig, []byte("nonce"), old.Login)
	f.Add("user-ann", "", []byte{}, "")
	f.Fuzz(func(t *testing.T, login, sig string, nonce []byte, told string) {
		if who, err := keyring.Prove(bus.Proof{Login: login, Sig: sig, Nonce: nonce, Told: told}); err == nil && string(nonce) != "nonce" {
			t.Errorf("%q of %q proves %v", sig, nonce, who)
		}
	})
}
