package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/buntdb"
)

// A file of version 2 is read wherever a crash has cut it: its journal is finished, and a crash
// while it is brought to this version leaves it as it was.
func TestAFileOfEarlierIsRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	db, err := buntdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	value := func(plain string) string {
		v, err := encodeValue([]byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	batch := encodeBatch([]stored{{"d/a", value("2")}, {"d/b", value("2")}, {"d/c", ""}})
	for _, s := range []stored{{versionKey, earlier}, {"d/a", value("1")}, {"d/c", value("1")}, {sealKey, fmt.Sprintf("%016x %08x", 0, 0)},
		{journalKey, batch}, {"d/b", value("2")}} {
		err := db.Update(func(tx *buntdb.Tx) error {
			_, _, err := tx.Set(s.key, s.value, nil)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opened := func(image []byte) map[string]string {
		t.Helper()
		cut := filepath.Join(dir, "cut.db")
		if err := os.WriteFile(cut, image, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(cut, Options{Sync: SyncNever})
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", len(image), len(before), err)
		}
		pairs, err := s.Load("")
		if err := errors.Join(err, s.Close(), Verify(cut)); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, p := range pairs {
			found[p.Key] = string(p.Value)
		}
		return found
	}
	states := []map[string]string{{}, {"a": "1"}, {"a": "1", "c": "1"}, {"a": "2", "b": "2"}}
	at := 0
	for n := range len(before) + 1 {
		found := opened(before[:n])
		for at+1 < len(states) && !maps.Equal(found, states[at]) {
			at++
		}
		if !maps.Equal(found, states[at]) {
			t.Fatalf("cut at %d of %d: %v", n, len(before), found)
		}
	}
	if err := Verify(path); err != nil {
		t.Error(err)
	}
	s, err := Open(path, Options{Sync: SyncNever})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(before); n <= len(after); n++ {
		if found := opened(after[:n]); !maps.Equal(found, states[3]) {
			t.Errorf("brought to this version up to byte %d of %d: %v", n, len(after), found)
		}
	}
}
