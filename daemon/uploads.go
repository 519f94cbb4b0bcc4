package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// uploads are the files of drivers that nodes start, in a directory of each user's: a digest is no secret, and
// whoever knows another's gets nothing by it. A file stays as long as an application that has not ended is
// started with it, and unusedFor after it came.
type uploads struct {
	dir  string
	most units.Bytes
	now  func() time.Time
	// objects have the files for other planners, nil of one alone; objecting is held while one of theirs is written or
	// removed, and never by what holds mu. holds says that no other planner has taken over.
	objects   objects
	objecting sync.Mutex
	holds     func() bool

	mu sync.Mutex
	// unknown says that files of objects are to come.
	unknown bool
	// coming are files that are not all there, by path.
	coming map[string]*upload
	// wanted are those that applications are started with, by application.
	wanted map[api.AppID][]string
}

// upload is a file that is coming: so much of it is there, of which the digest is sum's.
type upload struct {
	file   *os.File
	sum    hash.Hash
	offset int64
	size   int64
	touch  time.Time
	// settles says that all of it has come, and is being kept.
	settles bool
}

// unusedFor is how long a file is kept that no application is started with, and how long the next piece of one
// may take.
const unusedFor = 10 * time.Minute

// mostComing is how many files come at once, of all users.
const mostComing = 64

// block is what a file takes of a disk at least.
const block = 4 << 10

// partEnds ends the name of a file that is coming.
const partEnds = ".part"

// openUploads makes the directory and takes over what is there; what was coming comes anew.
func openUploads(dir string, most units.Bytes, living map[api.AppID]planner.DriverAnswer) (*uploads, error) {
	u := &uploads{dir: dir, most: most, now: time.Now, coming: map[string]*upload{}, wanted: map[api.AppID][]string{}}
	for app, of := range living {
		u.want(app, of.User, of.Component.Files)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("uploads: %w", err)
	}
	parts, _ := filepath.Glob(filepath.Join(dir, "*", "*"+partEnds)) // Its pattern is well formed.
	for _, part := range parts {
		_ = os.Remove(part)
	}
	return u, nil
}

// close gives the open files back.
func (u *uploads) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for path := range u.coming {
		u.drop(path)
	}
	return nil
}

// path is where a user has a file.
func (u *uploads) path(user, digest string) string {
	return filepath.Join(u.dir, api.Token(user), digest)
}

// want has files stay with its application.
func (u *uploads) want(app api.AppID, user string, files []api.ComponentFile) {
	for _, f := range files {
		u.wanted[app] = append(u.wanted[app], u.path(user, f.SHA256))
	}
}

// observe has files stay with applications, and go with them.
func (u *uploads) observe(users func(api.AppID) string, inner func(ledger.Change)) func(ledger.Change) {
	return func(c ledger.Change) {
		if app, files := planner.Submitted(c.Fact); len(files) > 0 {
			u.mu.Lock()
			u.want(app, users(app), files)
			u.mu.Unlock()
		}
		if f, over := c.Fact.(ledger.Archived); over {
			u.mu.Lock()
			gone := u.wanted[f.App]
			if delete(u.wanted, f.App); len(gone) > 0 {
				go u.sweep(u.now(), 0, gone...)
			}
			u.mu.Unlock()
		}
		inner(c)
	}
}

// tidy removes what no application is started with, though nobody uploads any more, until ctx ends.
func (u *uploads) tidy(ctx context.Context) {
	for pause(ctx, unusedFor) {
		u.sweep(u.now(), unusedFor, u.files()...)
	}
}

// sweep removes those of files that no application is started with and that are older than age.
func (u *uploads) sweep(now time.Time, age time.Duration, files ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clear(now, age, files...)
}

// clear is sweep where u is locked.
func (u *uploads) clear(now time.Time, age time.Duration, files ...string) {
	kept := map[string]bool{}
	for _, paths := range u.wanted {
		for _, path := range paths {
			kept[path] = true
		}
	}
	for _, path := range files {
		st, err := os.Stat(path)
		if err != nil || kept[path] || u.coming[path] != nil || now.Sub(st.ModTime()) < age {
			continue
		}
		_ = os.Remove(path) // It is tried again.
		if u.objects != nil {
			go u.withdraw(path)
		}
	}
	for path, part := range u.coming {
		if now.Sub(part.touch) >= unusedFor && !part.settles {
			u.drop(path)
		}
	}
}

// drop forgets a file that is coming.
func (u *uploads) drop(path string) {
	part := u.coming[path]
	delete(u.coming, path)
	_ = errors.Join(part.file.Close(), os.Remove(part.file.Name())) // A later start removes it.
}

// files are all that are whole.
func (u *uploads) files() []string {
	found, _ := filepath.Glob(filepath.Join(u.dir, "*", "*")) // Its pattern is well formed.
	return slices.DeleteFunc(found, func(path string) bool { return filepath.Ext(path) == partEnds })
}

// load is what files take: how many bytes they have, or are to have, and how many of them come.
type load struct {
	bytes  units.Bytes
	coming int
}

// held is what the files in a user's directory take, and those of all users.
func (u *uploads) held(dir string) (own, all load) {
	count := func(path string, size int64, coming int) {
		size = max(size, block)
		for _, l := range []*load{&own, &all} {
			if l == &all || filepath.Dir(path) == dir {
				l.bytes, l.coming = l.bytes+units.Bytes(size), l.coming+coming
			}
		}
	}
	for _, path := range u.files() {
		if st, err := os.Stat(path); err == nil {
			count(path, st.Size(), 0)
		}
	}
	for path, part := range u.coming {
		count(path, part.size, 1)
	}
	return own, all
}

