package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/tidwall/buntdb"
	"golang.org/x/sys/unix"
)

// sealKey is where the newest seal is.
const sealKey = "meta/seal"

// body is a BuntDB file as this package uses it: BuntDB writes and remembers, and body syncs,
// because BuntDB drops the errors of its own syncs.
type body struct {
	db *buntdb.DB
	// file is the same file, opened before anything was written: the kernel tells each
	// descriptor once of a write that did not reach the disk.
	file *os.File
	// size and sum are the file's bytes and their CRC-32C.
	size int64
	sum  uint32
	// room is what take reads into.
	room []byte
	// sealed is where the newest seal ends.
	sealed int64
	// broken says why what is on the disk is not known; nil while it is. dead says that
	// BuntDB gave up with its lock held: nothing can be asked of it.
	broken error
	dead   bool
}

// openBody opens the file at path; the caller knows its sum.
func openBody(path string) (*body, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	db, err := openBunt(path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	b := &body{db: db, file: file, room: make([]byte, 32<<10)}
	err = db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Never, AutoShrinkDisabled: true})
	if err == nil {
		b.size, err = sizeOf(file)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
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

func sizeOf(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// put writes a batch, in no particular order: all of it, or nothing when it fails.
func (b *body) put(batch []stored) (err error) {
	defer func() {
		// It panics when it cannot take back what it has written in part.
		if r := recover(); r != nil {
			b.dead, b.broken = true, fmt.Errorf("%v", r)
			err = b.broken
		}
	}()
	err = b.db.Update(func(tx *buntdb.Tx) error {
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
	if err != nil {
		return err
	}
	if err := b.take(); err != nil {
		b.broken = fmt.Errorf("read back: %w", err)
		return b.broken
	}
	return nil
}

// take takes what was written into the sum.
func (b *body) take() error {
	size, err := sizeOf(b.file)
	if err != nil {
		return err
	}
	hash := &sum{b.sum}
	if _, err := io.CopyBuffer(hash, io.NewSectionReader(b.file, b.size, size-b.size), b.room); err != nil {
		return err
	}
	b.size, b.sum = size, hash.crc
	return nil
}

// sum is a CRC-32C that goes on from another one.
type sum struct{ crc uint32 }

// Write implements io.Writer.
func (s *sum) Write(p []byte) (int, error) {
	s.crc = crc32.Update(s.crc, castagnoli, p)
	return len(p), nil
}

// seal writes that all that was put is whole: how long the file was at the seal before, and
// the sum of all that is in it now.
func (b *body) seal() error {
	err := b.put([]stored{{sealKey, fmt.Sprintf("%016x %08x", b.sealed, b.sum)}})
	if err == nil {
		b.sealed = b.size
	}
	return err
}

func (b *body) close() error {
	err := b.file.Close()
	if !b.dead {
		err = errors.Join(b.db.Close(), err)
	}
	return err
}

// isFull reports whether a write failed because there is no room for it.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
