package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

// FuzzValues: whatever a stored value or a record of the journal holds, it is refused, or
// what is read of it is read of what is written for that.
func FuzzValues(f *testing.F) {
	for _, plain := range []string{"", "a", string(make([]byte, 200))} {
		v, err := encodeValue([]byte(plain))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(v)
		f.Add(encodeBatch([]stored{{"planner/epoch", v}, {"app/1", ""}}))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if plain, err := decodeValue(text); err == nil {
			again, err := encodeValue(plain)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decodeValue(again); err != nil || string(got) != string(plain) {
				t.Errorf("%q reads as %q, %v", plain, got, err)
			}
		}
		if batch, err := decodeBatch(text); err == nil {
			got, err := decodeBatch(encodeBatch(batch))
			if d := cmp.Diff(batch, got, cmp.AllowUnexported(stored{})); err != nil || d != "" {
				t.Errorf("%v %s", err, d)
			}
		}
	})
}

// FuzzFile: whatever a file holds, it is refused as damaged or of another version, or is a
// store that keeps what is put into it.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "store")
	s, err := Open(path, Options{Sync: SyncNever})
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(s.Apply([]api.Pair{{Key: "a", Value: []byte("1")}, {Key: "b", Value: make([]byte, 300)}}), s.Apply([]api.Pair{{Key: "a"}}), s.Close()); err != nil {
		f.Fatal(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(body[:len(body)/2])
	f.Add([]byte{})
	f.Add([]byte("*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\nb\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		path := filepath.Join(t.TempDir(), "store")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{Sync: SyncNever})
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
				t.Errorf("refused as %v", err)
			}
			return
		}
		before, err := s.Load("")
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("refused as %v", err)
		}
		if loadable := err == nil; s.Apply([]api.Pair{{Key: "new", Value: []byte("value")}}) == nil && loadable {
			if got, err := s.Load("new"); err != nil || len(got) == 0 || string(got[0].Value) != "value" {
				t.Errorf("of %d values before: %+v, %v", len(before), got, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
