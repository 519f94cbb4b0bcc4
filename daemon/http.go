package daemon

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/web"
)

// site is a daemon's HTTP server; nil when it is turned off.
type site struct {
	listener net.Listener
	server   *http.Server
	scheme   string
}

// siteConfig says where a daemon answers HTTP. It uses TLS if that has a certificate, and lets
// those look that Scrapes takes.
type siteConfig struct {
	Address string
	Scrapes func(token string) error
	TLS     bus.TLS
	Log     *slog.Logger
	// Checks are what is answered by paths of their own: nil, or what is wrong.
	Checks map[string]func() error
	// Page answers all else, nil for nothing.
	Page *web.Server
}

// newSite listens on an address, so that one in use is told at the start; "" is nowhere.
func newSite(cfg siteConfig, g prometheus.Gatherer) (*site, error) {
	if cfg.Address == "" {
		return nil, nil
	}
	loopback, scheme := bus.IsLoopback(cfg.Address), "http"
	own := metrics.Handler(g, cfg.Checks)
	closed := guarded(own, cfg.Scrapes)
	mux, rest := http.NewServeMux(), closed
	if cfg.Page != nil {
		rest = cfg.Page
	}
	mux.Handle(metrics.Path, closed)
	mux.Handle("/", rest)
	for path := range cfg.Checks {
		mux.Handle(path, own) // A probe of a kubelet or a balancer has no token; it hears one word.
	}
	var secured *tls.Config
	if cfg.TLS.Cert != "" && !loopback {
		var err error
		scheme = "https"
		if secured, err = cfg.TLS.Serve(func(err error) { cfg.Log.Warn(err.Error()) }); err != nil {
			return nil, fmt.Errorf("http: %w", err)
		}
		secured.NextProtos = []string{"h2", "http/1.1"}
	}
	listener, err := net.Listen("tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	listener = newCallers(listener)
	if secured != nil {
		listener = tls.NewListener(listener, secured)
	}
	s := &site{listener: listener, scheme: scheme, server: &http.Server{Handler: mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ConnContext: withCaller,
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)}}
	if cfg.Page != nil {
		s.server.RegisterOnShutdown(cfg.Page.Close)
	}
	return s, nil
}

// guarded asks for a bearer token that scrapes takes.
func guarded(inner http.Handler, scrapes func(token string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		err := errors.New("there is no token")
		if ok {
			err = scrapes(strings.TrimSpace(token))
		}
		if api.KindOf(err) == api.KindTransient {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		if err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="pacer"`)
			http.Error(w, "a bearer token is needed, as `pacer auth token --scrape` prints it; a node controller takes its own "+
				"as well, which is in the file credentials/http-token of its state", http.StatusUnauthorized)
			return
		}
		proven(r)
		inner.ServeHTTP(w, r)
	})
}

// url is where to look, "" for nowhere.
func (s *site) url() string {
	if s == nil {
		return ""
	}
	return s.scheme + "://" + s.listener.Addr().String()
}

// NodeTokenPath is where a node controller's state has the token that its HTTP address takes.
func NodeTokenPath(state string) string { return filepath.Join(credentialDir(state), "http-token") }

// ownToken makes the token of a node controller that starts: it ends with the process. Its file is its owner's alone.
// Whether another one is good says the planner.
func ownToken(state string, others *proofs) (scrapes func(token string) error, err error) {
	token := rand.Text() + rand.Text()
	if err := bus.WriteSecret(NodeTokenPath(state), []byte(token+"\n")); err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	return func(given string) error {
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 {
			return nil
		}
		return others.scrapes(given)
	}, nil
}

func (s *site) run() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

func (s *site) stop(error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
}

func (s *site) close() error {
	if s == nil {
		return nil
	}
	_ = s.server.Close()
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
