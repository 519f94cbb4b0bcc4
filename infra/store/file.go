package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/sparkpacer/pacer/api"
)

// SyncPolicy says when changes reach the disk.
type SyncPolicy int

const (
	// SyncAlways has them there when Apply returns.
	SyncAlways SyncPolicy = iota
	// SyncNever leaves it to the operating system: a crash of the process loses
	// nothing, one of the machine may. For tests.
	SyncNever
)

// Options say how a File is kept.
type Options struct {
	Sync SyncPolicy
	// Reserve are bytes of the disk that are held beside the file and let go when the disk is
	// full, so that changes can be stored until somebody has made room; 0 holds none.
	Reserve int64
	// Tell takes a line for the operator about what was cut, mended or let go; nil discards
	// it. It must not call the store.
	Tell func(line string)
}

const (
	version    = "3"
	versionKey = "meta/version"
	// A file of earlier has a batch that a crash interrupted as one record.
	earlier    = "2"
	journalKey = "meta/journal"

	dataPrefix  = "d/"
	compactFrom = 1 << 20
	compactGrow = 4
)

// stored is a change in its stored form; value "" deletes.
type stored struct{ key, value string }

// File is a store in a BuntDB file.
type File struct {
	path    string
	options Options
	// sync has a file on the disk; tests replace it.
	sync func(*os.File) error

	mu struct {
		sync.Mutex
		body    *body    // Nil once closed.
		base    int64    // Size after the last rewrite.
		rewrite *rewrite // Nil when none is under way.
		reserve reserve
		// again is when a broken body is mended next, at the earliest.
		again time.Time
	}
	rewriting sync.WaitGroup
}

// Open opens or creates the store in the file at path, whose directory must
// exist. It recovers from a crash (see the package documentation) and returns
// ErrCorrupt or ErrVersion, wrapped, for a file that it must not touch.
func Open(path string, options Options) (*File, error) {
	if options.Tell == nil {
		options.Tell = func(string) {}
	}
	f := &File{path: path, options: options, sync: (*os.File).Sync}
	_ = os.Remove(path + newSuffix) // Of a rewrite that a crash has ended.
	if err := f.open(); err != nil {
		return nil, err
	}
	if err := f.recover(); err != nil {
		_ = f.Close()
		return nil, err
	}
	if f.mu.base > compactFrom { // Half of it may be dead.
		f.mu.Lock()
		f.compact()
		f.mu.Unlock()
	}
	f.mu.reserve = reserve{path: path + reserveSuffix, size: options.Reserve}
	if err := f.mu.reserve.hold(time.Now()); err != nil {
		f.options.Tell(fmt.Sprintf("no reserve of %d MiB for a full disk beside %s: %v", options.Reserve>>20, path, err))
	}
	return f, nil
}

func (f *File) open() error {
	// BuntDB would create the file readable by everybody.
	created, err := os.OpenFile(f.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("store: open: %w", err)
	}
	whole, err := inspect(created)
	var path *os.PathError
	switch {
	case errors.As(err, &path):
		return errors.Join(fmt.Errorf("store: open: %w", err), created.Close())
	case err != nil:
		err = fmt.Errorf("%w: %s: %w; restore a backup, or move it away to start without it", ErrCorrupt, f.path, err)
		return errors.Join(err, created.Close())
	}
	if whole.torn > 0 {
		f.options.Tell(fmt.Sprintf("%s ended in a change that was not finished: its %d bytes were cut off", f.path,
			whole.torn))
		if err := created.Truncate(whole.size); err != nil {
			return errors.Join(fmt.Errorf("store: open: %w", err), created.Close())
		}
	}
	if err := errors.Join(f.keep(created), created.Close()); err != nil {
		return fmt.Errorf("store: open: %w", err)
	}
	b, err := openBody(f.path)
	if err != nil {
		return fmt.Errorf("store: open: %w", err)
	}
	if b.size != whole.size {
		return errors.Join(fmt.Errorf("%w: %s: %d of %d bytes are read", ErrCorrupt, f.path, b.size, whole.size), b.close())
	}
	b.sum, b.sealed = whole.sum, whole.size
	f.mu.body = b
	return nil
}

// keep has a file and its name on the disk.
func (f *File) keep(file *os.File) error {
	if f.options.Sync == SyncNever {
		return nil
	}
	return errors.Join(f.sync(file), f.syncPath(filepath.Dir(f.path)))
}

