package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// A token goes to standard output alone, for curl, or into a file that nobody else reads.
func TestATokenIsPrintedOrWritten(t *testing.T) {
	f := startPlanner(t, &fakePlanner{})
	w := newWorld(t)
	if o := w.run(t, "--planner", f.address, "auth", "token"); o.code != 0 || o.out != "TOKEN\n" || o.err != "" {
		t.Errorf("%+v", o)
	}
	path := filepath.Join(t.TempDir(), "token")
	if o := w.run(t, "--planner", f.address, "auth", "token", "--scrape", "--for", "720h", "--out", path); o.code != 0 || !strings.Contains(o.out, path) || strings.Contains(o.out, "TOKEN") {
		t.Errorf("%+v", o)
	}
	body, err := os.ReadFile(path)
	if info, _ := os.Stat(path); err != nil || string(body) != "TOKEN\n" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q %v", body, err)
	}
	if r := f.asked[len(f.asked)-1].Query; r == nil || r.Token != (api.TokenRequest{For: 720 * 3600, Scrape: true}) {
		t.Errorf("asked for %+v", r)
	}
	for _, wrong := range []string{"soon", "-1h", "0"} {
		if o := w.run(t, "--planner", f.address, "auth", "token", "--for", wrong); o.code != 64 || !strings.Contains(o.err, "--for") {
			t.Errorf("--for %s: %+v", wrong, o)
		}
	}
}
