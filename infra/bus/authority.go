package bus

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority signs the certificates of servers. It lives in a directory: AuthorityFile,
// which everybody may read and clients trust, and its key, which nobody else may read.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

// The files of an authority and of the planner's certificate, in one directory.
const (
	AuthorityFile  = "ca.pem"
	authorityKey   = "ca.key"
	certificatePEM = "server.pem"
	certificateKey = "server.key"
)

// How long certificates are valid: an authority for as long as machines last, a server's
// until it is issued again. Both begin early, for machines whose clocks are behind.
const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 366 * 24 * time.Hour
	clockSkew       = time.Hour
)

// NewAuthority makes an authority in dir that is valid from now on.
func NewAuthority(dir string, now time.Time) (*Authority, error) {
	fail := func(err error) (*Authority, error) { return nil, fmt.Errorf("make an authority: %w", err) }
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(err)
	}
	key, err := newKey()
	if err != nil {
		return fail(err)
	}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage:  x509.KeyUsageCertSign,
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(authorityLife)}
	if template.SerialNumber, err = serial(); err != nil {
		return fail(err)
	}
	template.Subject = pkix.Name{CommonName: "Pacer authority " + hex.EncodeToString(template.SerialNumber.Bytes()[:4])}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fail(err)
	}
	a := &Authority{dir: dir, key: key}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return fail(err)
	}
	err = errors.Join(writeKey(filepath.Join(dir, authorityKey), key), writePEM(a.CA(), 0o644, "CERTIFICATE", der))
	if err != nil {
		return fail(err)
	}
	return a, nil
}

// OpenAuthority returns the one in dir; its error is os.ErrNotExist where there is none.
func OpenAuthority(dir string) (*Authority, error) {
	pair, err := loadPair(TLS{Cert: filepath.Join(dir, AuthorityFile), Key: filepath.Join(dir, authorityKey)})
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("authority: %s is no authority's certificate", filepath.Join(dir, AuthorityFile))
	}
	return &Authority{dir: dir, cert: pair.Leaf, key: key}, nil
}

// CA is the file with the authority's own certificate.
func (a *Authority) CA() string { return filepath.Join(a.dir, AuthorityFile) }

// ServerFiles are the files of the certificate that `pacer auth init` makes in dir.
func ServerFiles(dir string) TLS {
	return TLS{Cert: filepath.Join(dir, certificatePEM), Key: filepath.Join(dir, certificateKey)}
}

// Issue writes a certificate for hosts, names and addresses, into the files of t, and
// returns until when it is valid. Servers that use these files take it at the next
// handshake.
func (a *Authority) Issue(t TLS, hosts []string, now time.Time) (until time.Time, err error) {
	fail := func(err error) (time.Time, error) { return time.Time{}, fmt.Errorf("issue a certificate: %w", err) }
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "pacer"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore:   now.Add(-clockSkew), NotAfter: now.Add(certificateLife)}
	if template.NotAfter.After(a.cert.NotAfter) {
		template.NotAfter = a.cert.NotAfter
	}
	if !template.NotAfter.After(now) {
		return fail(
			fmt.Errorf("the authority in %s has expired at %s: remove %s and %s for a new one, which all clients have to get",
				a.dir, stamp(a.cert.NotAfter), a.CA(), filepath.Join(a.dir, authorityKey)))
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if name, ok := hostName(host); ok {
			template.DNSNames = append(template.DNSNames, name)
		} else {
			return fail(fmt.Errorf("%q is neither a host name nor an address", host))
		}
	}
	if template.SerialNumber, err = serial(); err != nil {
		return fail(err)
	}
	key, err := newKey()
	if err != nil {
		return fail(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fail(err)
	}
	for _, path := range []string{t.Cert, t.Key} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fail(err)
		}
	}
	if err := errors.Join(writeKey(t.Key, key), writePEM(t.Cert, 0o644, "CERTIFICATE", der)); err != nil {
		return fail(err)
	}
	return template.NotAfter, nil
}

// hostName reports whether a certificate can bear host as a name.
func hostName(host string) (string, bool) {
	for _, r := range host {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_') {
			return "", false
		}
	}
	return host, host != "" && len(host) < 254
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func serial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, err
	}
	return n.SetBit(n, 126, 1), nil // Always 16 bytes.
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, 0o600, "PRIVATE KEY", der)
}

func writePEM(path string, mode os.FileMode, kind string, der []byte) error {
	return replace(path, mode, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// stamp is a time in messages.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
