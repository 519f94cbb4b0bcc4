package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/oklog/run"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/metrics"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/store"
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

// PlannerDaemon is a planner with its bus server, store and HTTP address.
type PlannerDaemon struct {
	cfg     PlannerConfig
	log     *slog.Logger
	undo    cleanup
	access  *plannerAccess
	server  *bus.Server // Nil with one that is not embedded.
	conn    *bus.Conn
	up      chan struct{} // Closed once the connection is there.
	first   sync.Once
	duty    *duty
	loop    *planner.Loop
	metrics *metrics.Planner
	web     *web
	backups backups
}

// NewPlanner returns a planner that listens already (or dials a NATS server that
// is not embedded, whether it is there yet or not) and answers once Run is called. Whoever does not call Run calls Close.
func NewPlanner(cfg PlannerConfig) (*PlannerDaemon, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &PlannerDaemon{cfg: cfg, log: logger(cfg.Logger, "planner"), up: make(chan struct{})}
	if err := p.build(); err != nil {
		return nil, errors.Join(err, p.undo.close())
	}
	return p, nil
}

func (p *PlannerDaemon) build() error {
	state, err := openState(p.cfg.State, "planner", p.cfg.Sync, p.log)
	if err != nil {
		return err
	}
	p.undo.add(state.close)
	p.backups = backups{store: state.db, dir: p.cfg.State}
	p.undo.add(p.backups.close)
	engine, err := loadPlanner(p.cfg.Engine, state.db)
	if err != nil {
		return err
	}
	if p.access, err = p.openAccess(engine.Keys()); err != nil {
		return err
	}
	p.undo.add(p.access.audit.close)
	if err := p.connect(); err != nil {
		return err
	}
	if err := p.access.equip(p.cfg.Owners, p.cfg.State, p.Address(), p.cfg.NatsURL != ""); err != nil {
		p.log.Warn("an operator's credential cannot be written: others are made by `pacer auth issue`", "error", err)
	}

	registry := prometheus.NewRegistry()
	if p.metrics, err = metrics.NewPlanner(registry, p.view); err != nil {
		return err
	}
	// On a server that has only started nobody else can be.
	p.duty = newDuty(p.conn, p.access.keyring, p.access.own, engine.Identity(), p.server != nil, p.log)
	p.loop = planner.NewLoop(engine, p.duty, plannerStore{state.db, p.metrics}, p.access.observe(observePlanner(p.log, p.metrics)))
	p.duty.handlers = p.handlers()
	if err := metrics.Build(registry, p.cfg.Engine.Release); err != nil {
		return err
	}
	// Only then the embedded server knows who answers what.
	if p.server != nil {
		if err := errors.Join(p.duty.follow(), p.conn.Flush(context.Background())); err != nil {
			return err
		}
	}
	if p.web, err = newWeb(webConfig{Address: p.cfg.HTTP, Scrapes: p.access.scrapes, TLS: p.cfg.ownTLS(p.cfg.HTTP), Log: p.log}, registry, p.loop.Alive); err != nil {
		return err
	}
	p.undo.add(p.web.close)
	return nil
}

// connect starts the embedded server and connects to it, or dials the one that
// the configuration names.
func (p *PlannerDaemon) connect() (err error) {
	options := bus.Options{Name: "planner", OnFault: faults(p.log), OnUp: func() { p.first.Do(func() { close(p.up) }) }}
	if p.cfg.NatsURL == "" {
		server := p.cfg.server()
		server.Keyring = p.access.keyring
		p.server, err = bus.StartServer(server)
		if err != nil {
			return err
		}
		p.undo.add(func() error { p.server.Close(); return nil })
		p.access.principals.disconnect = p.server.Disconnect
		p.conn, err = p.server.Connect(options)
	} else {
		options.Address, options.Wait = p.cfg.NatsURL, true
		options.Credential, options.TLS = p.access.own, p.cfg.TLS
		options.OnDown = func(err error) {
			if err != nil {
				p.log.Warn("connection to the NATS server lost: nodes go on with their last plans", "address", p.cfg.NatsURL, "error", err)
			}
		}
		p.conn, err = bus.Dial(options)
	}
	if err != nil {
		return err
	}
	p.undo.add(func() error { p.conn.Close(); return nil })
	if !p.conn.Connected() {
		p.log.Info("waiting for a NATS server", "address", p.cfg.NatsURL)
	}
	return nil
}

