package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidwall/buntdb"
)

const (
	newSuffix = ".new"
	// chunkKeys and chunkBytes are how much is copied and synced at a time, at most: an
	// Apply beside it waits for one chunk to be read, and its sync for one to be written,
	// since a journalling file system syncs what other files have written with it.
	chunkKeys, chunkBytes = 256, 512 << 10
	// piece is how much of the old file is freed at a time.
	piece = 4 << 20
	// few is how many batches may be left for the moment in which Apply waits.
	few = 4
)

// rewrite is a new file with the living values that is made beside the one in force. The
// old file is the store until the new one has taken its name, so a crash in between
// loses nothing but the work.
type rewrite struct {
	db    *buntdb.DB // The new file; it shares the values with the old one.
	late  [][]stored // Batches since it began that are not in db; guarded by file.mu.
	given bool       // It is given up; guarded by file.mu.
}

// add takes a batch that was applied to the file in force. One that failed may be there
// in part, and parts of it may have been copied.
func (r *rewrite) add(batch []stored, err error) {
	r.late = append(r.late, batch)
	r.given = r.given || err != nil
}

// compact starts a rewrite. f.mu is held and no batch is half applied.
func (f *file) compact() {
	db, err := create(f.path + newSuffix)
	if err != nil {
		f.mu.base = f.mu.size // Try again once it has grown.
		return
	}
	old, r := f.mu.db, &rewrite{db: db}
	f.mu.rewrite = r
	f.rewriting.Go(func() { f.replace(old, r) })
}

// create makes an empty, private database in place of what is at path.
func create(path string) (*buntdb.DB, error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	db, err := buntdb.Open(path)
	if err != nil {
		return nil, err
	}
	return db, configure(db, buntdb.Never)
}

// replace brings all that old has into r and puts r in its place.
func (f *file) replace(old *buntdb.DB, r *rewrite) {
	body, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err == nil {
		err = f.copy(old, r)
	}
	for more := true; err == nil && more; {
		more, err = f.catchUp(r)
	}
	if err == nil {
		err = f.swap(r)
	}
	f.mu.Lock()
	f.mu.rewrite = nil
	if err != nil {
		f.mu.base = f.mu.size // What was applied is safe in the old file.
	}
	settled := f.mu.fault == nil
	f.mu.Unlock()
	switch {
	case err != nil:
		_ = r.db.Close()
		_ = os.Remove(f.path + newSuffix)
	case settled:
		shed(body)
		_ = old.Close() // Its file has no name any more.
	default:
		_ = old.Close()
	}
	_ = body.Close()
}

// shed cuts a file that nobody needs to nothing, a piece at a time: what a file system
// frees at once holds up every sync meanwhile.
func shed(body *os.File) {
	info, err := body.Stat()
	if err != nil {
		return
	}
	for size := info.Size(); size > 0 && err == nil; {
		size = max(0, size-piece)
		err = body.Truncate(size)
	}
}

var errGiven = errors.New("store: the rewrite is given up")

// copy copies old's values, some at a time. What changes behind it comes with the late
// batches; so does the end of a journal, which is never copied.
func (f *file) copy(old *buntdb.DB, r *rewrite) error {
	from := ""
	for {
		var values []stored
		next, size := "", 0
		err := old.View(func(tx *buntdb.Tx) error {
			return tx.AscendGreaterOrEqual("", from, func(key, value string) bool {
				if len(values) == chunkKeys || size >= chunkBytes {
					next = key
					return false
				}
				if key != journalKey {
					values, size = append(values, stored{key, value}), size+len(value)
				}
				return true
			})
		})
		if err := errors.Join(err, f.wanted(r), put(r.db, values)); err != nil {
			return err
		}
		if err := syncPath(f.path + newSuffix); err != nil || next == "" {
			return err
		}
		from = next
	}
}

// wanted is an error when r is given up.
func (f *file) wanted(r *rewrite) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.given {
		return errGiven
	}
	return nil
}

// catchUp applies the batches that have come, and reports whether more than a few have
// come since.
func (f *file) catchUp(r *rewrite) (more bool, err error) {
	f.mu.Lock()
	late := r.late
	r.late = nil
	f.mu.Unlock()
	for _, batch := range late {
		if err := put(r.db, batch); err != nil {
			return false, err
		}
	}
	if err := syncPath(f.path + newSuffix); err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(r.late) > few, nil
}

// swap gives the new file its name. Only here Apply waits: for the last batches, two
// syncs and a rename.
func (f *file) swap(r *rewrite) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.given {
		return errGiven
	}
	for _, batch := range r.late {
		if err := put(r.db, batch); err != nil {
			return err
		}
	}
	next := f.path + newSuffix
	info, err := os.Stat(next)
	if err := errors.Join(err, syncPath(next)); err != nil {
		return err
	}
	if err := os.Rename(next, f.path); err != nil {
		return err
	}
	if err := syncPath(filepath.Dir(f.path)); err != nil {
		// Which of the two files a crash would leave is not known, and they part from here.
		f.mu.fault = fmt.Errorf("store: compact %s: %w", f.path, err)
	}
	f.mu.db, f.mu.base, f.mu.size = r.db, info.Size(), info.Size()
	return nil
}

// syncPath has the file or directory at path on the disk.
func syncPath(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
