package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// objects are files that planners have together, by name.
type objects interface {
	Sizes(ctx context.Context) (map[string]int64, error)
	Put(ctx context.Context, name string, from io.Reader) error
	Get(ctx context.Context, name string, to io.Writer) error
	Delete(ctx context.Context, name string) error
}

// objectTime bounds how long one of them is written or read.
const objectTime = 5 * time.Minute

// shareFiles has the term's files shared, as soon as the servers of the bucket can: nothing else waits for that.
func (t *term) shareFiles(ctx context.Context) {
	for said := false; ctx.Err() == nil; said = true {
		limit, cancel := context.WithTimeout(ctx, askTimeout)
		o, err := t.shared.OpenObjects(limit)
		if err == nil {
			err = t.uploads.share(limit, o, t.holds)
		}
		cancel()
		if err != nil && !said {
			t.planner.log.Warn("the files of drivers that planners share are not known yet", "error", err)
		}
		if err == nil || !pause(ctx, askAgain) {
			return
		}
	}
}

// known is an error while objects are to come.
func (u *uploads) known() error {
	if u.unknown {
		return api.Errorf(api.KindTransient, "the files that planners share are not known yet: try again in a moment")
	}
	return nil
}

// share has the files in objects from now on, for the planner that takes over: what they have is there, and nothing
// else is. A file comes to this planner when it is asked for. None is removed unless holds says that no other planner
// may have taken over.
func (u *uploads) share(ctx context.Context, o objects, holds func() bool) error {
	sizes, err := o.Sizes(ctx)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, path := range u.files() {
		name := u.name(path)
		if _, there := sizes[name]; !there {
			_ = os.Remove(path) // It is none that is known.
		}
		delete(sizes, name)
	}
	u.objects, u.holds, u.unknown = o, holds, false
	for name, size := range sizes {
		if filepath.IsLocal(name) {
			u.away[filepath.Join(u.dir, name)] = size
		}
	}
	return nil
}

// name is a file's in objects.
func (u *uploads) name(path string) string {
	name, _ := filepath.Rel(u.dir, path) // It is below.
	return name
}

// keep has a file that has come whole on the disk, and in objects where there are some.
func (u *uploads) keep(path string, part *upload) error {
	err := part.file.Sync()
	if u.objects != nil && err == nil {
		u.objecting.Lock()
		defer u.objecting.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), objectTime)
		defer cancel()
		err = u.objects.Put(ctx, u.name(path), io.NewSectionReader(part.file, 0, part.size))
	}
	if err = errors.Join(err, part.file.Close()); err == nil {
		err = os.Rename(part.file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.file.Name())
	}
	return err
}

// bring has a file here that objects have.
func (u *uploads) bring(path string) (err error) {
	u.mu.Lock()
	_, away := u.away[path]
	err = u.known()
	u.mu.Unlock()
	if !away || err != nil {
		return err
	}
	u.objecting.Lock()
	defer u.objecting.Unlock()
	if _, err := os.Stat(path); err == nil {
		return nil // Somebody else was faster.
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	f, err := os.OpenFile(path+partEnds, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), objectTime)
	defer cancel()
	if err = errors.Join(u.objects.Get(ctx, u.name(path), f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.away, path)
	return os.Rename(f.Name(), path)
}

// withdraw removes a file from objects that was removed here, unless it has come again.
func (u *uploads) withdraw(path string) {
	u.objecting.Lock()
	defer u.objecting.Unlock()
	u.mu.Lock()
	_, _, there := u.whole(path)
	there = there || u.coming[path] != nil
	u.mu.Unlock()
	if !there && u.holds() {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		_ = u.objects.Delete(ctx, u.name(path)) // The next planner finds that nothing wants it.
	}
}
