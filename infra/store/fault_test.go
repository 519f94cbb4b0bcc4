package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/store"
)

// told opens a store whose lines are kept.
func told(t *testing.T, path string, o store.Options) (*store.File, *[]string) {
	t.Helper()
	var lines []string
	o.Tell = func(line string) { lines = append(lines, line) }
	s, err := store.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, &lines
}

// failSync has the store's syncs fail with what the pointer holds.
func failSync(s *store.File) *atomic.Pointer[error] {
	var fault atomic.Pointer[error]
	store.Syncing(s, func(f *os.File) error {
		if err := fault.Load(); err != nil {
			return *err
		}
		return f.Sync()
	})
	return &fault
}

// A sync that fails leaves unknown what is on the disk, and one that works afterwards says
// nothing of it: the store refuses until all it knows is in a file that was synced.
func TestASyncThatFailsIsNoPromise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, lines := told(t, path, store.Options{})
	apply(t, s, set("a", "1"))
	fault := failSync(s)
	eio := error(syscall.EIO)
	fault.Store(&eio)
	for range 3 {
		if err := s.Apply(set("b", "2")); !errors.Is(err, syscall.EIO) {
			t.Fatalf("applied: %v", err)
		}
		store.Retry(s)
	}
	before := inode(t, path)
	fault.Store(nil)
	apply(t, s, set("c", "3"))
	if inode(t, path) == before {
		t.Error("the file whose sync had failed is the store still")
	}
	if len(*lines) != 1 || !strings.Contains((*lines)[0], "made anew") {
		t.Errorf("told %q", *lines)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, open(t, path), ""); got != "a=1\nb=2\nc=3\n" {
		t.Errorf("on the disk is %q", got)
	}
}

// BuntDB panics with its lock held when it cannot take back a write: the file is read again.
func TestAStoreOutlivesItsDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, _ := told(t, path, store.Options{})
	apply(t, s, set("a", "1", "b", "1"))
	if err := store.Dies(s, syscall.EIO); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(""); !errors.Is(err, syscall.EIO) {
		t.Errorf("load: %v", err)
	}
	apply(t, s, set("b", "2"))
	if got := content(t, s, ""); got != "a=1\nb=2\n" {
		t.Errorf("it holds %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, open(t, path), ""); got != "a=1\nb=2\n" {
		t.Errorf("on the disk is %q", got)
	}
}

// A directory that is not synced after a rewrite leaves two files that may be found.
func TestARewriteWhoseNameIsNotOnTheDiskIsMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, _ := told(t, path, store.Options{})
	store.Syncing(s, func(f *os.File) error {
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return errors.Join(err, syscall.EIO)
		}
		return f.Sync()
	})
	noise := make([]byte, 64<<10)
	random := rand.New(rand.NewPCG(7, 8))
	var failed error
	for k := 0; failed == nil && k < 300; k++ {
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		failed = s.Apply([]api.Pair{{Key: fmt.Sprint("v/", k%3), Value: noise}, {Key: "k", Value: fmt.Append(nil, k)}})
		store.Rewritten(s)
	}
	if !errors.Is(failed, syscall.EIO) {
		t.Fatalf("300 changes and no rewrite failed: %v", failed)
	}
	store.Syncing(s, (*os.File).Sync)
	store.Retry(s)
	apply(t, s, set("after", "1"))
	want := content(t, s, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, open(t, path), ""); got != want || !strings.Contains(got, "after=1") {
		t.Errorf("%d bytes are on the disk, want %d", len(got), len(want))
	}
}

// What was synced is behind what comes later. However it is damaged, the file is refused and
// kept: a reader of BuntDB's cuts it where one digit of a length is wrong.
func TestDamageInTheMiddleIsFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s := open(t, path)
	var ends []int
	for k := range 6 {
		apply(t, s, set(fmt.Sprint("app/", k), strings.Repeat("x", 40), "count", fmt.Sprint(k)))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(info.Size()))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	length := bytes.Index(sound[ends[1]:], []byte("$")) + 1 + ends[1]
	third := func() []byte { return bytes.Clone(sound[ends[1]:ends[2]]) }
	rest := bytes.Clone(sound[ends[2]:])
	around := func(middle []byte) []byte { return append(append(bytes.Clone(sound[:ends[1]]), middle...), rest...) }
	for name, bad := range map[string][]byte{
		"a longer length":      append(append(bytes.Clone(sound[:length]), "99999"...), sound[length+1:]...),
		"a length of the file": append(append(bytes.Clone(sound[:length]), '9', '9'), sound[length:]...),
		"a change is missing":  around(nil),
		"half of it":           around(third()[:len(third())/2]),
		"a hole":               around(make([]byte, len(third()))),
		"a change twice":       around(append(third(), third()...)),
		"another key":          around(bytes.Replace(third(), []byte("app/2"), []byte("app/9"), 1)),
	} {
		image := filepath.Join(dir, "image.db")
		if err := os.WriteFile(image, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(image, store.Options{})
		if err == nil {
			t.Errorf("%s: it is opened with %q", name, content(t, s, "app/"))
			_ = s.Close()
			continue
		}
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "byte ") {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(image); err != nil || !bytes.Equal(after, bad) {
			t.Errorf("%s: the file was changed, %v", name, err)
		}
	}
}

