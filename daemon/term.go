package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/run"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/metrics"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/store"
)

// plannerDB is a planner's store.
type plannerDB interface {
	store.Store
	// Copy writes what it holds into a new file at path, which is a store itself.
	Copy(path string) error
}

// term is a planner's start on its store, with all that serves until it stops, or another planner
// has the store.
type term struct {
	planner *PlannerDaemon
	undo    cleanup
	db      plannerDB
	// bucket is db where planners share it, silence what was heard of nodes before.
	bucket  *store.Bucket
	silence planner.Silence
	engine  *planner.Engine
	access  *plannerAccess
	duty    *duty
	loop    *planner.Loop
	backups backups
}

// ownTerm starts on the store of the planner's own.
func (p *PlannerDaemon) ownTerm() (*term, error) {
	db, err := openStore(p.cfg.State, "planner", p.cfg.Sync, p.log)
	if err != nil {
		return nil, err
	}
	return p.newTerm(&term{db: db}, principalsPath(p.cfg.State))
}

// newTerm starts on t's store, which it closes when it fails.
func (p *PlannerDaemon) newTerm(t *term, who shelf) (*term, error) {
	t.planner, t.backups = p, backups{store: t.db, dir: p.cfg.State}
	t.undo.add(t.db.Close)
	t.undo.add(t.backups.close)
	var err error
	if t.engine, err = loadPlanner(p.cfg.Engine, t.db); err == nil {
		t.access, err = p.openAccess(who, t.engine.Keys())
	}
	if err != nil {
		return nil, errors.Join(err, t.undo.close())
	}
	return t, nil
}

// begin makes what answers on the planner's connection. It serves from the beginning, or only
// when nobody else does.
func (t *term) begin(serves bool) error {
	p := t.planner
	if err := t.access.equip(p.cfg.Owners, p.cfg.State, p.Address(), p.cfg.NatsURL != ""); err != nil {
		p.log.Warn("an operator's credential cannot be written: others are made by `pacer auth issue`", "error", err)
	}
	t.duty = newDuty(p.conn, t.access, t.engine, serves, t.holds, p.log)
	t.loop = planner.NewLoop(t.engine, t.duty, plannerStore{t.db, p.metrics}, t.access.observe(observePlanner(p.log, p.metrics)))
	t.access.hear(t.loop.Standing)
	t.duty.handlers = bus.Handlers{
		Register: t.register, Events: t.loop.Events, Hello: t.loop.Hello, Status: t.loop.Status,
		Control: t.control, PlanQuery: t.loop.Plan,
	}
	return nil
}

// holds reports whether the store is this planner's now: nobody else can have taken it.
func (t *term) holds() bool {
	return t.bucket == nil || time.Since(t.bucket.Sent()) < planner.LeaseHolds
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

// run serves until ctx ends, a part fails or the store is another planner's, which is no error.
func (t *term) run(ctx context.Context) error {
	var g run.Group
	untilDone(ctx, &g)
	if t.bucket != nil {
		inOrder(&g, t.untilLost)
	}
	inOrder(&g, t.announce)
	inOrder(&g, t.duty.run)
	inOrder(&g, t.loop.Run)
	t.loop.Silence(t.silence)
	if cfg := t.planner.reloaded.Load(); cfg != nil {
		t.loop.Configure(*cfg, func(api.ControlReply) {})
	}
	return errors.Join(g.Run(), t.undo.close())
}

// untilLost returns when another planner has taken the store.
func (t *term) untilLost(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-t.bucket.Lost():
		t.planner.log.Warn("another planner has taken the lease: this one stands by")
	}
	return nil
}

// announce says that the planner answers, once it does, or that it stands by.
func (t *term) announce(ctx context.Context) error {
	p := t.planner
	for _, wait := range []<-chan struct{}{p.up, t.duty.begun} {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil
		}
	}
	if other := t.duty.standsBy(); other != "" {
		p.ready(fmt.Sprintf("%s serves on %s: this one stands by until it is gone", other, p.Address()))
	}
	select {
	case <-t.duty.served:
	case <-ctx.Done():
		return nil
	}
	if err := p.conn.Flush(ctx); err != nil && ctx.Err() == nil {
		p.log.Warn("the NATS server is gone again", "error", err)
	}
	if _, err := t.ask(ctx, api.VerbPing); err == nil {
		p.log.Info("planner ready", "address", p.Address(), "http", p.web.url(), "state", p.cfg.State)
		p.ready("planner ready on " + p.Address())
	}
	<-ctx.Done()
	return nil
}

// ask puts a control request to the loop.
func (t *term) ask(ctx context.Context, verb api.Verb) (api.ControlReply, error) {
	return answered(ctx, func(reply func(api.ControlReply)) {
		t.loop.Control(api.Principal{}, verb, api.ControlRequest{V: api.Version}, reply)
	})
}

// configure has the loop go by another configuration.
func (t *term) configure(ctx context.Context, cfg planner.Config) error {
	_, err := answered(ctx, func(reply func(api.ControlReply)) { t.loop.Configure(cfg, reply) })
	return err
}

// answered is the loop's answer to what ask asks it.
func answered(ctx context.Context, ask func(reply func(api.ControlReply))) (api.ControlReply, error) {
	answer := make(chan api.ControlReply, 1)
	ask(func(r api.ControlReply) { answer <- r })
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
