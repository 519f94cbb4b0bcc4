package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/oklog/run"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/planner"
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
	// bucket is db where planners share it, in shared, silence what was heard of nodes before.
	bucket  *store.Bucket
	shared  *bus.Bucket
	silence planner.Silence
	engine  *planner.Engine
	access  *plannerAccess
	loop    *planner.Loop
	cores   coresHistory
	backups backups
	uploads *uploads
}

// ownTerm starts on the store in the state directory.
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
	if err == nil {
		t.uploads, err = openUploads(filepath.Join(p.cfg.State, "uploads"), p.cfg.UploadBytes, planner.Files(t.engine))
	}
	if err != nil {
		return nil, errors.Join(err, t.undo.close())
	}
	t.undo.add(func() error { t.access.clerk.Wait(); return nil })
	t.undo.add(t.uploads.close)
	ctx, cancel := context.WithCancel(context.Background())
	t.undo.add(func() error { cancel(); return nil })
	if t.shared != nil {
		t.uploads.unknown = true
		go t.shareFiles(ctx)
	}
	go t.uploads.tidy(ctx)
	return t, nil
}

// begin has the planner answer on its connection until the term ends.
func (t *term) begin() error {
	p := t.planner
	if err := t.access.equip(p.cfg.Owners, p.cfg.State, p.Address(), p.cfg.NatsURL != ""); err != nil {
		p.log.Warn("an operator's credential cannot be written: others are made by `pacer auth issue`", "error", err)
	}
	t.loop = planner.NewLoop(t.engine, t, plannerStore{t.db, p.metrics},
		t.access.observe(t.uploads.observe(t.userOf, observePlanner(p.log, p.metrics))))
	t.loop.Owner = t.access.keyring.Owner
	t.access.hear(func(who api.Principal, revoked bool) {
		if revoked {
			p.web.Sessions.End(who.Login())
		}
		t.loop.Standing(who, revoked)
	})
	t.loop.Silence(t.silence) // Before anything that a node says now.
	stop, err := bus.ServePlanner(p.conn, t.access.keyring, bus.Handlers{
		Register: t.register, Events: t.loop.Events, Hello: t.loop.Hello, Status: t.status,
		Control: t.Control, PlanQuery: t.loop.Plan, Fetch: t.fetch,
	})
	if err != nil {
		return err
	}
	t.undo.add(func() error { stop(); return nil })
	if p.own.Login == "" {
		return nil
	}
	asked, err := bus.ServeAuthorization(p.conn, t.access.keyring, p.own)
	if err != nil {
		return err
	}
	t.undo.add(func() error { asked(); return nil })
	return nil
}

// PublishPlan implements planner.Publisher. A planner that may have lost the lease says nothing.
func (t *term) PublishPlan(p api.Plan) error {
	if !t.holds() {
		return nil
	}
	return t.planner.conn.PublishPlan(p)
}

// PublishDirective implements planner.Publisher, as PublishPlan does.
func (t *term) PublishDirective(app api.AppID, directive api.Directive) error {
	if !t.holds() {
		return nil
	}
	return t.planner.conn.PublishDirective(app, directive)
}

// Deaf implements planner.Publisher: a server that takes no renewal of the lease may not carry what
// nodes and drivers say either.
func (t *term) Deaf() bool { return !t.holds() || !t.planner.conn.Connected() }

// holds reports whether the store is this planner's now: nobody else can have taken it.
func (t *term) holds() bool {
	return t.bucket == nil || time.Since(t.bucket.Sent()) < planner.LeaseHolds
}

// LendEveryEnv has nodes take samples of executors' memory more often: tests and benchmarks cannot wait ten minutes.
const LendEveryEnv = "PACER_TEST_LEND_EVERY"

// loadPlanner returns the engine that goes on from what db holds.
func loadPlanner(cfg planner.Config, db store.Store) (*planner.Engine, error) {
	all, err := plannerPairs(db)
	if err != nil {
		return nil, err
	}
	if cfg.Identity == "" {
		cfg.Identity = rand.Text() // Of a new store: one that has a name keeps it.
	}
	if every, err := time.ParseDuration(os.Getenv(LendEveryEnv)); err == nil {
		cfg.Lend.Every = every
	}
	e, err := planner.New(cfg, all)
	debug.FreeOSMemory() // Records that were read take as much as the state that is made of them.
	return e, err
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
	inOrder(&g, t.loop.Run)
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

// announce says that the planner answers, once it does.
func (t *term) announce(ctx context.Context) error {
	p := t.planner
	if err := p.conn.Flush(ctx); err != nil && ctx.Err() == nil {
		p.log.Warn("the NATS server is gone again", "error", err)
	}
	if _, err := t.ask(ctx, api.VerbPing); err == nil {
		p.log.Info("planner ready", "address", p.Address(), "http", p.site.url(), "state", p.cfg.State)
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
