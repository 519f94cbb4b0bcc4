package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/store"
)

func TestValuesSurviveReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, set("a", "1", "b", strings.Repeat("long ", 1000)))
	apply(t, s, []api.Pair{{Key: "a"}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, open(t, path), ""); got != "b="+strings.Repeat("long ", 1000)+"\n" {
		t.Errorf("came back with %d bytes", len(got))
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Size() > 2000 {
		t.Errorf("mode %v, %d bytes: want a private file with compressed values", info.Mode(), info.Size())
	}
}

// A crash leaves a prefix of the file. Whatever its length, the store opens and
// holds the state after some whole number of Apply calls.
func TestEveryTruncationOpensWithWholeBatches(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s := open(t, path)
	allowed := map[string]bool{"": true}
	for _, batch := range [][]api.Pair{
		set("a", "1", "b", "1", "c", "1"),
		set("a", "2"),
		append(set("b", "3", "d", "3"), api.Pair{Key: "c"}),
	} {
		apply(t, s, batch)
		allowed[content(t, s, "")] = true
	}
	_ = s.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for n := range len(whole) + 1 {
		cut := filepath.Join(dir, "cut.db")
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, cut)
		got := content(t, s, "")
		if !allowed[got] {
			t.Fatalf("cut at %d of %d: half a batch is there: %q", n, len(whole), got)
		}
		seen[got] = true
		apply(t, s, set("after", "crash"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if again := content(t, open(t, cut), ""); again != content(t, open(t, cut), "") || !strings.Contains(again, "after=crash") {
			t.Fatalf("cut at %d: a change after recovery is lost", n)
		}
	}
	if len(seen) != len(allowed) {
		t.Errorf("truncations showed %d of %d states", len(seen), len(allowed))
	}
}

func TestADamagedFileIsRefusedAndKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s := open(t, path)
	apply(t, s, set("app/1", strings.Repeat("state ", 100)))
	apply(t, s, set("app/2", "x"))
	_ = s.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, []byte("d/app/1")) + 20
	for name, damage := range map[string]func([]byte) []byte{
		"flipped value":   func(b []byte) []byte { b[at] ^= 0x40; return b },
		"foreign text":    func([]byte) []byte { return []byte("this is no database\n") },
		"foreign word":    func([]byte) []byte { return []byte("text") },
		"broken command":  func(b []byte) []byte { b[0] = '!'; return b },
		"one-byte record": func([]byte) []byte { return []byte("*1\r\n$1\r\ns\r\n") },
	} {
		bad := damage(bytes.Clone(whole))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := store.Open(path, store.Options{Sync: store.SyncNever})
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(after, bad) {
			t.Errorf("%s: the damaged file was changed", name)
		}
	}
}

