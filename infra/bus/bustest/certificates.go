package bustest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/bus"
)

// Authority signs certificates for one test.
type Authority struct {
	t   testing.TB
	dir string
	own *bus.Authority
}

// NewAuthority makes an authority with files in a directory of the test.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	dir := t.TempDir()
	own, err := bus.NewAuthority(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{t: t, dir: dir, own: own}
}

// CA is the file with the authority's own certificate.
func (a *Authority) CA() string { return a.own.CA() }

// Issue makes a certificate for hosts, for this machine's loopback without any, of a
// server or a client, and returns its files.
func (a *Authority) Issue(name string, hosts ...string) bus.TLS {
	a.t.Helper()
	return a.IssueAt(time.Now(), name, hosts...)
}

// IssueAt does at another time.
func (a *Authority) IssueAt(now time.Time, name string, hosts ...string) bus.TLS {
	a.t.Helper()
	if len(hosts) == 0 {
		hosts = []string{"localhost", "127.0.0.1"}
	}
	files := bus.TLS{Cert: filepath.Join(a.dir, name+".pem"), Key: filepath.Join(a.dir, name+".key")}
	if _, err := a.own.Issue(files, hosts, now); err != nil {
		a.t.Fatal(err)
	}
	return files
}