// loadPlanner returns the engine that goes on from what db holds.
func loadPlanner(cfg planner.Config, db store.Store) (*planner.Engine, error) {
	all, err := plannerPairs(db)
	if err != nil {
		return nil, err
	}
	if cfg.Identity == "" {
		cfg.Identity = rand.Text() // Of a new store: one that has a name keeps it.
	}
	return planner.New(cfg, all)
}

// plannerPairs are all that a planner has stored.
func plannerPairs(db store.Store) ([]api.Pair, error) {
	var all []api.Pair
	for _, prefix := range planner.Prefixes() {
		pairs, err := db.Load(prefix)
		if err != nil {
			return nil, fmt.Errorf("planner state: %w", err)
		}
		all = append(all, pairs...)
	}
	return all, nil
}

func (p *PlannerDaemon) handlers() bus.Handlers {
	return bus.Handlers{
		Register: p.register, Events: p.loop.Events, Hello: p.loop.Hello, Status: p.loop.Status,
		Control: p.control, PlanQuery: p.loop.Plan,
	}
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
	if p.web != nil {
		g.Add(p.web.run, p.web.stop)
	}
	inOrder(&g, p.announce)
	inOrder(&g, p.duty.run)
	inOrder(&g, p.loop.Run)
	return errors.Join(g.Run(), p.undo.close())
}

// announce says that the planner answers, once it does, or that it stands by.
func (p *PlannerDaemon) announce(ctx context.Context) error {
	for _, wait := range []<-chan struct{}{p.up, p.duty.begun} {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil
		}
	}
	if other := p.duty.standsBy(); other != "" && p.cfg.Ready != nil {
		p.cfg.Ready(fmt.Sprintf("%s serves on %s: this one stands by until it is gone", other, p.Address()))
	}
	select {
	case <-p.duty.served:
	case <-ctx.Done():
		return nil
	}
	if err := p.conn.Flush(ctx); err != nil && ctx.Err() == nil {
		p.log.Warn("the NATS server is gone again", "error", err)
	}
	if _, err := p.ask(ctx, api.VerbPing); err == nil {
		p.log.Info("planner ready", "address", p.Address(), "http", p.web.url(), "state", p.cfg.State)
		if p.cfg.Ready != nil {
			p.cfg.Ready("planner ready on " + p.Address())
		}
	}
	<-ctx.Done()
	return nil
}

// ask puts a control request to the loop.
func (p *PlannerDaemon) ask(ctx context.Context, verb api.Verb) (api.ControlReply, error) {
	answer := make(chan api.ControlReply, 1)
	p.loop.Control(api.Principal{}, verb, api.ControlRequest{V: api.Version}, func(r api.ControlReply) { answer <- r })
	select {
	case r := <-answer:
		if r.Error != nil {
			return r, r.Error
		}
		return r, nil
	case <-ctx.Done():
		return api.ControlReply{}, ctx.Err()
	}
}

// view is what a scrape shows.
func (p *PlannerDaemon) view() (metrics.View, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	apps, err1 := p.ask(ctx, api.VerbApps)
	nodes, err2 := p.ask(ctx, api.VerbNodes)
	return metrics.View{Apps: apps.Apps, Nodes: nodes.Nodes}, errors.Join(err1, err2)
}

// Close releases what NewPlanner took, for a planner that is not run.
func (p *PlannerDaemon) Close() error { return p.undo.close() }

// plannerStore is a store as the planner's loop asks for it.
type plannerStore struct {
	db      store.Store
	metrics *metrics.Planner
}

func (s plannerStore) Apply(changes []api.Pair) error {
	start := time.Now()
	err := s.db.Apply(changes)
	s.metrics.Wrote(time.Since(start))
	return err
}
