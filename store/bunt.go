package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

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

const (
	version     = "1"
	versionKey  = "meta/version"
	journalKey  = "meta/journal"
	dataPrefix  = "d/"
	compactFrom = 4 << 20
	compactGrow = 4
)

// stored is a change in its stored form; value "" deletes.
type stored struct{ key, value string }

// file is a store in a BuntDB file.
type file struct {
	path   string
	policy SyncPolicy

	mu struct {
		sync.Mutex
		db   *buntdb.DB // nil once closed
		base int64      // size after the last rewrite
		size int64      // about what was written since, base included
	}
}

// Open opens or creates the store in the file at path, whose directory must
// exist. It recovers from a crash (see the package documentation) and returns
// ErrCorrupt or ErrVersion, wrapped, for a file that it must not touch.
func Open(path string, policy SyncPolicy) (Store, error) {
	f := &file{path: path, policy: policy}
	if err := f.open(); err != nil {
		return nil, err
	}
	if err := f.recover(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (f *file) open() error {
	// BuntDB would create the file readable by everybody.
	created, err := os.OpenFile(f.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("store: open: %w", err)
	}
	// A file that begins otherwise never was a store; BuntDB would take it for a
	// torn first record and cut it to nothing.
	first := []byte{'*'}
	if _, err := created.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return errors.Join(fmt.Errorf("store: open: %w", err), created.Close())
	}
	if err := created.Close(); err != nil {
		return fmt.Errorf("store: open: %w", err)
	}
	if first[0] != '*' {
		return fmt.Errorf("%w: %s is no store; move it away to start empty", ErrCorrupt, f.path)
	}
	db, err := openBunt(f.path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read (%w); move it away to start empty", ErrCorrupt, f.path, err)
	}
	f.mu.db = db
	return f.configure(buntdb.Never)
}

// openBunt turns the panics of BuntDB's reader on some damaged files into errors.
func openBunt(path string) (db *buntdb.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reader failed: %v", r)
		}
	}()
	return buntdb.Open(path)
}

func (f *file) configure(policy buntdb.SyncPolicy) error {
	if err := f.mu.db.SetConfig(buntdb.Config{SyncPolicy: policy, AutoShrinkDisabled: true}); err != nil {
		return fmt.Errorf("store: configure: %w", err)
	}
	return nil
}

// recover checks the version and every value, finishes the batch that a crash
// interrupted and rewrites the file if it has grown.
func (f *file) recover() error {
	have, journal := "", ""
	keys := 0
	err := f.mu.db.View(func(tx *buntdb.Tx) error {
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
	case have == "" && keys == 0:
		if err := f.write([]stored{{versionKey, version}}); err != nil {
			return err
		}
	case have != version:
		return fmt.Errorf("%w: %s has %q, this release reads %q", ErrVersion, f.path, have, version)
	}
	if journal != "" {
		batch, err := decodeBatch(journal)
		if err != nil {
			return fmt.Errorf("%w: %s: journal: %w", ErrCorrupt, f.path, err)
		}
		if err := f.write(append(batch, stored{journalKey, ""})); err != nil {
			return err
		}
	}
	if _, err := f.Load(""); err != nil {
		return err
	}
	return f.measure()
}

// measure reads the file's size and rewrites it when half of it may be dead.
func (f *file) measure() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f.mu.base, f.mu.size = info.Size(), info.Size()
	if info.Size() > compactFrom {
		return f.compact()
	}
	return nil
}

func (f *file) Apply(changes []api.Pair) error {
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
	case f.mu.db == nil:
		return ErrClosed
	case len(batch) == 0:
		return nil
	}
	if err := f.apply(batch); err != nil {
		return err
	}
	if f.mu.size > compactFrom && f.mu.size > compactGrow*f.mu.base {
		return f.compact()
	}
	return nil
}

// apply writes a batch so that a crash leaves all or nothing of it.
func (f *file) apply(batch []stored) error {
	if len(batch) == 1 {
		return f.writeSynced(batch)
	}
	if err := f.write([]stored{{journalKey, encodeBatch(batch)}}); err != nil {
		return err
	}
	if err := f.write(batch); err != nil {
		// None of the batch is in memory: take the journal back too, so that a
		// later Open does not finish what was reported as failed.
		return errors.Join(err, f.writeSynced([]stored{{journalKey, ""}}))
	}
	return f.writeSynced([]stored{{journalKey, ""}})
}

func (f *file) writeSynced(batch []stored) error {
	if f.policy == SyncAlways {
		if err := f.configure(buntdb.Always); err != nil {
			return err
		}
	}
	return errors.Join(f.write(batch), f.configure(buntdb.Never))
}

func (f *file) write(batch []stored) error {
	err := f.mu.db.Update(func(tx *buntdb.Tx) error {
		for _, c := range batch {
			f.mu.size += int64(len(c.key) + len(c.value) + 32)
			if c.value != "" {
				if _, _, err := tx.Set(c.key, c.value, nil); err != nil {
					return err
				}
			} else if _, err := tx.Delete(c.key); err != nil && !errors.Is(err, buntdb.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store: write %s: %w", f.path, err)
	}
	return nil
}

// compact writes the living values to a new file and puts it in the place of the
// old one. BuntDB's own Shrink does not sync before it renames.
func (f *file) compact() error {
	next := f.path + ".new"
	size, err := f.save(next)
	if err != nil {
		// The changes are safe in the old file: try again once it has grown.
		f.mu.base = f.mu.size
		return os.RemoveAll(next)
	}
	if err := f.mu.db.Close(); err != nil {
		return fmt.Errorf("store: compact %s: %w", f.path, err)
	}
	f.mu.db = nil
	if err := errors.Join(os.Rename(next, f.path), syncPath(filepath.Dir(f.path))); err != nil {
		return fmt.Errorf("store: compact %s: %w", f.path, err)
	}
	f.mu.base, f.mu.size = size, size
	return f.open()
}

func (f *file) save(path string) (int64, error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	err = errors.Join(f.mu.db.Save(out), out.Sync())
	info, statErr := out.Stat()
	if err := errors.Join(err, statErr, out.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func syncPath(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f *file) Load(prefix string) ([]api.Pair, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.db == nil {
		return nil, ErrClosed
	}
	var out []api.Pair
	var bad error
	from := dataPrefix + prefix
	err := f.mu.db.View(func(tx *buntdb.Tx) error {
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

func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.db == nil {
		return nil
	}
	db := f.mu.db
	f.mu.db = nil
	if err := db.Close(); err != nil {
		return fmt.Errorf("store: close %s: %w", f.path, err)
	}
	return nil
}
