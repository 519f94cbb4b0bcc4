package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// Shared is a key-value bucket that several processes reach, in which each change has a greater
// revision than all before.
type Shared interface {
	// Newest returns key's value and the revision at which it was set; nil and 0 if it has none.
	Newest(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Write makes all changes or none, and none unless the last change's key was set at revision
	// last: its error is api.KindConflict then. A nil value deletes. It returns the new revision
	// of that key. After another error the changes may be made, or be made later.
	Write(ctx context.Context, changes []api.Pair, last uint64) (revision uint64, err error)
	// Read calls visit for the newest value of each key, and returns when it has seen all changes
	// up to revision until.
	Read(ctx context.Context, until uint64, visit func(api.Pair)) error
}

// Lease says who may write to a bucket, and what is in it: whoever writes renews it in the same
// piece, so that what has been written is known to the next one.
type Lease struct {
	V int `json:"v"`
	// Process is who holds it, new with each one that takes it; Host is its machine.
	Process string `json:"process"`
	Host    string `json:"host,omitempty"`
	// Write counts the writes of Process.
	Write uint64 `json:"write"`
	// Released says that Process has given it back.
	Released bool `json:"released,omitempty"`
	// Keys is how many keys have a value, Sum the exclusive or of all their digests.
	Keys int    `json:"keys"`
	Sum  uint64 `json:"sum,string"`
	// Journal is in how many pieces the bucket has a batch that is not all written yet.
	Journal int `json:"journal,omitempty"`
}

// BucketOptions say who writes.
type BucketOptions struct {
	// Name is the bucket's in messages.
	Name string
	// Process is the writer's name, another one each time; Host its machine.
	Process, Host string
	// Timeout bounds a write; a write that takes longer has failed, whatever becomes of it.
	Timeout time.Duration
	// Renew is how often the lease is renewed by itself; 0 leaves that to Renew.
	Renew time.Duration
	// Now is the clock; nil is the machine's.
	Now func() time.Time
}

const (
	bucketVersion = 1
	leaseKey      = "lease"
	journalPart   = "journal/"
	valuePart     = "d/"
	piecePart     = "piece/"
	// pieceBytes is the largest value that is written: a NATS server takes messages of 1 MiB
	// unless it is told otherwise.
	pieceBytes = 512 << 10
	// writeChanges and writeBytes bound what is written in one piece: a NATS server takes 1,000
	// messages.
	writeChanges, writeBytes = 500, 4 << 20
	// writeAgain is how long a bucket that has failed waits between two tries.
	writeAgain = time.Second
	// readLimit bounds how long a bucket is read.
	readLimit = 30 * time.Second
	// settleTries bounds how often it is asked what became of a write.
	settleTries = 3
)

// ErrLost is returned by a bucket whose lease another process has taken.
var ErrLost = errors.New("store: another planner has taken the lease")

// Bucket is a store in a bucket that several processes share. One at a time holds its lease and
// writes; what another one still sends is refused. It keeps all values in memory.
type Bucket struct {
	shared  Shared
	options BucketOptions
	lost    chan struct{}
	stop    context.CancelFunc
	renewal sync.WaitGroup

	mu struct {
		sync.Mutex
		contents
		revision uint64 // Of the lease.
		writes   uint64
		journal  int
		// unsure is a write of which it is not known whether it was made; nil without one.
		unsure *attempt
		// rest is what is in the journal and not written yet.
		rest []api.Pair
		// failed is why the last write failed, at again's earliest the next one is tried.
		failed error
		again  time.Time
		fault  error // Why nothing can be done any more: ErrLost or ErrClosed.
	}
	sent struct { // When the newest write that was made was sent.
		sync.Mutex
		at time.Time
	}
}

// attempt is a write and what it does.
type attempt struct {
	write   uint64
	journal int
	keeps   bool // The journal that there is stays.
	batch   []stored
	rest    []api.Pair // Changes that its journal leaves to be written.
}

// ReadLease returns a bucket's lease with its revision, which is 0 for one that nobody has
// written to.
func ReadLease(ctx context.Context, shared Shared, name string) (Lease, uint64, error) {
	body, revision, err := shared.Newest(ctx, leaseKey)
	if err != nil || revision == 0 {
		return Lease{}, 0, err
	}
	var l Lease
	if err := json.Unmarshal(body, &l); err != nil {
		return Lease{}, 0, fmt.Errorf("%w: %s: its lease cannot be read: %w", ErrCorrupt, name, err)
	}
	if l.V != bucketVersion {
		return Lease{}, 0, otherVersion(name, l.V, bucketVersion)
	}
	return l, revision, nil
}

// TakeBucket takes the lease of a bucket that has revision, and reads it. Its error is
// api.KindConflict when somebody has been faster, and ErrCorrupt or ErrVersion, wrapped, for what
// cannot be read.
func TakeBucket(ctx context.Context, shared Shared, revision uint64, o BucketOptions) (*Bucket, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &Bucket{shared: shared, options: o, lost: make(chan struct{}), stop: func() {}}
	b.mu.values = map[string]string{}
	before, now, err := ReadLease(ctx, shared, o.Name)
	if err != nil {
		return nil, fmt.Errorf("take the lease: %w", err)
	}
	if now != revision {
		return nil, api.Errorf(api.KindConflict, "the lease of %s was renewed", o.Name)
	}
	b.mu.revision, b.mu.journal = revision, before.Journal
	b.mu.contents.keys, b.mu.contents.sum = before.Keys, before.Sum
	if err := b.write(ctx, nil, &attempt{keeps: true}, false); err != nil {
		return nil, fmt.Errorf("take the lease: %w", err)
	}
	if o.Renew > 0 {
		var renewing context.Context
		renewing, b.stop = context.WithCancel(context.Background())
		b.renewal.Go(func() { b.renewals(renewing) })
	}
	if err := b.load(ctx, before); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// renewals renews the lease until ctx ends. A lease that cannot be renewed is tried again.
func (b *Bucket) renewals(ctx context.Context) {
	ticker := time.NewTicker(b.options.Renew)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.lost:
			return
		case <-ticker.C:
			if b.options.Now().Sub(b.Sent()) >= b.options.Renew/2 {
				_ = b.Renew(ctx)
			}
		}
	}
}

