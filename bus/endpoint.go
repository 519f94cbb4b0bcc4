package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
)

// The schemes of a server's URL; without one it is reached in the clear.
const (
	schemeNATS = "nats://"
	schemeTLS  = "tls://"
)

// HostPort returns the host:port of a server, which is given as that or as a URL
// nats://host:port or tls://host:port.
func HostPort(server string) string {
	return strings.TrimPrefix(strings.TrimPrefix(server, schemeNATS), schemeTLS)
}

// ValidateServer returns an error unless server is host:port or a URL
// nats://host:port or tls://host:port.
func ValidateServer(server string) error {
	address := HostPort(server)
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		return fmt.Errorf("address %q: %s:// is none of nats://, tls://", server, scheme)
	}
	if strings.Contains(address, "@") {
		return errors.New("address: a password belongs into the credentials file, not into the URL")
	}
	if err := ValidateAddress(address); err != nil {
		return err
	}
	if host, _, _ := net.SplitHostPort(address); host == "" && address != server {
		return fmt.Errorf("address %q: want a host", server)
	}
	return nil
}

// TLS are the files of a secured connection, in PEM. It is used with a tls:// URL
// and wherever one of them is given; servers that ask for TLS get it in any case.
type TLS struct {
	// CA holds the authorities that sign the server's certificate; "" is those of
	// the system.
	CA string `mapstructure:"tls-ca"`
	// Cert and Key are this side's own certificate, for servers that ask for one.
	Cert string `mapstructure:"tls-cert"`
	Key  string `mapstructure:"tls-key"`
}

// Validate reports every fault of t at once. It opens no file.
func (t TLS) Validate() error {
	if (t.Cert == "") != (t.Key == "") {
		return errors.New("tls-cert and tls-key: one without the other")
	}
	return nil
}

// wanted reports whether a connection to server has to be secured.
func (t TLS) wanted(server string) bool {
	return strings.HasPrefix(server, schemeTLS) || t != TLS{}
}

// config reads the files.
func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls-ca: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls-ca: %s holds no certificate", t.CA)
		}
	}
	if t.Cert != "" {
		own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls-cert: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// distrusted says that one side does not accept the other's certificate, or that
// only one of them wants TLS.
func distrusted(err error) bool {
	text := err.Error()
	return strings.Contains(text, "tls: ") || strings.Contains(text, "tls error") || strings.Contains(text, "x509: ") || strings.Contains(text, "secure connection")
}
