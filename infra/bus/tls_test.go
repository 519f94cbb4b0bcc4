package bus_test

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
)

// The server that is embedded has the certificate; the planner in its process needs none.
func TestTheEmbeddedServerIsSecured(t *testing.T) {
	authority, stranger := bustest.NewAuthority(t), bustest.NewAuthority(t)
	keyring := bus.NewKeyring()
	s := start(t, bus.ServerConfig{Keyring: keyring, TLS: authority.Issue("server")})
	p := inProcess(t, s)
	if err := errors.Join(serve(p, keyring, echo(make(chan api.NodeStatus, 1))), p.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	mine := keyring.Lend(asNode("n1"))
	_, port, _ := net.SplitHostPort(s.Address())
	for _, address := range []string{s.Address(), "tls://localhost:" + port} {
		node := dial(t, bus.Options{Address: address, Credential: mine, TLS: bus.TLS{CA: authority.CA()}})
		if r, err := node.Hello(within(t), status("n1")); err != nil || r.Plan.Epoch != 7 {
			t.Errorf("%s: %+v, %v", address, r, err)
		}
	}
	for ca, want := range map[string]string{"": "name it as tls-ca", stranger.CA(): "not that of " + stranger.CA()} {
		refuses(t, bus.Options{Address: s.Address(), Credential: mine, TLS: bus.TLS{CA: ca}}, want)
	}
	// Who speaks in the clear is not heard.
	conn, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	info, _ := lines.ReadString('\n')
	if _, err := conn.Write([]byte("CONNECT {\"user\":\"" + mine.Login + "\",\"sig\":\"" + bus.ProofOf(mine, nonceOf(info)).Sig + "\",\"verbose\":true}\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	if answer, err := lines.ReadString('\n'); err == nil || !strings.Contains(info, `"tls_required":true`) {
		t.Errorf("%q is answered by %q", info, answer)
	}
}

// refuses expects a fault in one line.
func refuses(t *testing.T, o bus.Options, want string) {
	t.Helper()
	conn, err := bus.Dial(o)
	if err == nil {
		conn.Close()
		t.Errorf("%s: connected, want %q", o.Address, want)
	} else if api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v (%v), want %q", o.Address, err, api.KindOf(err), want)
	}
}

func TestACertificateThatDoesNotHoldIsSaidWithWhatMendsIt(t *testing.T) {
	authority := bustest.NewAuthority(t)
	year := 365 * 24 * time.Hour
	for want, files := range map[string]bus.TLS{
		"is for elsewhere, 10.1.2.3, not for 127.0.0.1: dial one of these, or run `pacer auth init 127.0.0.1`": authority.Issue("other", "elsewhere", "10.1.2.3"),
		"has expired at ":  authority.IssueAt(time.Now().Add(-2*year), "past"),
		"set the clock":    authority.IssueAt(time.Now().Add(5*year), "future"),
		"pacer auth init`": authority.IssueAt(time.Now().Add(-2*year), "past"),
	} {
		s := bustest.Start(t, bustest.Config{TLS: files})
		refuses(t, bus.Options{Address: s.Address(), TLS: bus.TLS{CA: authority.CA()}}, want)
	}
	// A server of one's own does not begin with it.
	for want, files := range map[string]bus.TLS{
		"renew it (pacer auth init)": authority.IssueAt(time.Now().Add(-2*year), "past"),
		"set the clock":              authority.IssueAt(time.Now().Add(5*year), "future"),
		"no such file":               {Cert: "gone.pem", Key: "gone.key"},
		"chmod o-rwx":                public(t, authority.Issue("public")),
		"one without the other":      {Cert: "only.pem"},
	} {
		s, err := bus.StartServer(bus.ServerConfig{Listen: "127.0.0.1:0", TLS: files})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", files.Cert, err, want)
		}
	}
	plain := start(t, bus.ServerConfig{})
	refuses(t, bus.Options{Address: plain.Address(), TLS: bus.TLS{CA: authority.CA()}}, "it has no TLS: run `pacer auth init` where the planner runs")
}

