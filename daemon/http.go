package daemon

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/metrics"
)

// web is a daemon's HTTP server; nil when it is turned off.
type web struct {
	listener net.Listener
	server   *http.Server
	scheme   string
}

// webConfig says where a daemon answers HTTP. Off loopback it asks for the operator's
// password and uses TLS if that has a certificate.
type webConfig struct {
	Address, Credentials string
	TLS                  bus.TLS
	Log                  *slog.Logger
}

// newWeb listens on an address, so that one in use is told at the start; "" is nowhere.
func newWeb(cfg webConfig, g prometheus.Gatherer, healthy func() error) (*web, error) {
	if cfg.Address == "" {
		return nil, nil
	}
	handler, scheme := metrics.Handler(g, healthy), "http"
	var secured *tls.Config
	if !bus.IsLoopback(cfg.Address) {
		c, err := bus.LoadCredentials(cfg.Credentials)
		if err != nil {
			return nil, err
		}
		password := c[bus.RoleOperator]
		if password == "" {
			return nil, fmt.Errorf("http: %s has no line for the role operator, which %s needs", cfg.Credentials, cfg.Address)
		}
		handler = guarded(handler, password)
		if cfg.TLS.Cert != "" {
			scheme = "https"
			if secured, err = cfg.TLS.Serve(func(err error) { cfg.Log.Warn(err.Error()) }); err != nil {
				return nil, fmt.Errorf("http: %w", err)
			}
		}
	}
	listener, err := net.Listen("tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	if secured != nil {
		listener = tls.NewListener(listener, secured)
	}
	return &web{listener: listener, scheme: scheme, server: &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)}}, nil
}

// guarded asks for the operator's password (HTTP basic authentication).
func guarded(inner http.Handler, password string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, given, _ := r.BasicAuth()
		if user != string(bus.RoleOperator) || subtle.ConstantTimeCompare([]byte(given), []byte(password)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="pacer"`)
			http.Error(w, "the operator's password is needed", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// url is where to look, "" for nowhere.
func (w *web) url() string {
	if w == nil {
		return ""
	}
	return w.scheme + "://" + w.listener.Addr().String()
}

func (w *web) run() error {
	if err := w.server.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

func (w *web) stop(error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if w.server.Shutdown(ctx) != nil {
		_ = w.server.Close()
	}
}

func (w *web) close() error {
	if w == nil {
		return nil
	}
	_ = w.server.Close()
	if err := w.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
