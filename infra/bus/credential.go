package bus

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// Credential is a login with the secret that proves it.
type Credential struct {
	// Login is api.Principal.Login of whom it belongs to; "" is no credential at all.
	Login string
	// Secret is 256 random bits in hexadecimal.
	Secret string
	// Path is the file that it comes from, "" for none.
	Path string
	// Issued and Until are from when until when it is taken, zero where its file says nothing of
	// that. They explain a refusal; the planner goes by what it knows.
	Issued, Until time.Time
}

// secretBytes is the length of a secret: nobody finds it by trying.
const secretBytes = 32

// NewCredential makes a credential for login.
func NewCredential(login string) Credential {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // It never fails.
	return Credential{Login: login, Secret: hex.EncodeToString(secret)}
}

// String hides the secret.
func (c Credential) String() string { return c.Login }

// Encode is the file that LoadCredential reads.
func (c Credential) Encode() []byte {
	text := fmt.Appendf(nil, "# Pacer: whoever has this file is %s.\n", c.Login)
	for _, said := range []struct {
		mark string
		at   time.Time
	}{{issuedMark, c.Issued}, {untilMark, c.Until}} {
		if !said.at.IsZero() {
			text = fmt.Appendf(text, "%s%s\n", said.mark, said.at.UTC().Format(time.RFC3339))
		}
	}
	return fmt.Appendf(text, "%s:%s\n", c.Login, c.Secret)
}

// issuedMark and untilMark begin the lines of a file that say when it is taken. The jar knows them
// too (Credential.scala).
const (
	issuedMark = "# Issued at "
	untilMark  = "# Taken until "
)

// dated takes in what a comment says of when c is taken.
func (c *Credential) dated(line string) {
	if text, ok := strings.CutPrefix(line, issuedMark); ok {
		c.Issued, _ = time.Parse(time.RFC3339, text)
	}
	if text, ok := strings.CutPrefix(line, untilMark); ok {
		c.Until, _ = time.Parse(time.RFC3339, text)
	}
}

// clockIsOff is how much a clock may be behind a planner's before that is what is wrong.
const clockIsOff = time.Hour

// refusal says why c was refused by the planner at address at now and what mends it, how being the
// command that issues another one.
func (c Credential) refusal(address, how string, now time.Time) string {
	of := c.Login
	if c.Path != "" {
		of += " in " + c.Path
	}
	switch {
	case !c.Until.IsZero() && !now.Before(c.Until):
		return fmt.Sprintf(
			"the credentials of %s have expired at %s and this machine's clock says %s: ask the operator of the planner at "+
				"%s for %s",
			of, stamp(c.Until), stamp(now), address, how)
	case !c.Issued.IsZero() && now.Before(c.Issued.Add(-clockIsOff)):
		return fmt.Sprintf(
			"the planner at %s refused the credentials of %s, which were issued at %s while this machine's clock says %s: set "+
				"the clock (`date` shows it), or ask its operator for %s",
			address, of, stamp(c.Issued), stamp(now), how)
	case !c.Until.IsZero():
		return fmt.Sprintf(
			"the planner at %s refused the credentials of %s, which are taken until %s: they were revoked or its clock is not "+
				"this machine's %s (`date` there shows it): ask its operator for %s",
			address, of, stamp(c.Until), stamp(now), how)
	}
	return fmt.Sprintf("the planner at %s refused the credentials of %s: ask its operator for %s", address, of, how)
}

// mostCredentialBytes bounds a credentials file.
const mostCredentialBytes = 64 << 10

// LoadCredential reads a credentials file: one line "login:secret" beside blank ones and
// those that begin with #. It reports every fault at once. Faults are what is not such a line, more than one, none, and
// a file that everybody can read, that others than its owner can write, or that belongs to somebody else. The login has
// to belong to one of kinds. Messages never contain a secret.
func LoadCredential(path string, kinds ...api.PrincipalKind) (Credential, error) {
	f, err := os.Open(path)
	if err != nil {
		return Credential{}, fmt.Errorf("credentials: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Credential{}, fmt.Errorf("credentials: %w", err)
	}
	faults := openToOthers(path, info)
	c := Credential{Path: path}
	lines := bufio.NewScanner(&limited{f, mostCredentialBytes})
	found := 0
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			c.dated(line)
			continue
		}
		found++
		login, secret, ok := strings.Cut(line, ":")
		switch {
		case !ok || !validToken(login) || secret == "" || strings.ContainsAny(secret, " \t"):
			faults = append(faults, fmt.Errorf("line %d: want login:secret, as `pacer auth issue` writes it", n))
		case found > 1:
			faults = append(faults, fmt.Errorf("line %d: there are two credentials: one file has one", n))
		default:
			c.Login, c.Secret = login, secret
		}
	}
	if err := lines.Err(); err != nil {
		return Credential{}, fmt.Errorf("credentials %s: %w", path, err)
	}
	if found == 0 {
		faults = append(faults, errors.New("it has no line login:secret"))
	}
	if len(faults) == 0 && !slices.ContainsFunc(kinds, c.Of) {
		faults = append(faults, fmt.Errorf("they are those of %s, want a %s's: `pacer auth issue` makes some",
			api.Clip(c.Login, api.MostToken), kinds[0]))
	}
	if len(faults) > 0 {
		return Credential{}, api.Errorf(api.KindDenied, "credentials %s: %v", path, errors.Join(faults...))
	}
	return c, nil
}

// Of reports whether c belongs to a principal of that kind.
func (c Credential) Of(kind api.PrincipalKind) bool {
	if kind == api.PrincipalPlanner {
		return c.Login == string(kind)
	}
	return strings.HasPrefix(c.Login, string(kind)+"-")
}

// openToOthers says who else could read or change a file than its owner and, to read it, its
// group.
func openToOthers(path string, info os.FileInfo) (faults []error) {
	if info.Mode().Perm()&0o004 != 0 {
		faults = append(faults, fmt.Errorf("everybody can read it: chmod o-r %s", path))
	}
	if info.Mode().Perm()&0o022 != 0 {
		faults = append(faults, fmt.Errorf("others than its owner can write it: chmod go-w %s", path))
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		faults = append(faults, fmt.Errorf("it belongs to another user: chown %d %s", os.Geteuid(), path))
	}
	return faults
}

// limited fails where a file is longer than it may be.
type limited struct {
	f    *os.File
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("it is longer than %d bytes", mostCredentialBytes)
	}
	n, err := l.f.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// CredentialPath is where in dir, a user's directory of credentials, those for a server
// (host:port or a URL) are looked for: by its address, where all names of loopback are one.
// The jar knows it too (Transport.scala).
func CredentialPath(dir, server string) string {
	host, port, err := net.SplitHostPort(HostPort(server))
	if err != nil {
		host, port, _ = net.SplitHostPort(DefaultAddress)
	}
	if ip := net.ParseIP(host); host == "localhost" || host == "" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return filepath.Join(dir, strings.ReplaceAll(strings.ToLower(host), "/", "_")+":"+port)
}
