package store

import (
	"errors"
	"fmt"
	"io"
	"os"
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
		db      *buntdb.DB // nil once closed
		base    int64      // size after the last rewrite
		size    int64      // about what was written since, base included
		rewrite *rewrite   // nil when none is under way
		fault   error      // of a rewrite that left the file in an unknown state
	}
	rewriting sync.WaitGroup
}

// Open opens or creates the store in the file at path, whose directory must
// exist. It recovers from a crash (see the package documentation) and returns
// ErrCorrupt or ErrVersion, wrapped, for a file that it must not touch.
func Open(path string, policy SyncPolicy) (Store, error) {
	f := &file{path: path, policy: policy}
	_ = os.Remove(path + newSuffix) // Of a rewrite that a crash has ended.
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
	return configure(db, buntdb.Never)
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

func configure(db *buntdb.DB, policy buntdb.SyncPolicy) error {
	if err := db.SetConfig(buntdb.Config{SyncPolicy: policy, AutoShrinkDisabled: true}); err != nil {
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

// measure reads the file's size and has it rewritten when half of it may be dead.
func (f *file) measure() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f.mu.base, f.mu.size = info.Size(), info.Size()
	if info.Size() > compactFrom {
		f.compact()
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
	case f.mu.fault != nil:
		return f.mu.fault
	case len(batch) == 0:
		return nil
	}
	err := f.apply(batch)
	if f.mu.rewrite != nil {
		f.mu.rewrite.add(batch, err)
	} else if err == nil && f.mu.size > compactFrom && f.mu.size > compactGrow*f.mu.base {
		f.compact()
	}
	return err
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
		if err := configure(f.mu.db, buntdb.Always); err != nil {
			return err
		}
	}
	return errors.Join(f.write(batch), configure(f.mu.db, buntdb.Never))
}

func (f *file) write(batch []stored) error {
	for _, c := range batch {
		f.mu.size += int64(len(c.key) + len(c.value) + 32)
	}
	if err := put(f.mu.db, batch); err != nil {
		return fmt.Errorf("store: write %s: %w", f.path, err)
	}
	return nil
}

// put writes a batch into db: all of it, or nothing when it fails.
func put(db *buntdb.DB, batch []stored) error {
	return db.Update(func(tx *buntdb.Tx) error {
		for _, c := range batch {
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
	db := f.mu.db
	f.mu.db = nil
	if f.mu.rewrite != nil {
		f.mu.rewrite.given = true
	}
	f.mu.Unlock()
	f.rewriting.Wait()
	if db == nil {
		return nil
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("store: close %s: %w", f.path, err)
	}
	return nil
}
