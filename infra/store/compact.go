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
	// chunkKeys and chunkBytes are how much is copied and synced at a time, at most. An Apply beside it waits for one
	// chunk to be read, and its sync for one to be written, since a journalling file system syncs what other files have
	// written with it.
	chunkKeys, chunkBytes = 256, 512 << 10
	// piece is how much of the old file is freed at a time.
	piece = 4 << 20
	// few is how many batches may be left for the moment in which Apply waits.
	few = 4
	// rounds bounds how often it is caught up with batches that come as fast.
	rounds = 8
)

// rewrite is a new file with the living values that is made beside the one in force. The
// old file is the store until the new one has taken its name, so a crash in between
// loses nothing but the work.
type rewrite struct {
	path  string
	body  *body         // The new file; it shares the values with the old one.
	late  [][]stored    // Batches since it began that are not in it; guarded by File.mu.
	given bool          // It is given up; guarded by File.mu.
	done  chan struct{} // Closed when it is over.
}

// newRewrite makes an empty, private file in place of what is at path.
func newRewrite(path string) (*rewrite, error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	b, err := openBody(path)
	if err != nil {
		return nil, err
	}
	return &rewrite{path: path, body: b, done: make(chan struct{})}, nil
}

// discard closes and removes the new file.
func (r *rewrite) discard() error { return errors.Join(r.body.close(), os.Remove(r.path)) }

// add takes a batch that was applied to the file in force. A batch that failed may be there in part, and parts of it
// may have been copied.
func (r *rewrite) add(batch []stored, err error) {
	r.late = append(r.late, batch)
	r.given = r.given || err != nil
}

// begin starts a rewrite into path. f.mu is held, no other is under way and no batch is half
// applied.
func (f *File) begin(path string) (old *body, r *rewrite, err error) {
	if r, err = newRewrite(path); err != nil {
		return nil, nil, err
	}
	f.mu.rewrite = r
	return f.mu.body, r, nil
}

// end ends a rewrite, whatever became of it. f.mu is held.
func (f *File) end(r *rewrite) {
	f.mu.rewrite = nil
	close(r.done)
}

// compact has the file rewritten. f.mu is held, as for begin.
func (f *File) compact() {
	old, r, err := f.begin(f.path + newSuffix)
	if err != nil {
		f.mu.base = f.mu.body.size // Try again once it has grown.
		return
	}
	f.rewriting.Go(func() { f.replace(old, r) })
}

// replace brings all that old has into r and puts r in its place.
func (f *File) replace(old *body, r *rewrite) {
	freed, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err == nil {
		err = f.fill(old, r)
	}
	f.mu.Lock()
	if err == nil {
		if err = f.last(r); err == nil {
			err = f.install(r)
		}
	}
	if err != nil && f.mu.body != nil {
		f.mu.base = f.mu.body.size // Changes that were applied are safe in the old file.
	}
	f.end(r)
	settled := err == nil && f.mu.body.broken == nil
	f.mu.Unlock()
	if err != nil {
		_ = r.discard()
	} else {
		if settled {
			shed(freed)
		}
		_ = old.close() // Its file has no name any more.
	}
	_ = freed.Close()
}

// shed cuts a file that nobody needs to nothing, a piece at a time: what a file system
// frees at once holds up every sync meanwhile.
func shed(file *os.File) {
	size, err := sizeOf(file)
	for size > 0 && err == nil {
		size = max(0, size-piece)
		err = file.Truncate(size)
	}
}

var errGiven = errors.New("store: the rewrite is given up")

// fill brings all that old has into r, and what is applied meanwhile but for a few batches.
func (f *File) fill(old *body, r *rewrite) error {
	err := f.copy(old, r, func() error { return f.wanted(r) })
	more := true
	for round := 0; err == nil && more && round < rounds; round++ {
		more, err = f.catchUp(r)
	}
	return err
}

// copy copies old's values, some at a time, as long as wanted returns nil. A change behind it comes with the late
// batches; the seal is not copied.
func (f *File) copy(old *body, r *rewrite, wanted func() error) error {
	from := ""
	for {
		var values []stored
		next, size := "", 0
		err := old.db.View(func(tx *buntdb.Tx) error {
			return tx.AscendGreaterOrEqual("", from, func(key, value string) bool {
				if len(values) == chunkKeys || size >= chunkBytes {
					next = key
					return false
				}
				if key != sealKey {
					values, size = append(values, stored{key, value}), size+len(value)
				}
				return true
			})
		})
		if err := errors.Join(err, wanted(), r.body.put(values)); err != nil {
			return err
		}
		if err := f.sync(r.body.file); err != nil || next == "" {
			return err
		}
		from = next
	}
}

// wanted is an error when r is given up.
func (f *File) wanted(r *rewrite) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.given {
		return errGiven
	}
	return nil
}

// catchUp applies the batches that have come, and reports whether more than a few have
// come since.
func (f *File) catchUp(r *rewrite) (more bool, err error) {
	f.mu.Lock()
	late := r.late
	r.late = nil
	f.mu.Unlock()
	for _, batch := range late {
		if err := r.body.put(batch); err != nil {
			return false, err
		}
	}
	if err := f.sync(r.body.file); err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(r.late) > few, nil
}

// last brings the last batches into r. Only from here on Apply waits: for these, two syncs
// and a rename. f.mu is held.
func (f *File) last(r *rewrite) error {
	if r.given {
		return errGiven
	}
	for _, batch := range r.late {
		if err := r.body.put(batch); err != nil {
			return err
		}
	}
	return f.seal(r.body)
}

// install gives r's file the store's name. f.mu is held.
func (f *File) install(r *rewrite) error {
	if err := os.Rename(r.path, f.path); err != nil {
		return err
	}
	if err := f.syncPath(filepath.Dir(f.path)); err != nil {
		// Which of the two files a crash would leave is not known, and they part from here.
		r.body.broken = fmt.Errorf("compact: %w", err)
	}
	f.mu.body, f.mu.base = r.body, r.body.size
	return nil
}

// Copy writes what the store holds at one moment into a new file at path, which is a store
// itself, while changes go on. Its error is ErrClosed when the store is closed meanwhile; of
// an error nothing is left behind.
func (f *File) Copy(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("store: copy: %s: %w", path, os.ErrExist)
	}
	old, r, err := f.turn(path)
	if err != nil {
		return fmt.Errorf("store: copy: %w", err)
	}
	defer f.rewriting.Done()
	err = f.fill(old, r)
	f.mu.Lock()
	if err == nil {
		err = f.last(r)
	}
	f.end(r)
	closed := f.mu.body == nil
	f.mu.Unlock()
	if err == nil {
		err = f.syncPath(filepath.Dir(path))
	}
	switch {
	case err == nil:
		return r.body.close()
	case closed:
		return errors.Join(ErrClosed, r.discard())
	}
	return fmt.Errorf("store: copy: %w", errors.Join(err, r.discard()))
}

// turn begins a rewrite into path when no other is under way.
func (f *File) turn(path string) (*body, *rewrite, error) {
	for {
		f.mu.Lock()
		under, b := f.mu.rewrite, f.mu.body
		if under == nil {
			defer f.mu.Unlock()
			if b == nil {
				return nil, nil, ErrClosed
			}
			if b.broken != nil {
				return nil, nil, b.broken
			}
			old, r, err := f.begin(path)
			if err == nil {
				f.rewriting.Add(1)
			}
			return old, r, err
		}
		f.mu.Unlock()
		<-under.done
	}
}

// syncPath has the directory at path on the disk.
func (f *File) syncPath(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.sync(d), d.Close())
}
