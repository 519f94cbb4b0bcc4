package bus

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

// distrusted says that one side does not accept the other's certificate, or that
// only one of them wants TLS. A server that closes the connection while it is secured may as
// well be about to stop.
func distrusted(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return false
	}
	text := err.Error()
	return errors.Is(err, nats.ErrTLS) || errors.Is(err, nats.ErrSecureConnWanted) ||
		errors.Is(err, nats.ErrSecureConnRequired) ||
		strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ")
}

// explain says in one line why there is no secured connection to server and what mends it.
func explain(err error, server string, t TLS) string {
	host, _, _ := net.SplitHostPort(HostPort(server))
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return fmt.Sprintf(
			"its certificate is for %s, not for %s: dial one of these, or run `pacer auth init %s` where the planner runs",
			strings.Join(bears(name.Certificate), ", "), host, host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return expired(invalid.Cert, time.Now())
	case errors.As(err, &unknown) && t.CA == "":
		return "certificate signed by unknown authority: get ca.pem from the planner's operator (`pacer auth init` says " +
			"where it is) and name it as tls-ca"
	case errors.As(err, &unknown):
		return fmt.Sprintf(
			"certificate signed by unknown authority, which is not that of %s: get the ca.pem of this planner from its operator",
			t.CA)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "it has no TLS: run `pacer auth init` where the planner runs; on loopback leave tls-ca and tls:// out, " +
			"elsewhere a setting plaintext: true goes without"
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "nats: "), "TLS error: ")
}

// bears are the names and addresses that a certificate is for.
func bears(c *x509.Certificate) []string {
	out := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		out = append(out, ip.String())
	}
	if len(out) == 0 {
		return []string{"nobody"}
	}
	return out
}

// CertificateHosts are the names and addresses of the certificate in a PEM file.
func CertificateHosts(path string) ([]string, error) {
	c, err := ReadCertificate(path)
	if err != nil {
		return nil, err
	}
	return bears(c), nil
}

// ReadCertificate is the first certificate in a PEM file.
func ReadCertificate(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no certificate", path)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func expired(c *x509.Certificate, now time.Time) string {
	if now.Before(c.NotBefore) {
		return fmt.Sprintf("its certificate is valid from %s on and this machine's clock says %s: set the clock",
			stamp(c.NotBefore), stamp(now))
	}
	return fmt.Sprintf(
		"its certificate has expired at %s and this machine's clock says %s: run `pacer auth init` where the planner runs, "+
			"or set the clock",
		stamp(c.NotAfter), stamp(now))
}
