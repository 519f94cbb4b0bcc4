package store

import (
	"errors"
	"fmt"
	"time"
)

// mendAgain is how long a store whose disk has failed waits between two tries.
const mendAgain = time.Second

// mend makes a new file of what is in memory when it is not known what the disk has of the
// one in force. After a sync that failed the kernel takes what it could not write for written:
// a second sync that works says nothing. The caller holds f.mu.
func (f *File) mend() error {
	b := f.mu.body
	switch {
	case b.broken == nil:
		return nil
	case time.Now().Before(f.mu.again):
		return b.broken
	case f.mu.rewrite != nil:
		f.mu.rewrite.given = true
		return b.broken
	}
	f.mu.again = time.Now().Add(mendAgain)
	if b.dead {
		if err := f.reopen(); err != nil {
			return fmt.Errorf("%w; read again: %w", b.broken, err)
		}
		b = f.mu.body
	}
	if err := f.remake(b); err != nil {
		return fmt.Errorf("%w; made anew: %w", b.broken, err)
	}
	f.options.Tell(fmt.Sprintf("%s was made anew and is on the disk", f.path))
	return nil
}

// reopen reads the file again; it stays broken until it is made anew.
func (f *File) reopen() error {
	old := f.mu.body
	err := f.open()
	if err == nil {
		if err = f.recover(); err != nil {
			err = errors.Join(err, f.mu.body.close())
		}
	}
	if err != nil {
		f.mu.body = old
		return err
	}
	f.mu.body.broken = old.broken
	return old.close()
}

// remake copies b into a new file that takes its place.
func (f *File) remake(b *body) error {
	r, err := newRewrite(f.path + newSuffix)
	if err != nil {
		return err
	}
	err = f.copy(b, r, func() error { return nil })
	if err == nil {
		err = f.seal(r.body)
	}
	if err == nil {
		err = f.install(r)
	}
	if err != nil {
		return errors.Join(err, r.discard())
	}
	_ = b.close() // Its file has no name any more.
	return f.mu.body.broken
}
