package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func newUploads(t testing.TB, dir string, most units.Bytes) *uploads {
	u, err := openUploads(dir, most, nil)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// However pieces come, more than once, out of order or cut: a file is there when it is whole, with its own content, and
// its user's alone.
func TestUploadsArriveWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "uploads")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		u := newUploads(t, dir, units.GiB)
		defer u.close()
		body := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(r, "body")
		sum, size := digestOf(body), int64(len(body))
		for range 200 {
			told, err := u.take("ann", &api.FilePiece{SHA256: sum, Size: size})
			if err != nil {
				r.Fatal(err)
			}
			if told.Offset == size {
				break
			}
			at := told.Offset
			if rapid.IntRange(0, 3).Draw(r, "astray") == 0 {
				at = rapid.Int64Range(0, size).Draw(r, "at")
			}
			n := rapid.Int64Range(0, size-at).Draw(r, "bytes")
			if _, err := u.take("ann", &api.FilePiece{SHA256: sum, Size: size, Offset: at, Data: body[at : at+n]}); err != nil {
				r.Fatal(err)
			}
		}
		c := &api.Component{Files: []api.ComponentFile{{Name: "f", SHA256: sum, Size: size}}}
		got, err := u.read("ann", api.FilePiece{SHA256: sum})
		if told, _ := u.take("ann", &api.FilePiece{SHA256: sum, Size: size}); told.Offset < size {
			return // Not all of it has come: nothing may be read.
		}
		if err != nil || !bytes.Equal(got.Data, body) || u.lacks("ann", c.Files) != nil {
			r.Fatalf("it reads as %x, %v, and was %x", got.Data, err, body)
		}
		if _, err := u.read("bob", api.FilePiece{SHA256: sum}); api.KindOf(err) != api.KindNotFound || u.lacks("bob", c.Files) == nil {
			r.Fatalf("another user reads it: %v", err)
		}
	})
}

// A file that is too large, differs from its digest or grows is refused in one line, and leaves nothing.
func TestUploadsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	u := newUploads(t, dir, 8*block)
	defer u.close()
	body := []byte("content")
	for want, p := range map[string]api.FilePiece{
		`user "ann" is more than half of planner.upload-bytes (32 KiB)`: {SHA256: digestOf(body), Size: 4*block + 1},
		"the digest of what came is":                                    {SHA256: digestOf([]byte("else")), Size: 7, Data: body},
		"has more than the 3 bytes":                                     {SHA256: digestOf(body), Size: 3, Data: body},
		"no piece of a file":                                            {SHA256: "../../x", Size: 7, Data: body},
	} {
		if _, err := u.take("ann", &p); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	if left := u.files(); len(left) != 0 || len(u.coming) != 0 {
		t.Errorf("left are %v", left)
	}
}

// However much a user begins and does not send, or sends and does not use, files of another user come.
func TestAUserLeavesRoomForUploadsOfOthers(t *testing.T) {
	for what, size := range map[string]int64{"bytes": 8 * block, "files": 1} {
		for _, sent := range []bool{false, true} {
			u := newUploads(t, t.TempDir(), 128*block)
			defer u.close()
			begun := 0
			for ; begun < 1000; begun++ {
				body := bytes.Repeat([]byte{byte(begun), byte(begun >> 8)}, int(size+1)/2)[:size]
				p := &api.FilePiece{SHA256: digestOf(append(body, byte(begun>>8), byte(begun))), Size: size}
				if sent {
					p.SHA256, p.Data = digestOf(body), body
				}
				if _, err := u.take("ann", p); err != nil {
					if text := err.Error(); api.KindOf(err) != api.KindTransient || !strings.Contains(text, `user "ann"`) || strings.Contains(text, "\n") {
						t.Errorf("%s, sent %v: ann is refused: %v", what, sent, err)
					}
					break
				}
			}
			if begun == 0 || begun == 1000 {
				t.Errorf("%s, sent %v: ann begins %d files", what, sent, begun)
			}
			body := bytes.Repeat([]byte("b"), int(size))
			p := &api.FilePiece{SHA256: digestOf(body), Size: size, Data: body}
			if told, err := u.take("bob", p); err != nil || told.Offset != size {
				t.Errorf("%s, sent %v: beside %d files of ann, bob has %d bytes there: %v", what, sent, begun, told.Offset, err)
			}
		}
	}
}