// A change that was not finished is cut off, holes in it included, and that is said.
func TestWhatIsCutOffIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	apply(t, s, set("a", "1", "b", "1"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tail := range map[string]string{"half a record": "*3\r\n$3\r\nset\r\n$5\r\nd/", "zeros": strings.Repeat("\x00", 512), "a hole": "*3\r\n$3\r\nset\r\n\x00\x00\x00\x00\x00\x00"} {
		if err := os.WriteFile(path, append(bytes.Clone(sound), tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := store.Verify(path); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: verified: %v", name, err)
		}
		s, lines := told(t, path, store.Options{})
		if got := content(t, s, ""); got != "a=1\nb=1\n" {
			t.Errorf("%s: it holds %q", name, got)
		}
		if want := fmt.Sprintf("its %d bytes were cut off", len(tail)); len(*lines) != 1 || !strings.Contains((*lines)[0], want) {
			t.Errorf("%s: told %q, want %q", name, *lines, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// full mounts a disk of size bytes.
func full(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("pacer-store", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes what is left of a disk.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// On a disk that somebody else has filled the store goes on in its reserve. Without one it
// fails, and a batch that failed does not come back over what was stored since.
func TestAFullDisk(t *testing.T) {
	for name, reserve := range map[string]int64{"with a reserve": 1 << 20, "without": 0} {
		t.Run(name, func(t *testing.T) {
			dir := full(t, 4<<20)
			path := filepath.Join(dir, "s.db")
			s, lines := told(t, path, store.Options{Reserve: reserve})
			apply(t, s, set("a", "1", "b", "1"))
			filler := filepath.Join(dir, "filler")
			fill(t, filler)
			// b is that of the last change, or of one after it that failed: all of it or nothing.
			b := []string{"1"}
			failed := 0
			// The first ones have room in the file's last block.
			for k := range 200 {
				value := strings.Repeat("b", k%100) + fmt.Sprint(k)
				switch err := s.Apply(set("a", fmt.Sprint(k), "b", value)); {
				case errors.Is(err, syscall.ENOSPC):
					failed++
					b = append(b, value)
				case err != nil:
					t.Fatal(err)
				default:
					b = []string{value}
				}
			}
			if (failed > 0) == (reserve > 0) {
				t.Errorf("%d of 200 changes failed", failed)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			apply(t, s, set("a", "last"))
			if said := strings.Join(*lines, "\n"); reserve > 0 && strings.Count(said, "is full") != 1 {
				t.Errorf("told %q", said)
			}
			// As after a crash: what is in the file, and not what Close would add.
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			image := filepath.Join(t.TempDir(), "image.db")
			if err := os.WriteFile(image, body, 0o600); err != nil {
				t.Fatal(err)
			}
			found := map[string]string{}
			pairs, err := open(t, image).Load("")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pairs {
				found[p.Key] = string(p.Value)
			}
			if len(found) != 2 || found["a"] != "last" || !slices.Contains(b, found["b"]) {
				t.Errorf("the file holds %q, want the last a and one of %q", found, b)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A copy is a store that holds what was applied up to one moment, whatever is applied while
// it is made.
func TestACopyIsOfOneMoment(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "s.db"))
	for k := range 2000 {
		apply(t, s, set(fmt.Sprint("v/", k), "0"))
	}
	var stop atomic.Bool
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 1; !stop.Load(); n++ {
			if err := s.Apply(set("v/0", fmt.Sprint(n), "v/999", fmt.Sprint(n), "v/1999", fmt.Sprint(n), "w", fmt.Sprint(n))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for k := range 8 {
		path := filepath.Join(dir, fmt.Sprint("copy-", k))
		if err := s.Copy(path); err != nil {
			t.Fatal(err)
		}
		if err := s.Copy(path); !errors.Is(err, os.ErrExist) {
			t.Errorf("over one that is there: %v", err)
		}
		if err := store.Verify(path); err != nil {
			t.Error(err)
		}
		c := open(t, path)
		pairs, err := c.Load("")
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, p := range pairs {
			found[p.Key] = string(p.Value)
		}
		if len(found) < 2000 || found["v/0"] != found["v/999"] || found["v/0"] != found["v/1999"] || found["w"] != "" && found["w"] != found["v/0"] {
			t.Errorf("%d keys with %s, %s, %s, %s", len(found), found["v/0"], found["v/999"], found["v/1999"], found["w"])
		}
	}
	stop.Store(true)
	writing.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(filepath.Join(dir, "late")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("of a closed store: %v", err)
	}
}