// recover checks the version and every value.
func (f *File) recover() error {
	b := f.mu.body
	have, journal := "", ""
	keys := 0
	err := b.db.View(func(tx *buntdb.Tx) error {
		return tx.AscendKeys("*", func(key, value string) bool {
			keys++
			switch key {
			case versionKey:
				have = value
			case journalKey:
				journal = value
			}
			return true
		})
	})
	if err != nil {
		return fmt.Errorf("store: open: %w", err)
	}
	switch {
	case have == earlier:
		batch, err := decodeBatch(journal)
		if err != nil {
			return fmt.Errorf("%w: %s: journal: %w", ErrCorrupt, f.path, err)
		}
		// One after the other: a crash between them leaves a file of earlier.
		err = errors.Join(b.put(batch), b.put([]stored{{journalKey, ""}}), f.apply([]stored{{versionKey, version}}))
		if err != nil {
			return fmt.Errorf("store: open: %w", err)
		}
	case have == "" && keys == 0:
		if err := f.apply([]stored{{versionKey, version}}); err != nil {
			return fmt.Errorf("store: open: %w", err)
		}
	case have != version:
		return otherVersion(f.path, have, version)
	}
	if _, err := f.load(""); err != nil {
		return err
	}
	f.mu.base = b.size
	return nil
}

// Apply implements Store.
func (f *File) Apply(changes []api.Pair) error {
	if err := check(changes); err != nil {
		return err
	}
	batch := make([]stored, 0, len(changes))
	for _, c := range changes {
		s := stored{key: dataPrefix + c.Key}
		if c.Value != nil {
			var err error
			if s.value, err = encodeValue(c.Value); err != nil {
				return fmt.Errorf("store: %s: %w", c.Key, err)
			}
		}
		batch = append(batch, s)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.mu.body == nil:
		return ErrClosed
	case len(batch) == 0:
		return nil
	}
	err := f.store(batch)
	if isFull(err) && f.mu.reserve.release() {
		f.options.Tell(fmt.Sprintf("the disk of %s is full: its reserve of %d MiB is let go; make room", f.path,
			f.options.Reserve>>20))
		f.mu.again = time.Time{}
		err = f.store(batch)
	}
	if f.mu.rewrite != nil {
		f.mu.rewrite.add(batch, err)
	} else if b := f.mu.body; err == nil && b.size > compactFrom && b.size > compactGrow*f.mu.base {
		f.compact()
	}
	if err != nil {
		return fmt.Errorf("store: write %s: %w", f.path, err)
	}
	if f.mu.reserve.hold(time.Now()) == nil && f.mu.reserve.released {
		f.mu.reserve.released = false
		f.options.Tell(fmt.Sprintf("the disk of %s has room again: the reserve is back", f.path))
	}
	return nil
}

// store writes a batch, when need be into a file that is made for it.
func (f *File) store(batch []stored) error {
	if err := f.mend(); err != nil {
		return err
	}
	return f.apply(batch)
}

// apply writes a batch so that a crash leaves all or nothing of it: what has no seal behind
// it is none.
func (f *File) apply(batch []stored) error {
	if err := f.mu.body.put(batch); err != nil {
		return err
	}
	return f.seal(f.mu.body)
}

// seal ends a body: all that is in it is sealed and on the disk.
func (f *File) seal(b *body) error {
	if err := b.seal(); err != nil || f.options.Sync == SyncNever {
		return err
	}
	if err := f.sync(b.file); err != nil {
		b.broken = fmt.Errorf("sync: %w", err)
	}
	return b.broken
}

// Load implements Store.
func (f *File) Load(prefix string) ([]api.Pair, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.body == nil {
		return nil, ErrClosed
	}
	return f.load(prefix)
}

// load is Load of a store that is open and locked.
func (f *File) load(prefix string) ([]api.Pair, error) {
	if f.mu.body.dead {
		return nil, f.mu.body.broken
	}
	var out []api.Pair
	var bad error
	from := dataPrefix + prefix
	err := f.mu.body.db.View(func(tx *buntdb.Tx) error {
		return tx.AscendGreaterOrEqual("", from, func(key, value string) bool {
			if !strings.HasPrefix(key, from) {
				return false
			}
			plain, err := decodeValue(value)
			if err != nil {
				bad = fmt.Errorf("%w: %s: value of %s: %w", ErrCorrupt, f.path, strings.TrimPrefix(key, dataPrefix), err)
				return false
			}
			out = append(out, api.Pair{Key: strings.TrimPrefix(key, dataPrefix), Value: plain})
			return true
		})
	})
	if err := errors.Join(bad, err); err != nil {
		return nil, err
	}
	return out, nil
}

// Close implements Store.
func (f *File) Close() error {
	f.mu.Lock()
	b := f.mu.body
	f.mu.body = nil
	if f.mu.rewrite != nil {
		f.mu.rewrite.given = true
	}
	f.mu.Unlock()
	f.rewriting.Wait()
	if b == nil {
		return nil
	}
	if err := b.close(); err != nil {
		return fmt.Errorf("store: close %s: %w", f.path, err)
	}
	return nil
}
