package progress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/node/meter"
)

// Create makes a page at path on which nothing was published yet, replacing an
// old one, and gives it to uid and gid (-1 keeps the creator's). Its blocks are
// allocated, so that a full disk is an error here and no fault in the JVM.
func Create(path string, uid, gid int) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("progress: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, PageSize)
	if errors.Is(err, unix.EOPNOTSUPP) {
		_, err = f.Write(make([]byte, PageSize))
	}
	if err == nil && (uid >= 0 || gid >= 0) {
		err = f.Chown(uid, gid)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("progress: create %s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return nil
}

// Writer is the Go twin of the JVM's writer, for tests and fakes. It is for one
// goroutine.
type Writer struct {
	words *words
	data  []byte
	slot  slot
}

// NewWriter maps the page at path, which Create made, and puts the magic word,
// the version and pid on it. It goes on with the generation it finds.
func NewWriter(path string, pid int) (*Writer, error) {
	data, err := mapFile(path, os.O_RDWR, unix.PROT_READ|unix.PROT_WRITE, PageSize)
	if err != nil {
		return nil, err
	}
	w := &Writer{words: (*words)(unsafe.Pointer(&data[0])), data: data}
	atomic.StoreUint64(&w.words[wordPID], uint64(pid))
	atomic.StoreUint64(&w.words[wordVersion], Version)
	atomic.StoreUint64(&w.words[wordMagic], Magic)
	return w, nil
}

// Prove puts on the page by what its writer shows whose it is.
func (w *Writer) Prove(proof [ProofBytes]byte) {
	for i := range ProofBytes / 8 {
		atomic.StoreUint64(&w.words[wordProof+i], binary.LittleEndian.Uint64(proof[8*i:]))
	}
}

// Publish shows p: its Generation is ignored, and of more stages or tasks than a
// slot has room for only the first ones are taken.
func (w *Writer) Publish(p *meter.Page) {
	w.slot.encode(p)
	generation := atomic.LoadUint64(&w.words[wordGeneration])
	base := slotBase(generation)
	for i, word := range w.slot[:slotWords] {
		atomic.StoreUint64(&w.words[base+i], word)
	}
	for i, word := range w.slot[slotWords:] {
		atomic.StoreUint64(&w.words[heapBase(generation)+i], word)
	}
	atomic.StoreUint64(&w.words[wordGeneration], generation+1)
}

// Close unmaps the page.
func (w *Writer) Close() error {
	if err := unix.Munmap(w.data); err != nil {
		return fmt.Errorf("progress: unmap: %w", err)
	}
	return nil
}
