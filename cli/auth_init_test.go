package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/bus"
)

func TestAuthInitMakesAndRenews(t *testing.T) {
	w := newWorld(t)
	state := filepath.Join(t.TempDir(), "planner")
	w.env["PACER_PLANNER_STATE"] = state
	tls := filepath.Join(state, "tls")
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(tls, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	hosts := func(path string) string {
		t.Helper()
		names, err := bus.CertificateHosts(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(names, " ")
	}
	o := w.run(t, "auth", "init", "planner.example", "192.0.2.7")
	if o.code != 0 || !strings.Contains(o.out, filepath.Join(tls, "ca.pem")) || !strings.Contains(o.out, "planner.example") {
		t.Fatalf("exit code %d: %s%s", o.code, o.out, o.err)
	}
	own := hosts(filepath.Join(tls, "server.pem"))
	for _, name := range []string{"localhost", "planner.example", "127.0.0.1", "192.0.2.7", "::1"} {
		if !strings.Contains(" "+own+" ", " "+name+" ") {
			t.Errorf("the certificate is for %s, not for %s", own, name)
		}
	}
	ca, server := read("ca.pem"), read("server.pem")
	// Renewed, it has the same authority and names.
	if o = w.run(t, "auth", "init"); o.code != 0 || read("ca.pem") != ca || read("server.pem") == server || hosts(filepath.Join(tls, "server.pem")) != own {
		t.Errorf("renewed: exit code %d: %s%s", o.code, o.out, o.err)
	}
	w.env["PACER_PLANNER_LISTEN"] = "0.0.0.0:4222"
	if o = w.run(t, "auth", "ca"); o.code != 0 || o.out != ca {
		t.Errorf("the authority: exit code %d: %s%s", o.code, o.out, o.err)
	}
	delete(w.env, "PACER_PLANNER_LISTEN")
	w.run(t, "auth", "ca").wantLine(t, command.ExitConfig, "pacer auth init")
	into := filepath.Join(t.TempDir(), "node")
	if o = w.run(t, "auth", "init", "--into", into, "n1.example"); o.code != 0 || hosts(filepath.Join(into, "server.pem")) != "n1.example" {
		t.Errorf("for a node: exit code %d: %s%s", o.code, o.out, o.err)
	}
	if o = w.run(t, "auth", "init", "--into", into); o.code != 0 || hosts(filepath.Join(into, "server.pem")) != "n1.example" {
		t.Errorf("renewed for a node: exit code %d: %s%s", o.code, o.out, o.err)
	}
	w.run(t, "auth", "init", "--into", t.TempDir()).wantLine(t, command.ExitUsage, "names of the other server")
	w.run(t, "auth", "init", "a b").wantLine(t, command.ExitConfig, `"a b"`)
	if err := os.Chmod(filepath.Join(tls, "ca.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.run(t, "auth", "init").wantLine(t, command.ExitConfig, "chmod o-rwx")
}
