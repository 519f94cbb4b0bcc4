package progress_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/units"
)

// The layout of doc.go, word by word: what the JVM's reader is held to.
func TestWishLayout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wish")
	if err := progress.CreateWish(path); err != nil {
		t.Fatal(err)
	}
	w, err := progress.OpenWish(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := progress.ReadWish(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if wanted, sequence := r.Newest(); wanted != 0 || sequence != 0 {
		t.Errorf("without a wish: %v, %d", wanted, sequence)
	}
	for i := range uint64(3) {
		if got := w.Put(units.Bytes(100 + i)); got != i+1 {
			t.Errorf("sequence %d, want %d", got, i+1)
		}
		if wanted, sequence := r.Newest(); wanted != units.Bytes(100+i) || sequence != i+1 {
			t.Errorf("read %v, %d", wanted, sequence)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = progress.OpenWish(path); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if got := w.Put(200); got != 4 {
		t.Errorf("after a restart: sequence %d, want 4", got)
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) != 4096 || string(data[:8]) != "PACERWP1" {
		t.Fatalf("%d bytes, %q, %v", len(data), data[:8], err)
	}
	for word, want := range map[int]uint64{1: 1, 2: 4, 4: 102, 5: 200} {
		if got := binary.LittleEndian.Uint64(data[8*word:]); got != want {
			t.Errorf("word %d is %d, want %d", word, got, want)
		}
	}
}

func TestForeignWishPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wish")
	body := make([]byte, 4096)
	for content, want := range map[string]error{
		"short":                               progress.ErrTruncated,
		string(body):                          progress.ErrForeign,
		"PACERWP1\x02" + string(body[9:]):     progress.ErrVersion,
		"PACERPG1\x01" + string(body[9:4096]): progress.ErrForeign,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := progress.OpenWish(path); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", content[:5], err, want)
		}
	}
}
