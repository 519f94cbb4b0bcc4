package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

const (
	// askAgain is the time between two questions to JetStream that was not answered.
	askAgain = 500 * time.Millisecond
	// aloneAfter is after how many of them a bucket is made on one server of a cluster that does
	// not have three.
	aloneAfter = 20
	// askTimeout bounds such a question, storeTimeout a write to the bucket.
	askTimeout   = 3 * time.Second
	storeTimeout = 1500 * time.Millisecond
)

// sharedMark is the file that says in which bucket the state of a state directory's planner is.
// With it the planner does not begin anew where the bucket cannot be seen, and a store in the state
// directory is one that `pacer restore` has put there.
func sharedMark(state string) string { return filepath.Join(state, "planner.shared") }

// sharedBy is the bucket that the state directory's planner shares with others, "" for none.
func sharedBy(state string) string {
	body, err := os.ReadFile(sharedMark(state))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(body))
}

// standby serves whenever the lease of the shared store is this planner's, and stands by
// otherwise.
func (p *PlannerDaemon) standby(ctx context.Context) error {
	shared, err := p.openShared(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	for ctx.Err() == nil {
		taken, err := p.await(ctx, shared)
		if err != nil || taken == nil {
			return err
		}
		bucket := taken.bucket
		if s := taken.silence; taken.follows {
			p.log.Info("this planner takes over", "unrenewed", s.Listened.Round(time.Millisecond), "nodes_heard", len(s.Last))
		}
		if err := p.bringIn(bucket); err != nil {
			return errors.Join(err, bucket.Close())
		}
		t, err := p.newTerm(&term{db: bucket, bucket: bucket, silence: taken.silence, shared: shared},
			storeShelf{bucket, principalsPath(p.cfg.State)})
		if err != nil {
			return err
		}
		if err := p.runTerm(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// runTerm runs a term.
func (p *PlannerDaemon) runTerm(ctx context.Context, t *term) error {
	if err := t.begin(); err != nil {
		return errors.Join(err, t.undo.close())
	}
	p.term.Store(t)
	defer p.term.Store(nil)
	return t.run(ctx)
}

// openShared waits until the NATS server has said what it has, and opens the bucket in which
// planners share their state. It is nil when ctx has ended.
func (p *PlannerDaemon) openShared(ctx context.Context) (*bus.Bucket, error) {
	ticker := time.NewTicker(askAgain)
	defer ticker.Stop()
	for waits := 0; ctx.Err() == nil; waits++ {
		why, err := p.jetStream(ctx)
		var shared *bus.Bucket
		switch {
		case err != nil:
		case why != "":
			return nil, api.Errorf(api.KindInvalid, "planner.nats-url %s: %s, and a planner's state is in JetStream there: "+
				"start nats-server 2.12 or later with -js, or with `jetstream {}` in its configuration", p.cfg.NatsURL, why)
		default:
			shared, err = p.openBucket(ctx, waits > aloneAfter)
		}
		switch {
		case err == nil:
			p.log.Info("the planner's state is in a bucket of JetStream, others may stand by", "bucket", bus.BucketName,
				"address", p.cfg.NatsURL, "replicas", shared.Replicas)
			return shared, nil
		case errors.Is(err, bus.ErrNoBucket):
			return nil,
				fmt.Errorf(
					"bucket %s is gone from %s, with the planner's state: `pacer restore` a backup, or remove %s to begin without it",
					bus.BucketName, p.cfg.NatsURL, sharedMark(p.cfg.State))
		case api.KindOf(err) == api.KindInvalid:
			return nil, err
		}
		if waits == 0 && p.conn.Connected() {
			p.log.Info("waiting for JetStream", "address", p.cfg.NatsURL, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return nil, nil
}

func (p *PlannerDaemon) jetStream(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return p.conn.JetStream(ctx)
}

// openBucket opens the bucket, and makes it where the planner has not shared one yet, or a backup
// was restored.
func (p *PlannerDaemon) openBucket(ctx context.Context, alone bool) (*bus.Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return p.conn.OpenBucket(ctx, sharedBy(p.cfg.State) == "" || p.has(), alone)
}

// has reports whether there is a store in the state directory.
func (p *PlannerDaemon) has() bool {
	_, err := os.Stat(storePath(p.cfg.State, "planner"))
	return err == nil
}

// taken is a store whose lease is this planner's, whether another one had it, and what was heard
// of nodes meanwhile.
type taken struct {
	bucket  *store.Bucket
	follows bool
	silence planner.Silence
}

// await returns the store once its lease is this planner's; nil when ctx has ended.
func (p *PlannerDaemon) await(ctx context.Context, shared *bus.Bucket) (*taken, error) {
	host, _ := os.Hostname()
	began := time.Now()
	now := func() units.Instant { return units.Instant(time.Since(began) + 1) }
	nodes, stop, err := hearNodes(p.conn, now)
	if err != nil {
		return nil, err
	}
	defer stop()
	var lease planner.Lease
	var first uint64
	said, faulty := false, false
	ticker := time.NewTicker(planner.LeaseAsk)
	defer ticker.Stop()
	for ctx.Err() == nil {
		asked := now()
		held, revision, err := p.look(ctx, shared)
		if err == nil {
			if lease.Saw(asked, now(), revision, held.Released) {
				var bucket *store.Bucket
				bucket, err = store.TakeBucket(ctx, shared, revision,
					store.BucketOptions{Name: "bucket " + bus.BucketName + " on " + p.cfg.NatsURL,
						Process: rand.Text(), Host: host, Timeout: storeTimeout, Renew: planner.LeaseRenew})
				if err == nil {
					return &taken{bucket, revision > 0, nodes.silence(lease.Unseen(now()))}, nil
				}
			} else if first == 0 {
				first = revision
			} else if first != revision && !said && held.Keys > 0 {
				said = true // Only then it is known that somebody renews it, and has begun.
				if err := p.standsBy(held); err != nil {
					return nil, err
				}
			}
		}
		if err != nil {
			if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrVersion) {
				return nil, err
			}
			if !faulty && api.KindOf(err) != api.KindConflict && ctx.Err() == nil {
				p.log.Warn("the lease of the planners' state cannot be read: nobody can take over", "error", err)
				faulty = true
			}
			lease.Missed()
		} else if faulty {
			p.log.Info("the lease of the planners' state can be read again")
			faulty = false
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return nil, nil
}

// look reads the lease.
func (p *PlannerDaemon) look(ctx context.Context, shared *bus.Bucket) (store.Lease, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, planner.LeaseRenew)
	defer cancel()
	return store.ReadLease(ctx, shared, "bucket "+bus.BucketName+" on "+p.cfg.NatsURL)
}

// standsBy says for whom the planner stands by. A planner that has a backup to bring in does not: it would bring it in
// much later.
func (p *PlannerDaemon) standsBy(held store.Lease) error {
	line := fmt.Sprintf("the planner on host %s serves on %s", held.Host, p.Address())
	if p.restored() {
		return api.Errorf(api.KindConflict, "%s, and a backup was restored into %s: stop that planner first", line,
			p.cfg.State)
	}
	if err := p.follow(); err != nil {
		return err
	}
	p.log.Info("another planner serves: this one stands by, and takes over when it is gone", "host", held.Host)
	p.ready(line + ": this one stands by until it is gone")
	return nil
}

// restored reports whether the store in the state directory came by `pacer restore`.
func (p *PlannerDaemon) restored() bool { return p.has() && sharedBy(p.cfg.State) != "" }

// mark says in the state directory that the state is in the bucket from now on.
func (p *PlannerDaemon) mark() error {
	return bus.WriteSecret(sharedMark(p.cfg.State), []byte(bus.BucketName+" on "+p.cfg.NatsURL+"\n"))
}

// putAway moves the state directory's own store away, so that it is not taken for the newest
// another time.
func (p *PlannerDaemon) putAway(suffix string) (kept string, err error) {
	path := storePath(p.cfg.State, "planner")
	if err := errors.Join(os.Rename(path, path+suffix), executor.RemoveFile(path+".reserve")); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	return path + suffix, nil
}

// follow has the planner share the state that a bucket has already, if it has not so far.
func (p *PlannerDaemon) follow() error {
	if sharedBy(p.cfg.State) != "" {
		return nil
	}
	if p.has() {
		kept, err := p.putAway(".unused")
		if err != nil {
			return err
		}
		p.log.Warn("the state of the state directory is not used: the bucket has that of another planner; "+
			"to use it stop all planners, `pacer restore` the file that is kept, and start this one first", "kept", kept)
	}
	return p.mark()
}

// bringIn has the store of the state directory in the bucket: one that was restored, or that of
// a planner that is the first to share its state.
func (p *PlannerDaemon) bringIn(bucket *store.Bucket) error {
	have, err := bucket.Load("")
	if err != nil {
		return err
	}
	if len(have) > 0 && !p.restored() {
		return p.follow()
	}
	if p.has() {
		if err := p.replace(bucket, have); err != nil {
			return err
		}
		kept, err := p.putAway(".moved")
		if err != nil {
			return err
		}
		p.log.Info("the state of the state directory is in the bucket now", "kept", kept)
	}
	return p.mark()
}

// replace puts all that the state directory's store has in the place of what the bucket has.
func (p *PlannerDaemon) replace(bucket *store.Bucket, have []api.Pair) error {
	db, err := openStore(p.cfg.State, "planner", store.SyncNever, p.log)
	if err != nil {
		return err
	}
	pairs, err := db.Load("")
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	changes := make([]api.Pair, 0, len(have)+len(pairs))
	for _, old := range have {
		changes = append(changes, api.Pair{Key: old.Key})
	}
	return bucket.Apply(append(changes, pairs...))
}