// Renew renews the lease.
func (b *Bucket) Renew(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.options.Timeout)
	defer cancel()
	return b.write(ctx, nil, &attempt{keeps: true}, false)
}

// Sent is when the newest write was sent that was made: no other process has the lease before
// its time has passed since then.
func (b *Bucket) Sent() time.Time {
	b.sent.Lock()
	defer b.sent.Unlock()
	return b.sent.at
}

// Lost is closed when another process has taken the lease.
func (b *Bucket) Lost() <-chan struct{} { return b.lost }

// Apply implements Store. It takes two timeouts at most, whatever the servers do, and one more for
// every 4 MiB.
func (b *Bucket) Apply(changes []api.Pair) error {
	if err := check(changes); err != nil {
		return err
	}
	batch, err := encode(changes)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.mu.fault != nil:
		return b.mu.fault
	case len(batch) == 0:
		return nil
	case b.mu.failed != nil && b.options.Now().Before(b.mu.again):
		return b.mu.failed
	}
	size := 0
	for _, s := range batch {
		size += len(s.value)
	}
	// A batch that is as large as a whole state may take longer than an event.
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(2+size/writeBytes)*b.options.Timeout)
	defer cancel()
	if err = b.finish(ctx); err == nil {
		err = b.apply(ctx, batch)
	}
	if b.mu.failed = err; err != nil {
		b.mu.again = b.options.Now().Add(writeAgain)
		return fmt.Errorf("store: write %s: %w", b.options.Name, err)
	}
	return nil
}

// apply writes a batch in one piece, or by a journal where it is too large for that.
func (b *Bucket) apply(ctx context.Context, batch []stored) error {
	changes := b.mu.contents.changes(batch)
	groups := split(changes)
	if len(groups) == 1 {
		return b.write(ctx, groups[0], &attempt{batch: batch}, false)
	}
	pieces := cut(encodeBatch(batch))
	var journal, clear []api.Pair
	for i, piece := range pieces {
		key := fmt.Sprint(journalPart, i)
		journal, clear = append(journal, api.Pair{Key: key, Value: []byte(piece)}), append(clear, api.Pair{Key: key})
	}
	pages := split(journal)
	for i, page := range pages {
		a := &attempt{}
		if i == len(pages)-1 {
			a.journal, a.batch, a.rest = len(pieces), batch, append(changes, clear...)
		}
		if err := b.write(ctx, page, a, false); err != nil {
			return err
		}
	}
	if err := b.finish(ctx); errors.Is(err, ErrLost) {
		return err
	}
	return nil // The journal has it: what is left is written before anything else is.
}

// finish writes what is in the journal only.
func (b *Bucket) finish(ctx context.Context) error {
	if err := b.settle(ctx); err != nil || len(b.mu.rest) == 0 {
		return err
	}
	groups := split(b.mu.rest)
	for i, group := range groups {
		a := &attempt{journal: b.mu.journal}
		if i == len(groups)-1 {
			a.journal = 0
		}
		if err := b.write(ctx, group, a, false); err != nil {
			return err
		}
	}
	b.mu.rest = nil
	return nil
}

