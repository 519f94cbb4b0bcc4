package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/oklog/run"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/planner"
)

// Planner runs a planner until ctx ends, which is no error.
func Planner(ctx context.Context, cfg PlannerConfig) error {
	LimitPlannerMemory()
	p, err := NewPlanner(cfg)
	if err != nil {
		return err
	}
	return p.Run(ctx)
}

// PlannerDaemon is a planner with its bus server, store and HTTP address. It serves, in a term,
// or stands by.
type PlannerDaemon struct {
	cfg     PlannerConfig
	log     *slog.Logger
	undo    cleanup
	audit   *audit
	own     bus.Credential // The planner's on a server that is not embedded; none without.
	server  *bus.Server    // Nil with one that is not embedded.
	conn    *bus.Conn
	metrics *metrics.Planner
	site    *site
	web     *webAccess
	// term is the one in which the planner serves, nil while it has none.
	term atomic.Pointer[term]
	// reloaded is what the engine of a term goes by since Reload, nil before that.
	reloaded atomic.Pointer[planner.Config]
}

// NewPlanner returns a planner that listens already (or dials a NATS server that
// is not embedded, whether it is there yet or not) and answers once Run is called. A caller that does not call Run
// calls Close.
func NewPlanner(cfg PlannerConfig) (*PlannerDaemon, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &PlannerDaemon{cfg: cfg, log: logger(cfg.Logger, "planner")}
	if err := p.build(); err != nil {
		return nil, errors.Join(err, p.undo.close())
	}
	return p, nil
}

func (p *PlannerDaemon) build() error {
	lock, err := makeState(p.cfg.State, "planner")
	if err != nil {
		return err
	}
	p.undo.add(lock.Close)
	p.undo.add(func() error {
		if t := p.term.Load(); t != nil {
			return t.undo.close()
		}
		return nil
	})
	if p.audit, err = openAudit(p.cfg.State, auditFailed(p.log)); err != nil {
		return err
	}
	p.undo.add(p.audit.close)
	if p.cfg.NatsURL != "" {
		if p.own, err = plannerCredential(p.cfg.Credentials, p.cfg.State); err != nil {
			return err
		}
	}
	registry := prometheus.NewRegistry()
	if p.metrics, err = metrics.NewPlanner(registry, p.view); err != nil {
		return err
	}
	own := p.cfg.Certificate()
	if own.Cert == "" {
		own = p.cfg.ownTLS(p.cfg.HTTP)
	}
	if err := errors.Join(metrics.Build(registry, p.cfg.Engine.Release),
		metrics.Certificate(registry, own.Until)); err != nil {
		return err
	}
	p.web = newWebAccess(p.cfg, p.Address, &p.term, p.audit)
	if p.site, err = newSite(siteConfig{Address: p.cfg.HTTP, Scrapes: p.web.scrapes, TLS: p.cfg.ownTLS(p.cfg.HTTP),
		Log: p.log, Checks: map[string]func() error{metrics.HealthPath: p.alive, metrics.ReadyPath: p.web.ready},
		Page: p.web.Server}, registry); err != nil {
		return err
	}
	p.undo.add(p.site.close)
	if p.cfg.NatsURL != "" {
		return p.dial() // Its JetStream has the state.
	}
	return p.buildTerm()
}

// buildTerm opens the store in the state directory, and serves by the embedded server.
func (p *PlannerDaemon) buildTerm() error {
	t, err := p.ownTerm()
	if err != nil {
		return err
	}
	p.term.Store(t)
	if err := p.listen(t.access); err != nil {
		return err
	}
	if err := t.begin(); err != nil {
		return err
	}
	return p.conn.Flush(context.Background()) // Only then the server knows who answers what.
}

func (p *PlannerDaemon) options() bus.Options {
	return bus.Options{Name: "planner", OnFault: faults(p.log)}
}

