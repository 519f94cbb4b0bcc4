package progress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/node/meter"
)

var (
	// ErrEmpty says that nothing was published on the page yet.
	ErrEmpty = errors.New("progress: page not written yet")
	// ErrTorn says that the writer overtook every try to read the page.
	ErrTorn = errors.New("progress: page changed during each of 8 reads")
	// ErrForeign says that the file is no progress page, or a damaged one.
	ErrForeign = errors.New("progress: not a progress page")
	// ErrVersion says that the page has another layout version.
	ErrVersion = errors.New("progress: page of another layout version")
	// ErrTruncated says that the file is shorter than a page.
	ErrTruncated = errors.New("progress: page is truncated")
)

// words is the file as both sides see it.
type words [pageWords]uint64

// Reader reads a mapped page. It is for one goroutine.
type Reader struct {
	words *words
	data  []byte
}

// Open maps the page at path, which must be a whole one: ErrTruncated otherwise.
// Read looks at the content of the page.
func Open(path string) (*Reader, error) {
	data, err := mapFile(path, os.O_RDONLY, unix.PROT_READ, PageSize)
	if err != nil {
		return nil, err
	}
	return newReader(data), nil
}

// OpenFile maps the page that f is, as Open does; f stays open.
func OpenFile(f *os.File) (*Reader, error) {
	data, err := mapOpen(f, unix.PROT_READ, PageSize)
	if err != nil {
		return nil, err
	}
	return newReader(data), nil
}

func newReader(data []byte) *Reader {
	return &Reader{words: (*words)(unsafe.Pointer(&data[0])), data: data}
}

// mapFile maps the first size bytes of the file at path.
func mapFile(path string, flag, protection, size int) ([]byte, error) {
	// A link or a pipe in the executor's hands must not lead or hold the reader.
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	defer f.Close()
	return mapOpen(f, protection, size)
}

func mapOpen(f *os.File, protection, size int) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is a %s", ErrForeign, f.Name(), st.Mode().Type())
	}
	if st.Size() < int64(size) {
		return nil, fmt.Errorf("%w: %s has %d bytes, want %d", ErrTruncated, f.Name(), st.Size(), size)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, protection, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("progress: map %s: %w", f.Name(), err)
	}
	return data, nil
}

// Read copies the newest published state into into, reusing its slices: it
// allocates nothing once they have grown. On error into is unchanged. The errors
// are ErrEmpty, ErrTorn, ErrForeign, ErrVersion and ErrTruncated; only the first
// two can pass by themselves.
func (r *Reader) Read(into *meter.Page) (err error) {
	if r.words == nil {
		return fmt.Errorf("progress: read: %w", os.ErrClosed)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer truncated(&err)
	const tries = 8
	var slot slot // Not the page's: the reader of many pages has it in its caches.
	for range tries {
		generation := atomic.LoadUint64(&r.words[wordGeneration])
		if err := r.check(generation); err != nil {
			return err
		}
		sane := r.copySlot(&slot, generation)
		if atomic.LoadUint64(&r.words[wordGeneration]) != generation {
			continue
		}
		if !sane {
			return fmt.Errorf("%w: it counts %d stages and %d tasks", ErrForeign, slot[slotStages], slot[slotTasks])
		}
		slot.decode(into, generation)
		return nil
	}
	return ErrTorn
}

// truncated makes a fault of the memory that is read an error: the executor's user owns the file and may
// cut it while it is mapped, and one executor must not end the node controller.
func truncated(err *error) {
	switch fault := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		*err = ErrTruncated
	default:
		panic(fault)
	}
}

// Proof is that of the page, which is there from its beginning: zeros where the writer shows none. Errors are Read's.
func (r *Reader) Proof() (proof [ProofBytes]byte, err error) {
	if r.words == nil {
		return proof, fmt.Errorf("progress: read: %w", os.ErrClosed)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer truncated(&err)
	if err := r.check(1); err != nil {
		return proof, err
	}
	for i := range ProofBytes / 8 {
		binary.LittleEndian.PutUint64(proof[8*i:], atomic.LoadUint64(&r.words[wordProof+i]))
	}
	return proof, nil
}

// check judges the words that never change after the first publication.
func (r *Reader) check(generation uint64) error {
	magic := atomic.LoadUint64(&r.words[wordMagic])
	switch version := atomic.LoadUint64(&r.words[wordVersion]); {
	case magic == 0 && generation == 0:
		return ErrEmpty
	case magic != Magic:
		return ErrForeign
	case generation == 0:
		return ErrEmpty
	case version != Version && version != Older:
		return fmt.Errorf(
			"%w: %d, this side reads %d and %d: the pacer jar and the node controller are of different releases",
			ErrVersion, version, Older, Version)
	}
	return nil
}

// copySlot copies the used part of the slot that belongs to generation and
// reports whether its counts are possible.
func (r *Reader) copySlot(slot *slot, generation uint64) bool {
	base := slotBase(generation - 1)
	r.load(slot, base, 0, slotHeader)
	stages, tasks := slot[slotStages], slot[slotTasks]
	if stages > MaxStages || tasks > MaxTasks {
		return false
	}
	r.load(slot, base, slotHeader, int(stages)*stageWords)
	r.load(slot, base, slotFirstTask, int(tasks)*taskWords)
	r.load(slot, heapBase(generation-1)-slotWords, slotWords, heapWords) // 0 in what an older one has written.
	return true
}

func (r *Reader) load(slot *slot, base, from, n int) {
	source, target := r.words[base+from:base+from+n], slot[from:from+n]
	for i := range target {
		target[i] = atomic.LoadUint64(&source[i])
	}
}

// Close unmaps the page. Closing twice is harmless.
func (r *Reader) Close() error {
	if r.words == nil {
		return nil
	}
	r.words = nil
	if err := unix.Munmap(r.data); err != nil {
		return fmt.Errorf("progress: unmap: %w", err)
	}
	return nil
}
