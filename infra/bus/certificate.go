package bus

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// served is a server's certificate. Files that are replaced are read again at the next
// handshake, so that it is renewed without a restart; while they cannot be read the last
// one stands.
type served struct {
	files TLS
	warn  func(error)

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]version
}

// version tells a file from the one that stood there before.
type version struct {
	at   time.Time
	size int64
}

// Serve is how a server answers with the certificate of t.Cert and t.Key. It refuses one
// that is not valid now. warn gets what is wrong with files that are put in their place
// later, once each; nil for nobody.
func (t TLS) Serve(warn func(error)) (*tls.Config, error) {
	if t.Cert == "" || t.Key == "" {
		return nil, errors.New("tls-cert and tls-key: both are needed")
	}
	if warn == nil {
		warn = func(error) {}
	}
	s := &served{files: t, warn: warn}
	s.seen, _ = s.versions()
	var err error
	if s.current, err = loadPair(t); err != nil {
		return nil, err
	}
	if err := validAt(t.Cert, s.current.Leaf, time.Now()); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate}, nil
}

func (s *served) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, err := s.versions()
	if err != nil || seen == s.seen {
		return s.current, nil // Between two renames one of them is for the old one.
	}
	next, err := loadPair(s.files)
	if err == nil {
		err = validAt(s.files.Cert, next.Leaf, time.Now())
	}
	s.seen = seen
	if err != nil {
		s.warn(fmt.Errorf("the certificate stays as it was: %w", err))
		return s.current, nil
	}
	s.current = next
	return next, nil
}

func (s *served) versions() (out [2]version, err error) {
	for i, path := range []string{s.files.Cert, s.files.Key} {
		info, err := os.Stat(path)
		if err != nil {
			return out, err
		}
		out[i] = version{at: info.ModTime(), size: info.Size()}
	}
	return out, nil
}

// loadPair reads a certificate with its key, which others must not be able to read.
func loadPair(t TLS) (*tls.Certificate, error) {
	if info, err := os.Stat(t.Key); err != nil {
		return nil, fmt.Errorf("tls-key: %w", err)
	} else if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("tls-key: everybody can read or write %s: chmod o-rwx %s", t.Key, t.Key)
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("tls-cert: %w", err)
	}
	return &pair, nil
}

// Until is when the certificate of t.Cert ends, which is read anew.
func (t TLS) Until() (time.Time, error) {
	text, err := os.ReadFile(t.Cert)
	if err != nil {
		return time.Time{}, fmt.Errorf("tls-cert: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}, fmt.Errorf("tls-cert: %s holds no certificate", t.Cert)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, fmt.Errorf("tls-cert: %s: %w", t.Cert, err)
	}
	return c.NotAfter, nil
}

// validAt returns an error that says what mends it unless a certificate is valid.
func validAt(path string, c *x509.Certificate, now time.Time) error {
	switch {
	case now.After(c.NotAfter):
		return fmt.Errorf("tls-cert: %s has expired at %s: renew it (pacer auth init)", path, stamp(c.NotAfter))
	case now.Before(c.NotBefore):
		return fmt.Errorf("tls-cert: %s is valid from %s on and this machine's clock says %s: set the clock", path,
			stamp(c.NotBefore), stamp(now))
	}
	return nil
}

// pool reads the authorities of t, nil for the system's.
func (t TLS) pool() (*x509.CertPool, error) {
	if t.CA == "" {
		return nil, nil
	}
	text, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, fmt.Errorf("tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls-ca: %s holds no certificate", t.CA)
	}
	return pool, nil
}