// listen starts the embedded server and connects to it.
func (p *PlannerDaemon) listen(a *plannerAccess) (err error) {
	server := p.cfg.server()
	server.Keyring = a.keyring
	if p.server, err = bus.StartServer(server); err != nil {
		return err
	}
	p.undo.add(func() error { p.server.Close(); return nil })
	a.principals.disconnect = p.server.Disconnect
	a.keyring.OnFlood = func(login string) { go p.server.Disconnect(login) }
	if p.conn, err = p.server.Connect(p.options()); err != nil {
		return err
	}
	p.undo.add(func() error { p.conn.Close(); return nil })
	return nil
}

// dial dials the server that the configuration names.
func (p *PlannerDaemon) dial() (err error) {
	options := p.options()
	options.Address, options.Wait = p.cfg.NatsURL, true
	options.Credential, options.TLS, options.Plaintext = p.own, p.cfg.TLS, p.cfg.Plaintext
	options.OnDown = func(err error) {
		if err != nil {
			p.log.Warn("connection to the NATS server lost: nodes go on with their last plans", "address", p.cfg.NatsURL,
				"error", err)
		}
	}
	if p.conn, err = bus.Dial(options); err != nil {
		return err
	}
	p.undo.add(func() error { p.conn.Close(); return nil })
	p.web.proofs = newProofs(p.conn.Control)
	if !p.conn.Connected() {
		p.log.Info("waiting for a NATS server", "address", p.cfg.NatsURL)
	}
	return nil
}

// Bus is the embedded server, for connections inside the process; nil when the
// planner uses another one.
func (p *PlannerDaemon) Bus() *bus.Server { return p.server }

// Address is where drivers, nodes and commands reach the planner: host:port, or
// the URL of a NATS server that is not embedded.
func (p *PlannerDaemon) Address() string {
	if p.server == nil {
		return p.cfg.NatsURL
	}
	return p.server.Address()
}

// Run answers until ctx ends or a part fails, then stops everything and returns
// why. It may be called once.
func (p *PlannerDaemon) Run(ctx context.Context) error {
	var g run.Group
	untilDone(ctx, &g)
	// The loop outlives whoever asks it: its queue answers until it ends.
	if p.site != nil {
		g.Add(p.site.run, p.site.stop)
	}
	inOrder(&g, p.serve)
	return errors.Join(g.Run(), p.undo.close())
}

// serve serves, when the planner may.
func (p *PlannerDaemon) serve(ctx context.Context) error {
	if t := p.term.Load(); t != nil {
		return t.run(ctx)
	}
	return p.standby(ctx)
}

// ready tells the user something, if anybody listens.
func (p *PlannerDaemon) ready(line string) {
	if p.cfg.Ready != nil {
		p.cfg.Ready(line)
	}
}

// view is what a scrape shows: nothing of a planner that stands by.
func (p *PlannerDaemon) view() (metrics.View, error) {
	t := p.term.Load()
	if t == nil {
		return metrics.View{}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	apps, err1 := t.ask(ctx, api.VerbApps)
	nodes, err2 := t.ask(ctx, api.VerbNodes)
	policy, err3 := t.ask(ctx, api.VerbPolicy)
	view := metrics.View{Apps: apps.Apps, Nodes: nodes.Nodes, Estimated: apps.Estimated, Serving: true,
		ReadOnly: errors.Is(t.loop.Alive(), planner.ErrReadOnly)}
	if policy.Policy != nil {
		view.Policy = *policy.Policy
	}
	return view, errors.Join(err1, err2, err3)
}

// alive is an error when the planner cannot do its work; to stand by is work.
func (p *PlannerDaemon) alive() error {
	if t := p.term.Load(); t != nil {
		return t.loop.Alive()
	}
	return nil
}

// Reload has a planner that runs, or stands by, go by cfg, which differs from what it began with in
// live keys only. It returns when that holds, or with what is wrong with it: then nothing has changed. Not for two
// goroutines at once.
func (p *PlannerDaemon) Reload(ctx context.Context, cfg PlannerConfig) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	before := p.reloaded.Swap(&cfg.Engine)
	if t := p.term.Load(); t != nil { // Else the next one begins by it.
		if err := t.configure(ctx, cfg.Engine); err != nil {
			p.reloaded.Store(before)
			return err
		}
	}
	return nil
}

// Close releases what NewPlanner took, for a planner that is not run.
func (p *PlannerDaemon) Close() error { return p.undo.close() }
