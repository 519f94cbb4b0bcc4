package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/planner"
)

// backups hands out copies of a planner's store, piece by piece. There is one at a time, a
// file without a name, so that nothing is left of it whoever dies. It is safe for concurrent use.
type backups struct {
	store plannerDB
	dir   string

	mu   sync.Mutex
	file *os.File // Nil before the first.
	id   string
	size int64
}

// serve answers a request: it makes a backup, or reads a piece of the one there is.
func (b *backups) serve(r api.ControlRequest) api.ControlReply {
	b.mu.Lock()
	defer b.mu.Unlock()
	piece, err := b.answer(r)
	return api.ControlReply{V: api.Version, Backup: piece, Error: api.ToWire(err)}
}

func (b *backups) answer(r api.ControlRequest) (*api.BackupPiece, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if r.Backup == nil {
		return b.make()
	}
	if b.file == nil || r.Backup.ID != b.id {
		return nil,
			api.Errorf(api.KindNotFound, "that backup is not there any more: another one was made, or the planner was restarted")
	}
	data := make([]byte, api.MostBackupPiece)
	n, err := b.file.ReadAt(data, r.Backup.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return &api.BackupPiece{ID: b.id, Offset: r.Backup.Offset, Size: b.size, Data: data[:n]}, nil
}

// make replaces the backup that there is.
func (b *backups) make() (*api.BackupPiece, error) {
	if err := b.drop(); err != nil {
		return nil, err
	}
	path := filepath.Join(b.dir, "backup-"+rand.Text())
	if err := b.store.Copy(path); err != nil {
		return nil, err
	}
	if err := keepFiles(b.dir, path); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	file, err := os.Open(path)
	if err := errors.Join(err, os.Remove(path)); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	b.file, b.id, b.size = file, rand.Text(), info.Size()
	return &api.BackupPiece{ID: b.id, Size: b.size}, nil
}

func (b *backups) drop() error {
	if b.file == nil {
		return nil
	}
	err := b.file.Close()
	b.file = nil
	return err
}

func (b *backups) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.drop()
}

// asker is a connection to a planner.
type asker interface {
	Control(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error)
}

// Backup writes a copy of a running planner's store into a new file at path, mode 0600, while
// the planner goes on. It holds what the planner had stored at one moment.
func Backup(ctx context.Context, c asker, path string) error {
	return intoNew(path, func(out *os.File) error {
		reply, err := c.Control(ctx, api.VerbBackup, api.ControlRequest{})
		if err != nil {
			return err
		}
		for b := reply.Backup; b != nil && b.Offset+int64(len(b.Data)) < b.Size; b = reply.Backup {
			next := &api.BackupPiece{ID: b.ID, Offset: b.Offset + int64(len(b.Data))}
			if reply, err = c.Control(ctx, api.VerbBackup, api.ControlRequest{Backup: next}); err != nil {
				return err
			}
			if reply.Backup == nil || len(reply.Backup.Data) == 0 {
				return errors.New("the planner's answer has no backup")
			}
			if _, err := out.Write(reply.Backup.Data); err != nil {
				return err
			}
		}
		return nil
	})
}

// BackupStopped is Backup of the store in a planner's state directory; api.KindConflict while a
// planner runs on it.
func BackupStopped(dir, path string) error {
	lock, err := lockState(dir, "planner")
	if err != nil {
		return err
	}
	defer lock.Close()
	if shared := sharedBy(dir); shared != "" {
		return fmt.Errorf("backup: the planner's state is in bucket %s: start a planner, which makes the backup", shared)
	}
	name := storePath(dir, "planner")
	if _, err := os.Stat(name); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	db, err := store.Open(name, store.Options{}) // A planner that died may have left half a change.
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := errors.Join(db.Copy(path), db.Close()); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := keepFiles(dir, path); err != nil {
		return errors.Join(fmt.Errorf("backup: %w", err), os.Remove(path))
	}
	return nil
}

// intoNew makes a private file at path, has it written, and keeps it if it is a whole store.
func intoNew(path string, write func(*os.File) error) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	err = errors.Join(write(out), out.Sync(), out.Close())
	if err == nil {
		err = store.Verify(path)
	}
	if err == nil {
		return nil
	}
	if kept := os.Remove(path); kept != nil {
		err = errors.Join(err, kept)
	}
	return fmt.Errorf("backup: %w", err)
}

func copyFile(out *os.File, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(out, in)
	return err
}

// Restored says what Restore has found in a state directory: Kept is where the store is now that was there, "" for
// none. Left are the files of credentials and TLS that were there, and are not those of the backup.
type Restored struct {
	Kept string
	Left []string
}

// Restore puts the backup at path in the place of the store in a planner's state directory, and its
// files of credentials and TLS there where these are missing. Its error is api.KindConflict while a
// planner runs on that directory. Nodes follow the planner that starts on it, and keep what runs.
func Restore(dir, path string, now time.Time) (r Restored, err error) {
	if err := store.Verify(path); err != nil {
		err = errors.Join(err, api.Errorf(api.KindInvalid, "give a file that pacer backup has made"))
		return r, fmt.Errorf("restore: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	lock, err := lockState(dir, "planner")
	if err != nil {
		return r, err
	}
	defer lock.Close()
	db := storePath(dir, "planner")
	next := db + ".restored"
	files, err := renew(next, path)
	if err != nil {
		return r, errors.Join(fmt.Errorf("restore: %w", err), executor.RemoveFile(next), executor.RemoveFile(next+".reserve"))
	}
	if _, err := os.Lstat(db); err == nil {
		r.Kept = db + "." + now.UTC().Format("20060102T150405Z")
		if err := os.Link(db, r.Kept); err != nil {
			return r, errors.Join(fmt.Errorf("restore: %w", err), executor.RemoveFile(next))
		}
	}
	if r.Left, err = writeFiles(dir, files); err != nil {
		return r, errors.Join(fmt.Errorf("restore: %w", err), executor.RemoveFile(next))
	}
	if err := os.Rename(next, db); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	return r, errors.Join(syncDir(dir), Settle(dir))
}

// renew copies the backup at path to next, as a store that is newer than the one it is of, and returns
// the files that are in it.
func renew(next, path string) (files map[string][]byte, err error) {
	if err := executor.RemoveFile(next); err != nil { // Of a restore that was interrupted.
		return nil, err
	}
	if err := intoNew(next, func(out *os.File) error { return copyFile(out, path) }); err != nil {
		return nil, err
	}
	db, err := store.Open(next, store.Options{})
	if err != nil {
		return nil, err
	}
	pairs, err := plannerPairs(db)
	if err == nil {
		if pairs, err = planner.Restored(pairs); err == nil {
			err = db.Apply(pairs)
		}
	}
	if err == nil {
		files, err = takeFiles(db)
	}
	return files, errors.Join(err, db.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lockState takes the lock of a daemon's state directory, in which its store has to be.
func lockState(dir, name string) (*os.File, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return awaitLock(filepath.Join(dir, name+".lock"))
}
