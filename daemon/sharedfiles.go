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

// objectTime bounds how long they are written or read at once.
const objectTime = 5 * time.Minute

// shareFiles has the term's files shared, as soon as the servers of the bucket can: nothing else waits for that.
func (t *term) shareFiles(ctx context.Context) {
	for said := false; ctx.Err() == nil; said = true {
		limit, cancel := context.WithTimeout(ctx, objectTime)
		o, err := t.shared.OpenObjects(limit)
		if err == nil {
			err = t.uploads.share(limit, o, t.holds)
		}
		if cancel(); err == nil || !pause(ctx, askAgain) {
			return
		}
		if !said {
			t.planner.log.Warn("the files of drivers that planners share are not here yet", "error", err)
		}
	}
}

// known is an error while files of objects are to come.
func (u *uploads) known() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.unknown {
		return api.Errorf(api.KindTransient, "the files that planners share are not here yet: try again in a moment")
	}
	return nil
}

// share has the files in objects from now on, for the planner that takes over: what they have is brought here, and
// nothing else is. None is removed unless holds says that no other planner may have taken over.
func (u *uploads) share(ctx context.Context, o objects, holds func() bool) error {
	missing, err := o.Sizes(ctx)
	if err != nil {
		return err
	}
	for _, path := range u.files() {
		if _, there := missing[u.name(path)]; !there {
			_ = os.Remove(path) // It is none that is known.
		}
		delete(missing, u.name(path))
	}
	for name := range missing {
		if filepath.IsLocal(name) {
			err = errors.Join(err, u.bring(ctx, o, name))
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		u.objects, u.holds, u.unknown = o, holds, false
	}
	return err
}

// bring has a file here that o has.
func (u *uploads) bring(ctx context.Context, o objects, name string) error {
	path := filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	f, err := os.OpenFile(path+partEnds, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	if err = errors.Join(o.Get(ctx, name, f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
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

// withdraw removes a file from objects that was removed here, unless it has come again.
func (u *uploads) withdraw(path string) {
	u.objecting.Lock()
	defer u.objecting.Unlock()
	u.mu.Lock()
	_, err := os.Stat(path)
	there := err == nil || u.coming[path] != nil
	u.mu.Unlock()
	if !there && u.holds() {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		_ = u.objects.Delete(ctx, u.name(path)) // The next planner finds that nothing wants it.
	}
}
