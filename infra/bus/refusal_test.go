package bus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// A credential that is refused is explained by what its file says of when it is taken: each case
// names the command that mends it.
func TestARefusedCredentialIsExplained(t *testing.T) {
	issued := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	c := NewCredential("user-ann")
	c.Issued, c.Until = issued, issued.AddDate(0, 0, 30)
	path := filepath.Join(t.TempDir(), "ann")
	if err := WriteSecret(path, c.Encode()); err != nil {
		t.Fatal(err)
	}
	read, err := LoadCredential(path, api.PrincipalUser)
	if err != nil || read.Secret != c.Secret || !read.Issued.Equal(c.Issued) || !read.Until.Equal(c.Until) {
		t.Fatalf("%v: read %v, issued %v, until %v", err, read, read.Issued, read.Until)
	}
	undated := NewCredential("user-bob")
	for name, e := range map[string]struct {
		c     Credential
		now   time.Time
		wants []string
	}{
		"expired":          {read, issued.AddDate(0, 0, 31), []string{"have expired at 2026-05-31", "clock says 2026-06-01", "`issue`"}},
		"a clock of 1970":  {read, time.Unix(0, 0), []string{"issued at 2026-05-01", "clock says 1970-01-01", "set the clock", "`date`"}},
		"taken by its own": {read, issued.AddDate(0, 0, 3), []string{"taken until 2026-05-31", "revoked", "`date`", "`issue`"}},
		"of no date":       {undated, issued, []string{"refused the credentials of user-bob: ask its operator for `issue`"}},
	} {
		got := e.c.refusal("h:4222", "`issue`", e.now)
		for _, want := range append(e.wants, "h:4222") {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", name, want, got)
			}
		}
		if strings.Contains(got, "\n") || strings.Contains(got, e.c.Secret) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if text := string(undated.Encode()); strings.Count(text, "\n") != 2 {
		t.Errorf("of no date: %s", text)
	}
	if err := os.WriteFile(path, []byte(issuedMark+"yesterday\n"+untilMark+"\n"+"user-ann:secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if read, err := LoadCredential(path, api.PrincipalUser); err != nil || !read.Issued.IsZero() || !read.Until.IsZero() {
		t.Errorf("dates that are none: %v, %v", read.Issued, err)
	}
}