// write makes changes, with a's batch in what is sealed, and renews the lease with them.
func (b *Bucket) write(ctx context.Context, changes []api.Pair, a *attempt, release bool) error {
	if err := b.settle(ctx); err != nil {
		return err
	}
	if a.keeps {
		a.journal = b.mu.journal
	}
	after := b.mu.contents.after(a.batch)
	b.mu.writes++
	a.write = b.mu.writes
	lease, err := json.Marshal(Lease{V: bucketVersion, Process: b.options.Process, Host: b.options.Host, Write: a.write,
		Released: release,
		Keys:     after.keys, Sum: after.sum, Journal: a.journal})
	if err != nil {
		return err
	}
	sent := b.options.Now()
	revision, err := b.shared.Write(ctx, append(changes[:len(changes):len(changes)],
		api.Pair{Key: leaseKey, Value: lease}), b.mu.revision)
	switch {
	case err == nil:
		b.made(a, revision, sent)
		return nil
	case api.KindOf(err) == api.KindConflict:
		// Nothing was written; it may be that the servers are busy with what is older.
		return errors.Join(err, b.mine(ctx))
	}
	b.mu.unsure = a
	return err
}

// made takes in a write that was made.
func (b *Bucket) made(a *attempt, revision uint64, sent time.Time) {
	b.mu.revision, b.mu.journal, b.mu.unsure = revision, a.journal, nil
	b.mu.contents.put(a.batch)
	if len(a.rest) > 0 {
		b.mu.rest = a.rest
	}
	b.sent.Lock()
	defer b.sent.Unlock()
	if sent.After(b.sent.at) {
		b.sent.at = sent
	}
}

// mine is an error unless this process has the lease, at the revision that it knows.
func (b *Bucket) mine(ctx context.Context) error {
	l, revision, err := ReadLease(ctx, b.shared, b.options.Name)
	switch {
	case err != nil:
		return err
	case l.Process == b.options.Process && revision == b.mu.revision, b.mu.revision == 0 && revision == 0:
		return nil
	}
	b.mu.fault = ErrLost
	close(b.lost)
	return ErrLost
}

// settle finds out whether the write of which that is not known was made, or sees to it that it
// will not be: each write expects the revision of the one before.
func (b *Bucket) settle(ctx context.Context) error {
	if b.mu.fault != nil {
		return b.mu.fault
	}
	for try := 0; b.mu.unsure != nil; try++ {
		if try == settleTries {
			return api.Errorf(api.KindTransient, "%s: what became of the last write is not known yet", b.options.Name)
		}
		l, revision, err := ReadLease(ctx, b.shared, b.options.Name)
		switch {
		case err != nil:
			return err
		case revision == b.mu.revision:
			// Not made so far: what comes after it is to be refused, or has it refused.
			if err := b.seal(ctx); err != nil && api.KindOf(err) != api.KindConflict {
				return err
			}
		case l.Process != b.options.Process:
			return b.mine(ctx)
		case l.Write == b.mu.unsure.write:
			b.made(b.mu.unsure, revision, time.Time{})
		default:
			b.mu.revision, b.mu.unsure = revision, nil
		}
	}
	return nil
}

// seal renews the lease as it is, in the place of a write that may be on its way.
func (b *Bucket) seal(ctx context.Context) error {
	b.mu.writes++
	lease, err := json.Marshal(Lease{V: bucketVersion, Process: b.options.Process, Host: b.options.Host,
		Write: b.mu.writes,
		Keys:  b.mu.contents.keys, Sum: b.mu.contents.sum, Journal: b.mu.journal})
	if err != nil {
		return err
	}
	sent := b.options.Now()
	revision, err := b.shared.Write(ctx, []api.Pair{{Key: leaseKey, Value: lease}}, b.mu.revision)
	if err == nil {
		b.made(&attempt{journal: b.mu.journal}, revision, sent)
	}
	return err
}

// Load implements Store.
func (b *Bucket) Load(prefix string) ([]api.Pair, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.fault != nil {
		return nil, b.mu.fault
	}
	return b.mu.contents.load(prefix, b.options.Name)
}

// Copy writes what the store holds at one moment into a new file at path, which is a store
// itself, while changes go on.
func (b *Bucket) Copy(path string) error {
	pairs, err := b.Load("")
	if err != nil {
		return fmt.Errorf("store: copy: %w", err)
	}
	return fileOf(path, pairs)
}

// Close gives the lease back and releases the store.
func (b *Bucket) Close() error {
	b.stop()
	b.renewal.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.fault != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.options.Timeout)
	defer cancel()
	_ = b.write(ctx, nil, &attempt{keeps: true}, true) // Else its time passes.
	b.mu.fault = ErrClosed
	return nil
}
