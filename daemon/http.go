package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/metrics"
)

// web is a daemon's HTTP server; nil when it is turned off.
type web struct {
	listener net.Listener
	server   *http.Server
	scheme   string
}

// webConfig says where a daemon answers HTTP. It uses TLS if that has a certificate, and lets
// those look that Scrapes takes.
type webConfig struct {
	Address string
	Scrapes func(login, secret string) error
	TLS     bus.TLS
	Log     *slog.Logger
}

// newWeb listens on an address, so that one in use is told at the start; "" is nowhere.
func newWeb(cfg webConfig, g prometheus.Gatherer, healthy func() error) (*web, error) {
	if cfg.Address == "" {
		return nil, nil
	}
	handler, scheme := guarded(metrics.Handler(g, healthy), cfg.Scrapes, bus.IsLoopback(cfg.Address)), "http"
	var secured *tls.Config
	if cfg.TLS.Cert != "" && !bus.IsLoopback(cfg.Address) {
		var err error
		scheme = "https"
		if secured, err = cfg.TLS.Serve(func(err error) { cfg.Log.Warn(err.Error()) }); err != nil {
			return nil, fmt.Errorf("http: %w", err)
		}
	}
	listener, err := net.Listen("tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	if secured != nil {
		listener = tls.NewListener(listener, secured)
	}
	return &web{listener: listener, scheme: scheme, server: &http.Server{Handler: handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)}}, nil
}

// guarded asks for a bearer token "login:secret", or the two by HTTP's basic
// authentication, that scrapes takes. Health tells nothing and is open on loopback.
func guarded(inner http.Handler, scrapes func(login, secret string) error, local bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && r.URL.Path == metrics.HealthPath {
			inner.ServeHTTP(w, r)
			return
		}
		login, secret, ok := r.BasicAuth()
		if !ok {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			login, secret, ok = strings.Cut(strings.TrimSpace(token), ":")
		}
		if !ok || scrapes(login, secret) != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="pacer"`)
			http.Error(w, "a bearer token login:secret is needed, as in a file of `pacer auth issue`", http.StatusUnauthorized)
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