// A file stays with the application that is started with it, over a restart, and goes with it.
func TestUploadsGoWithTheirApplications(t *testing.T) {
	dir := t.TempDir()
	u := newUploads(t, dir, units.GiB)
	body := []byte("content")
	sum := digestOf(body)
	if _, err := u.take("ann", &api.FilePiece{SHA256: sum, Size: 7, Data: body}); err != nil {
		t.Fatal(err)
	}
	c := &api.Component{Files: []api.ComponentFile{{Name: "f", SHA256: sum, Size: 7}}}
	u, err := openUploads(dir, units.GiB, map[api.AppID]planner.DriverAnswer{"app-1": {User: "ann", Component: c}})
	if err != nil {
		t.Fatal(err)
	}
	u.sweep(time.Now().Add(time.Hour), unusedFor, u.files()...)
	if err := u.lacks("ann", c.Files); err != nil {
		t.Errorf("while its application runs: %v", err)
	}
	gone := make(chan struct{})
	u.observe(func(api.AppID) string { return "ann" }, func(ledger.Change) { close(gone) })(ledger.Change{Fact: ledger.Archived{App: "app-1"}})
	<-gone
	u.sweep(time.Now().Add(time.Hour), unusedFor, u.files()...)
	if left := u.files(); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

// A file that goes up for nothing is gone after a while, though nobody uploads any more.
func TestUploadsForNothingGo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		u := newUploads(t, dir, units.GiB)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		body := []byte("content")
		whole, part := api.FilePiece{SHA256: digestOf(body), Size: 7, Data: body}, api.FilePiece{SHA256: digestOf(nil), Size: 9, Data: body}
		for _, p := range []api.FilePiece{whole, part} {
			if _, err := u.take("ann", &p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := u.take("ann", &whole); err != nil { // It has the bubble's time now.
			t.Fatal(err)
		}
		go u.tidy(ctx)
		time.Sleep(2*unusedFor + time.Second)
		synctest.Wait()
		if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) != 0 || len(u.coming) != 0 {
			t.Errorf("left are %v", left)
		}
	})
}

// together are objects in memory.
type together struct {
	mu    sync.Mutex
	files map[string][]byte
	gone  chan string
}

func (o *together) Sizes(context.Context) (map[string]int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sizes := map[string]int64{}
	for name, body := range o.files {
		sizes[name] = int64(len(body))
	}
	return sizes, nil
}

func (o *together) Put(_ context.Context, name string, from io.Reader) error {
	body, err := io.ReadAll(from)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[name] = body
	return err
}

func (o *together) Get(_ context.Context, name string, to io.Writer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := to.Write(o.files[name])
	return err
}

func (o *together) Delete(_ context.Context, name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.files, name)
	o.gone <- name
	return nil
}

// A planner that takes over has the files that were uploaded to the one before, and no others; they count, are read, and go
// with the application that is started with them. Until it knows them it says that it does not.
func TestPlannersShareUploads(t *testing.T) {
	o := &together{files: map[string][]byte{}, gone: make(chan string, 9)}
	share := func(u *uploads) *uploads {
		if err := u.share(t.Context(), o, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		return u
	}
	dirs := []string{t.TempDir(), t.TempDir()}
	body, more := bytes.Repeat([]byte("content "), block), []byte("more")
	c := &api.Component{Files: []api.ComponentFile{{Name: "f", SHA256: digestOf(body), Size: int64(len(body))}}}
	first := share(newUploads(t, dirs[0], 32*block))
	for _, b := range [][]byte{body, more} {
		if _, err := first.take("ann", &api.FilePiece{SHA256: digestOf(b), Size: int64(len(b)), Data: b}); err != nil {
			t.Fatal(err)
		}
	}
	second := newUploads(t, dirs[1], 32*block)
	second.unknown = true
	if err := second.lacks("ann", c.Files); api.KindOf(err) != api.KindTransient {
		t.Errorf("before it knows the files: %v", err)
	}
	share(second)
	second.want("app-1", "ann", c.Files)
	if own, all := second.held(filepath.Dir(second.path("ann", digestOf(body)))); own != all || all.bytes != 9*block {
		t.Errorf("the second planner counts %v of ann, %v of all", own, all)
	}
	got, err := second.read("ann", api.FilePiece{SHA256: digestOf(body)})
	if err != nil || !bytes.Equal(got.Data, body) || second.lacks("ann", c.Files) != nil || second.lacks("bob", c.Files) == nil {
		t.Errorf("the second planner reads %d bytes, %v", len(got.Data), err)
	}
	second.sweep(time.Now().Add(time.Hour), unusedFor, second.files()...)
	<-o.gone
	if len(o.files) != 1 || len(second.files()) != 1 {
		t.Errorf("while the application runs there are %d files, here %v", len(o.files), second.files())
	}
	second.observe(func(api.AppID) string { return "ann" }, func(ledger.Change) {})(ledger.Change{Fact: ledger.Archived{App: "app-1"}})
	<-o.gone
	if len(o.files) != 0 || len(second.files()) != 0 {
		t.Errorf("after its end there are %d files, here %v", len(o.files), second.files())
	}
	share(first)
	if left := first.files(); len(left) != 0 {
		t.Errorf("the first planner, which takes over again, has %v", left)
	}
}
