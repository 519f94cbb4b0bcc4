package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// A link leads from where the command runs to where the page is, or says how to come by it.
func TestALinkLeadsToThePage(t *testing.T) {
	for _, c := range []struct{ url, planner, link, far string }{
		{"http://127.0.0.1:4281", "127.0.0.1:4280", "http://127.0.0.1:4281/#CODE", ""},
		{"http://127.0.0.1:4281", "localhost:4280", "http://127.0.0.1:4281/#CODE", ""},
		{"https://[::]:4281", "planner-1:4280", "https://planner-1:4281/#CODE", ""},
		{"https://0.0.0.0:4281", "tls://nats-1:4222", "https://nats-1:4281/#CODE", ""},
		{"http://10.1.2.3:4281", "planner-1:4280", "http://10.1.2.3:4281/#CODE", ""},
		{"http://127.0.0.1:4281", "planner-1:4280", "http://127.0.0.1:4281/#CODE", "ssh -NL 4281:127.0.0.1:4281 planner-1"},
	} {
		link, far, err := pageLink(&api.WebCode{URL: c.url, Code: "CODE"}, c.planner)
		if link != c.link || far != c.far || err != nil {
			t.Errorf("%s by %s: %s %q %v, want %s %q", c.url, c.planner, link, far, err, c.link, c.far)
		}
	}
}

// A browser is told of a link by a file that is its user's alone.
func TestABrowserOpensTheLink(t *testing.T) {
	f := startPlanner(t, &fakePlanner{web: api.WebCode{Code: "CODE", URL: "http://127.0.0.1:4281"}})
	w := newWorld(t)
	if o := w.run(t, "--planner", f.address, "web"); o.code != 0 || o.out != "http://127.0.0.1:4281/#CODE\n" || o.err != "" {
		t.Errorf("%+v", o)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	if o := w.run(t, "--planner", f.address, "web", "--open"); o.code == 0 || !strings.Contains(o.err, "no browser opens (xdg-open") || strings.Count(o.err, "\n") != 1 {
		t.Errorf("without a browser: %+v", o)
	}
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\n[ \"$1\" = "+dir+"/pacer/web.html ]\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if o := w.run(t, "--planner", f.address, "web", "--open"); o.code != 0 || o.out != "" || o.err != "" {
		t.Errorf("with one: %+v", o)
	}
	body, err := os.ReadFile(filepath.Join(dir, "pacer", "web.html"))
	if info, _ := os.Stat(filepath.Join(dir, "pacer", "web.html")); err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(string(body), "url=http://127.0.0.1:4281/#CODE") {
		t.Errorf("what it opens: %s %v", body, err)
	}
}
