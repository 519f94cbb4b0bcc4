package progress_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
)

// FuzzPage: whatever an executor has on its page, it is read or refused, and read twice it
// says the same. Only the beginning of a page is drawn, the rest is zero.
func FuzzPage(f *testing.F) {
	sample, err := os.ReadFile(filepath.Join("..", "..", "spark", "src", "test", "resources", "samples", "page.bin"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.TrimRight(sample, "\x00"))
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "page")
	if err := os.WriteFile(path, make([]byte, progress.PageSize), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		whole := make([]byte, progress.PageSize)
		copy(whole, body)
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteAt(whole, 0)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := progress.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		var first, second meter.Page
		err1, err2 := r.Read(&first), r.Read(&second)
		if (err1 == nil) != (err2 == nil) || len(first.Stages) != len(second.Stages) || len(first.Tasks) != len(second.Tasks) {
			t.Errorf("%v and %v, %+v and %+v", err1, err2, first, second)
		}
	})
}