func public(t *testing.T, files bus.TLS) bus.TLS {
	t.Helper()
	if err := os.Chmod(files.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	return files
}

// A certificate that is replaced holds from the next connection on, and one that cannot be
// used leaves the last one in its place.
func TestCertificatesAreRenewedWithoutARestart(t *testing.T) {
	authority := bustest.NewAuthority(t)
	files := authority.Issue("server", "elsewhere")
	keyring := bus.NewKeyring()
	s := start(t, bus.ServerConfig{Keyring: keyring, TLS: files})
	o := bus.Options{Address: s.Address(), Credential: keyring.Lend(asNode("n1")), TLS: bus.TLS{CA: authority.CA()}}
	refuses(t, o, "is for elsewhere")
	authority.Issue("server")
	dial(t, o)
	if err := os.WriteFile(files.Cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	dial(t, o)
	authority.IssueAt(time.Now().Add(-2*365*24*time.Hour), "server")
	dial(t, o)
	authority.Issue("server", "again")
	refuses(t, o, "is for again")
}

// A client that waits takes another authority as soon as its file is another.
func TestAnAuthorityIsReplacedUnderItsClients(t *testing.T) {
	authority, stranger := bustest.NewAuthority(t), bustest.NewAuthority(t)
	keyring := bus.NewKeyring()
	s := start(t, bus.ServerConfig{Keyring: keyring, TLS: authority.Issue("server")})
	up, faults := make(chan bool, 1), make(chan error, 64)
	dial(t, bus.Options{Address: s.Address(), Credential: keyring.Lend(asNode("n1")), TLS: bus.TLS{CA: stranger.CA()}, Wait: true,
		OnUp: func() { up <- true }, OnFault: func(err error) { faults <- err }})
	if err := receive(t, faults); !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("fault %v", err)
	}
	if err := os.Rename(authority.CA(), stranger.CA()); err != nil {
		t.Fatal(err)
	}
	receive(t, up)
}

func TestAnAuthorityKeepsItsKeyToItself(t *testing.T) {
	dir, now := filepath.Join(t.TempDir(), "tls"), time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if _, err := bus.OpenAuthority(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an authority that is not there: %v", err)
	}
	if _, err := bus.NewAuthority(dir, now); err != nil {
		t.Fatal(err)
	}
	a, err := bus.OpenAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := bus.ServerFiles(dir)
	until, err := a.Issue(files, []string{"planner.example", "192.0.2.7", "::1"}, now)
	if err != nil || until.Sub(now) != 366*24*time.Hour {
		t.Errorf("until %v, %v", until, err)
	}
	for name, mode := range map[string]os.FileMode{"ca.pem": 0o644, "ca.key": 0o600, "server.pem": 0o644, "server.key": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	ca, leaf := certificate(t, a.CA()), certificate(t, files.Cert)
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	for _, host := range []string{"planner.example", "192.0.2.7", "::1", "other.example"} {
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now})
		if (err == nil) != (host != "other.example") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if leaf.IsCA || !ca.MaxPathLenZero {
		t.Error("what it signs can sign more")
	}
	if _, err := a.Issue(files, []string{"a b"}, now); err == nil || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("a name that is none: %v", err)
	}
	if until, err := a.Issue(files, []string{"h"}, ca.NotAfter.Add(-time.Hour)); err != nil || !until.Equal(ca.NotAfter) {
		t.Errorf("at the authority's end: until %v, %v", until, err)
	}
	if _, err := a.Issue(files, []string{"h"}, ca.NotAfter.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "has expired") {
		t.Errorf("after the authority's end: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "ca.key"), 0o604); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.OpenAuthority(dir); err == nil || !strings.Contains(err.Error(), "chmod o-rwx") {
		t.Errorf("a key that everybody can read: %v", err)
	}
}

func certificate(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