func TestAFileOfAnotherVersionIsRefused(t *testing.T) {
	for _, version := range []string{"1", "4", ""} {
		path := filepath.Join(t.TempDir(), "s.db")
		db, err := buntdb.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *buntdb.Tx) error {
			key := "meta/version"
			if version == "" {
				key = "somebody/else"
			}
			_, _, err := tx.Set(key, version, nil)
			return err
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(path, store.Options{Sync: store.SyncNever}); !errors.Is(err, store.ErrVersion) ||
			!strings.HasSuffix(err.Error(), path+" has "+version+", this release reads 3: "+api.OtherRelease) {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

func TestTheFileIsRewrittenWhenItIsMostlyDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	noise := make([]byte, 64<<10)
	state := uint64(1)
	for range 300 { // 19 MiB of changes to one living value
		for i := range noise {
			state = state*6364136223846793005 + 1442695040888963407
			noise[i] = byte(state >> 56)
		}
		apply(t, s, []api.Pair{{Key: "a", Value: noise}})
		store.Rewritten(s)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 5<<20 {
		t.Errorf("the file has %d bytes for 64 KiB of state", info.Size())
	}
	if pairs, err := s.Load(""); err != nil || len(pairs) != 1 || !bytes.Equal(pairs[0].Value, noise) {
		t.Errorf("%d pairs, %v after the rewrite", len(pairs), err)
	}
	_ = s.Close()
	if pairs, err := open(t, path).Load(""); err != nil || len(pairs) != 1 || !bytes.Equal(pairs[0].Value, noise) {
		t.Errorf("%d pairs, %v after reopening", len(pairs), err)
	}
}

// What is on the disk at any moment, a rewrite's moments included, is the state after
// some Apply that is no older than the last one that had returned.
func TestACrashBesideARewriteLosesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s := open(t, path)
	noise := make([]byte, 32<<10)
	random := rand.New(rand.NewPCG(1, 2))
	living := map[string]string{}
	rewrites, last := 0, inode(t, path)
	for k := range 1200 {
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		// Two keys of many change together and one may go: half a batch would show.
		batch := []api.Pair{{Key: fmt.Sprintf("v/%03d", k%40), Value: noise}, {Key: "v/last", Value: fmt.Append(nil, k)}}
		if gone := fmt.Sprintf("v/%03d", random.IntN(40)); gone != batch[0].Key {
			batch = append(batch, api.Pair{Key: gone})
			delete(living, gone)
		}
		apply(t, s, batch)
		living[batch[0].Key], living["v/last"] = string(noise), fmt.Sprint(k)
		now := inode(t, path)
		rewritten := now != last
		if rewritten {
			rewrites, last = rewrites+1, now
		}
		if !rewritten && k%50 != 0 {
			continue
		}
		image := filepath.Join(dir, "image.db")
		for copied := false; !copied; { // What has lost its name while it is read is no image.
			begun := inode(t, path)
			body, err := os.ReadFile(path)
			if err := errors.Join(err, os.WriteFile(image, body, 0o600)); err != nil {
				t.Fatal(err)
			}
			copied = inode(t, path) == begun
		}
		after := open(t, image)
		pairs, err := after.Load("")
		if err := errors.Join(err, after.Close()); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, p := range pairs {
			found[p.Key] = string(p.Value)
		}
		if !maps.Equal(found, living) {
			t.Fatalf("after %d batches and %d rewrites a crash leaves %d keys, want %d", k+1, rewrites, len(found), len(living))
		}
	}
	if rewrites == 0 {
		t.Error("the file was never rewritten")
	}
}

// inode tells one file from another that has taken its name.
func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

// A rewrite that cannot be made leaves the file as it is, and a Close gives one up.
func TestARewriteThatFailsChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	if err := os.MkdirAll(filepath.Join(path+".new", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	noise := make([]byte, 64<<10)
	random := rand.New(rand.NewPCG(3, 4))
	for k := range 200 {
		if k == 150 {
			if err := os.RemoveAll(path + ".new"); err != nil {
				t.Fatal(err)
			}
		}
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		apply(t, s, []api.Pair{{Key: fmt.Sprint("v/", k%3), Value: noise}})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a rewrite that was given up leaves its file: %v", err)
	}
	if pairs, err := open(t, path).Load(""); err != nil || len(pairs) != 3 || !bytes.Equal(pairs[1].Value, noise) {
		t.Errorf("%d pairs, %v", len(pairs), err)
	}
}

func TestOpenSaysWhatIsWrongWithThePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "such", "s.db")
	if _, err := store.Open(path, store.Options{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

func BenchmarkSyncedApply(b *testing.B) {
	s, err := store.Open(filepath.Join(b.TempDir(), "s.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	body := bytes.Repeat([]byte(`{"stage":1,"weight":0.5},`), 100)
	for b.Loop() {
		if err := s.Apply([]api.Pair{{Key: "app/1", Value: body}, {Key: "plan/n", Value: body}, {Key: "planner/epoch", Value: body[:8]}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApplyBesideARewrite tells the longest of 4,000 synced changes of a store with
// 40 MB in 10,000 values, in which its file is rewritten at least once.
func BenchmarkApplyBesideARewrite(b *testing.B) {
	body := make([]byte, 4<<10)
	random := rand.New(rand.NewPCG(5, 6))
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "s.db")
		s, err := store.Open(path, store.Options{Sync: store.SyncNever})
		if err != nil {
			b.Fatal(err)
		}
		for k := range 10_000 {
			if err := s.Apply([]api.Pair{{Key: fmt.Sprint("v/", k), Value: body}}); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if s, err = store.Open(path, store.Options{}); err != nil {
			b.Fatal(err)
		}
		var took []float64
		for k := range 4_000 {
			batch := make([]api.Pair, 10)
			for i := range batch {
				batch[i] = api.Pair{Key: fmt.Sprint("v/", (10*k+i)%10_000), Value: body}
			}
			start := time.Now()
			if err := s.Apply(batch); err != nil {
				b.Fatal(err)
			}
			took = append(took, float64(time.Since(start).Microseconds())/1000)
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2], "p50-ms")
		b.ReportMetric(took[len(took)*999/1000], "p99.9-ms")
		b.ReportMetric(took[len(took)-1], "max-ms")
		_ = s.Close()
	}
}
