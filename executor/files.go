package executor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/progress"
)

// prepare makes an executor's directories and its empty pages.
func (p Paths) prepare(user Credential) error {
	uid, gid := owner(user)
	for _, dir := range []struct {
		path string
		own  bool
	}{{filepath.Dir(filepath.Dir(p.Dir)), false}, {filepath.Dir(p.Dir), false}, {p.Dir, false}, {p.Local, true}, {p.Work, true}} {
		if dir.path == p.Work {
			if err := os.RemoveAll(p.Work); err != nil {
				return fmt.Errorf("working directory: %w", err)
			}
		}
		if err := os.MkdirAll(dir.path, 0o755); err != nil {
			return fmt.Errorf("work directory: %w", err)
		}
		if !dir.own {
			continue
		}
		if err := errors.Join(os.Chmod(dir.path, 0o700), os.Chown(dir.path, uid, gid)); err != nil {
			return fmt.Errorf("work directory: %w", err)
		}
	}
	return errors.Join(progress.Create(p.Page, uid, gid), progress.CreateWish(p.Wish))
}

// openLogs opens the logs to append to them.
func (p Paths) openLogs(user Credential) (stdout, stderr *os.File, err error) {
	uid, gid := owner(user)
	open := func(path string) (*os.File, error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
		if err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
		if err := f.Chown(uid, gid); err != nil {
			return nil, errors.Join(fmt.Errorf("log: %w", err), f.Close())
		}
		return f, nil
	}
	if stdout, err = open(p.Stdout); err != nil {
		return nil, nil, err
	}
	if stderr, err = open(p.Stderr); err != nil {
		return nil, nil, errors.Join(err, stdout.Close())
	}
	return stdout, stderr, nil
}

// owner is whom files are given to: only root can give any away.
func owner(user Credential) (uid, gid int) {
	if os.Geteuid() != 0 {
		return -1, -1
	}
	return int(user.UID), int(user.GID)
}

// clean removes what an executor leaves behind but its logs, and the
// application's local directories with the last executor: the last page, as that
// is there from before a start on.
func (p Paths) clean() error {
	err := errors.Join(os.RemoveAll(p.Work), removeFile(p.Page), removeFile(p.Wish), removeFile(p.Handle))
	others, globErr := filepath.Glob(filepath.Join(filepath.Dir(p.Dir), "*", filepath.Base(p.Page)))
	if len(others) == 0 {
		err = errors.Join(err, os.RemoveAll(p.Local))
	}
	return errors.Join(err, globErr)
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// handlePrefix begins the names of handles that are being written.
const handlePrefix = ".handle-"

// save writes h so that after a crash the file holds it whole or is not there.
func (p Paths) save(h Handle) error {
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("handle: %w", err)
	}
	f, err := os.CreateTemp(p.Dir, handlePrefix+"*")
	if err != nil {
		return fmt.Errorf("handle: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), p.Handle)
	}
	if err != nil {
		return fmt.Errorf("handle: %w", errors.Join(err, removeFile(f.Name())))
	}
	return nil
}

// handles reads every handle in the tree, in order of application and id. Those
// that cannot be read are left out and named by the error.
func (l Layout) handles() ([]Handle, error) {
	files, err := filepath.Glob(filepath.Join(l.Root, "apps", "*", "*", "handle.json"))
	if err != nil {
		return nil, fmt.Errorf("executor: recover: %w", err)
	}
	var handles []Handle
	var faults []error
	for _, file := range files {
		h, err := readHandle(file)
		if err != nil {
			faults = append(faults, fmt.Errorf("executor: recover %s: %w", file, err))
			continue
		}
		handles = append(handles, h)
	}
	slices.SortFunc(handles, compareHandles)
	return handles, errors.Join(faults...)
}

func readHandle(file string) (Handle, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Handle{}, err
	}
	var h Handle
	if err := json.Unmarshal(data, &h); err != nil {
		return Handle{}, err
	}
	dir := filepath.Dir(file)
	if string(h.ID) != filepath.Base(dir) || string(h.App) != filepath.Base(filepath.Dir(dir)) || h.PID <= 1 {
		return Handle{}, fmt.Errorf("it is that of %s/%s with process %d", h.App, h.ID, h.PID)
	}
	return h, nil
}

// compareHandles orders by application, then by id as a number.
func compareHandles(a, b Handle) int {
	return cmp.Or(cmp.Compare(a.App, b.App), api.CompareExecutors(a.ID, b.ID))
}
