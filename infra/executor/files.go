package executor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/progress"
)

// prepare makes an executor's directories and its empty pages.
func (p Paths) prepare(user Credential) error {
	uid, gid := owner(user)
	app := filepath.Dir(p.Dir)
	layout := Layout{Root: filepath.Dir(filepath.Dir(app))}
	if err := layout.makeApp(filepath.Base(app), gid); err != nil {
		return err
	}
	root, err := os.OpenRoot(app)
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	defer root.Close()
	id := filepath.Base(p.Dir)
	err = errors.Join(private(root, id, gid), own(root, "local", uid, gid))
	for _, dir := range []string{p.Work, p.Temp} {
		name := filepath.Join(id, filepath.Base(dir))
		err = errors.Join(err, removeTree(dir), own(root, name, uid, gid))
	}
	if err == nil && user.Made {
		err = p.list(root, user)
	}
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	return errors.Join(progress.Create(p.Page, uid, gid), progress.CreateWish(p.Wish))
}

// own makes a directory that belongs to the executor's user and is its alone. A file of that name is no link of an
// executor's: it cannot make any beside its directories.
func own(root *os.Root, name string, uid, gid int) error {
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(f.Chmod(0o700), f.Chown(uid, gid))
}

// list writes a list of users that has the machine's and the executor's: a JVM whose user
// has no name does not get as far as Spark.
func (p Paths) list(root *os.Root, user Credential) error {
	users, err := os.ReadFile(passwd)
	if err != nil {
		return err
	}
	if len(users) > 0 && users[len(users)-1] != '\n' {
		users = append(users, '\n')
	}
	users = fmt.Appendf(users, "%s:x:%d:%d::%s:/usr/sbin/nologin\n", user.Name, user.UID, user.GID, p.Local)
	name := filepath.Base(p.Passwd)
	if there, err := root.ReadFile(name); err == nil && bytes.Equal(there, users) {
		return nil // It is in use.
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return root.WriteFile(name, users, 0o644)
}

// passwd is the machine's list of users.
const passwd = "/etc/passwd"

// openLogs opens the logs to append to them.
func (p Paths) openLogs(user Credential) (stdout, stderr *os.File, err error) {
	uid, gid := owner(user)
	open := func(path string) (*os.File, error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
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
	app := filepath.Dir(p.Dir)
	for _, dir := range []string{app, p.Dir} {
		// An executor of the node controller's own user may have closed them.
		if f, err := reopen(unix.AT_FDCWD, dir); err == nil {
			_ = f.Close()
		}
	}
	err := errors.Join(removeTree(p.Work), removeTree(p.Temp), RemoveFile(p.Page), RemoveFile(p.Wish),
		removeTree(p.Files), RemoveFile(p.Credential), RemoveFile(p.Exit), RemoveFile(p.Handle))
	executors, listErr := directories(app)
	if listErr != nil {
		return errors.Join(err, listErr)
	}
	if !slices.ContainsFunc(executors, func(id string) bool {
		return exists(filepath.Join(app, id, filepath.Base(p.Page)))
	}) {
		err = errors.Join(err, removeTree(p.Local), RemoveFile(p.Passwd))
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// RemoveFile removes a file, if it is there.
func RemoveFile(path string) error {
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
		return fmt.Errorf("handle: %w", errors.Join(err, RemoveFile(f.Name())))
	}
	return nil
}

// handles reads every handle in the tree, in order of application and id. Handles that cannot be read are left out and
// named by the error.
func (l Layout) handles() ([]Handle, error) {
	apps, err := l.apps()
	if err != nil {
		return nil, fmt.Errorf("executor: recover: %w", err)
	}
	var handles []Handle
	var faults []error
	for _, app := range apps {
		executors, err := l.executors(app)
		if err != nil {
			faults = append(faults, fmt.Errorf("executor: recover %s: %w", app, err))
		}
		for _, id := range executors {
			file := filepath.Join(l.appDir(app), id, "handle.json")
			h, err := readHandle(file)
			switch {
			case errors.Is(err, os.ErrNotExist):
			case err != nil:
				faults = append(faults, fmt.Errorf("executor: recover %s: %w", file, err))
			default:
				handles = append(handles, h)
			}
		}
	}
	slices.SortFunc(handles, compareHandles)
	return handles, errors.Join(faults...)
}

func readHandle(file string) (Handle, error) {
	data, err := readOwn(file)
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

// mostOwn bounds a file of this process's own: they are small.
const mostOwn = 64 << 10

// readOwn reads a file that this process, or an earlier one of its user, has written, and
// nothing that somebody else has put in its place.
func readOwn(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("it is not a file of this node controller's")
	}
	return io.ReadAll(io.LimitReader(f, mostOwn))
}

// compareHandles orders by application, then by id as a number.
func compareHandles(a, b Handle) int {
	return cmp.Or(cmp.Compare(a.App, b.App), api.CompareExecutors(a.ID, b.ID))
}