// take takes a piece of a user's file in, and says how much of it is there. A piece that is not the next one changes
// nothing.
func (u *uploads) take(user string, p *api.FilePiece) (api.FilePiece, error) {
	if p == nil || !api.ValidDigest(p.SHA256) || p.Size < 0 || len(p.Data) > api.MostFilePiece {
		return api.FilePiece{}, api.Errorf(api.KindInvalid, "no piece of a file is sent")
	}
	if err := u.known(); err != nil {
		return api.FilePiece{}, err
	}
	now := u.now()
	u.mu.Lock()
	defer u.mu.Unlock()
	path := u.path(user, p.SHA256)
	if part := u.coming[path]; part == nil || now.Sub(part.touch) >= unusedFor {
		u.clear(now, unusedFor, u.files()...) // Not for each of a file's pieces.
	}
	told := api.FilePiece{SHA256: p.SHA256, Size: p.Size}
	if st, err := os.Stat(path); err == nil {
		told.Offset, told.Size = st.Size(), st.Size()
		return told, os.Chtimes(path, now, now)
	}
	part := u.coming[path]
	if part != nil && part.settles {
		return told, api.Errorf(api.KindTransient, "file %s is being kept: try again in a moment", p.SHA256)
	}
	if part == nil {
		var err error
		if part, err = u.begin(user, path, p.Size); err != nil {
			return told, err
		}
	}
	part.touch = now
	if part.size != p.Size {
		u.drop(path)
		return told, api.Errorf(api.KindInvalid, "file %s has %d bytes, and had %d: it has changed", p.SHA256, p.Size,
			part.size)
	}
	if p.Offset == part.offset && (len(p.Data) > 0 || p.Size == 0) {
		if err := u.add(path, part, p); err != nil {
			return told, err
		}
	}
	told.Offset = part.offset
	return told, nil
}

// begin makes room for a file that comes. A user's files take no more of what there is than they leave: however
// many a user begins, sent or not, others have room.
func (u *uploads) begin(user, path string, size int64) (*upload, error) {
	own, all := u.held(filepath.Dir(path))
	switch more := units.Bytes(max(size, block)); {
	case 2*more > u.most:
		return nil, api.Errorf(api.KindInvalid, "a file of %s of user %q is more than half of planner.upload-bytes (%s)",
			more.Words(), user, u.most.Words())
	case own.bytes+all.bytes+2*more > u.most:
		return nil, api.Errorf(api.KindTransient, "uploads have %s of planner.upload-bytes (%s), those of user %q %s, and "+
			"with a file of %s that is more than they leave: try again when applications have ended", all.bytes.Words(),
			u.most.Words(), user, own.bytes.Words(), more.Words())
	case own.coming+all.coming+2 > mostComing:
		return nil, api.Errorf(api.KindTransient, "%d files of user %q come already, %d of all users: try again in a moment",
			own.coming, user, all.coming)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	file, err := os.OpenFile(path+partEnds, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	part := &upload{file: file, sum: sha256.New(), size: size}
	u.coming[path] = part
	return part, nil
}

// add writes the next piece of a file; with the last one it is checked, and there.
func (u *uploads) add(path string, part *upload, p *api.FilePiece) error {
	if part.offset+int64(len(p.Data)) > part.size {
		u.drop(path)
		return api.Errorf(api.KindInvalid, "file %s has more than the %d bytes that were said", p.SHA256, part.size)
	}
	if _, err := part.file.Write(p.Data); err != nil {
		u.drop(path)
		return fmt.Errorf("upload: %w", err)
	}
	_, _ = part.sum.Write(p.Data) // A hash takes all.
	if part.offset += int64(len(p.Data)); part.offset < part.size {
		return nil
	}
	if sum := hex.EncodeToString(part.sum.Sum(nil)); sum != p.SHA256 {
		u.drop(path)
		return api.Errorf(api.KindInvalid, "the digest of what came is %s, and %s was said", sum, p.SHA256)
	}
	part.settles = true
	u.mu.Unlock() // It may take long, and the planner's loop asks for it.
	err := u.keep(path, part)
	u.mu.Lock()
	delete(u.coming, path)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}

// lacks says which files are not there.
func (u *uploads) lacks(user string, files []api.ComponentFile) error {
	if err := u.known(); err != nil {
		return err
	}
	for _, f := range files {
		if st, err := os.Stat(u.path(user, f.SHA256)); err != nil || st.Size() != f.Size {
			return api.Errorf(api.KindNotFound, "file %s (%s) was not uploaded, or has another size", f.Name, f.SHA256)
		}
	}
	return nil
}

// read is a piece of a user's file.
func (u *uploads) read(user string, p api.FilePiece) (api.FilePiece, error) {
	if err := u.known(); err != nil {
		return p, err
	}
	f, err := os.Open(u.path(user, p.SHA256))
	if err != nil {
		return p, api.Errorf(api.KindNotFound, "file %s is not here", p.SHA256)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return p, fmt.Errorf("upload: %w", err)
	}
	p.Size, p.Data = st.Size(), make([]byte, api.MostFilePiece)
	n, err := f.ReadAt(p.Data, p.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return p, fmt.Errorf("upload: %w", err)
	}
	p.Data = p.Data[:n]
	return p, nil
}
