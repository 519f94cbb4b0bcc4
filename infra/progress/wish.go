package progress

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/units"
)

const (
	// WishVersion is the layout version of the wish page.
	WishVersion = 1
	// WishMagic is word 0 of a wish page: the bytes "PACERWP1" as a little-endian number.
	WishMagic = 'P' | 'A'<<8 | 'C'<<16 | 'E'<<24 | 'R'<<32 | 'W'<<40 | 'P'<<48 | '1'<<56
	// WishSize is a wish page's size in bytes.
	WishSize = 4096
)

// Words of the wish page, the first two as on the progress page.
const (
	wishSequence = 2
	wishSlots    = 4
)

// CreateWish makes a wish page at path without a wish, replacing an old one. Every user
// may read it; its creator alone writes it.
func CreateWish(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("progress: %w", err)
	}
	var page [WishSize / 8]uint64
	page[wordMagic], page[wordVersion] = WishMagic, WishVersion
	if err := os.WriteFile(path, unsafe.Slice((*byte)(unsafe.Pointer(&page[0])), WishSize), 0o644); err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	return nil
}

// Wish is a mapped wish page. It is for one goroutine.
type Wish struct {
	words *[WishSize / 8]uint64
	data  []byte
}

// OpenWish maps the wish page at path to write on it: it goes on with the sequence that it
// finds.
func OpenWish(path string) (*Wish, error) {
	return mapWish(path, os.O_RDWR, unix.PROT_READ|unix.PROT_WRITE)
}

// ReadWish maps it to read only, as an executor does: for fakes.
func ReadWish(path string) (*Wish, error) { return mapWish(path, os.O_RDONLY, unix.PROT_READ) }

func mapWish(path string, flag, protection int) (*Wish, error) {
	data, err := mapFile(path, flag, protection, WishSize)
	if err != nil {
		return nil, err
	}
	w := &Wish{words: (*[WishSize / 8]uint64)(unsafe.Pointer(&data[0])), data: data}
	if w.words[wordMagic] != WishMagic {
		return nil, errors.Join(ErrForeign, w.Close())
	}
	if version := w.words[wordVersion]; version != WishVersion {
		return nil, errors.Join(fmt.Errorf("%w: %d, this side knows %d", ErrVersion, version, WishVersion), w.Close())
	}
	return w, nil
}

// Put wishes for that many bytes and returns the wish's sequence.
func (w *Wish) Put(wanted units.Bytes) uint64 {
	sequence := w.words[wishSequence]
	atomic.StoreUint64(&w.words[wishSlots+sequence&1], uint64(wanted))
	atomic.StoreUint64(&w.words[wishSequence], sequence+1)
	return sequence + 1
}

// Newest returns the newest wish and its sequence, 0 where there is none. It may be called
// while another process puts wishes.
func (w *Wish) Newest() (wanted units.Bytes, sequence uint64) {
	for {
		sequence = atomic.LoadUint64(&w.words[wishSequence])
		if sequence == 0 {
			return 0, 0
		}
		wanted = units.Bytes(atomic.LoadUint64(&w.words[wishSlots+(sequence-1)&1]))
		if atomic.LoadUint64(&w.words[wishSequence]) == sequence {
			return wanted, sequence
		}
	}
}

// Close unmaps the page. Closing twice is harmless.
func (w *Wish) Close() error {
	if w.words == nil {
		return nil
	}
	w.words = nil
	if err := unix.Munmap(w.data); err != nil {
		return fmt.Errorf("progress: unmap: %w", err)
	}
	return nil
}
