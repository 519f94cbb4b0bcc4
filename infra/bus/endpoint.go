package bus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/nats-io/nats.go"
)

// The schemes of a server's URL; loopback is reached in the clear without the second one.
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

// TLS are the files of a secured connection, in PEM. A client uses it with a tls:// URL,
// wherever one of them is given, and off loopback (Options.Plaintext); servers that ask for TLS
// get it in any case.
type TLS struct {
	// CA holds the authorities that sign the server's certificate; "" is those of
	// the system.
	CA string
	// Cert and Key are this side's own certificate: a server's, or a client's for
	// servers that ask for one.
	Cert string
	Key  string
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

// options secure a client's connection. The files are read now, for their faults, and
// again at each connection, so that they may be replaced.
func (t TLS) options() ([]nats.Option, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	var certificate nats.TLSCertHandler
	if t.Cert != "" {
		certificate = func() (tls.Certificate, error) {
			own, err := loadPair(t)
			if err != nil {
				return tls.Certificate{}, err
			}
			return *own, nil
		}
	}
	if certificate != nil {
		if _, err := certificate(); err != nil {
			return nil, err
		}
	}
	if _, err := t.pool(); err != nil {
		return nil, err
	}
	return []nats.Option{nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}),
		nats.ClientTLSConfig(certificate, t.pool)}, nil
}
