package docker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/executor"
)

// stages is the directory below the layout's root in which containers that are being started have
// their stages. It is the node controller's alone.
const stages = "mounts"

// stage is where directories that an application names are mounted while its container starts.
// A name may lead elsewhere by the time that Docker, which is root, follows it. So each directory is opened with the
// rights of the executor's user, what was opened is mounted on the stage, and Docker is given that. A descriptor would
// not do, as runc mounts in a name space of its own, where the kernel takes no mount of another one's. It needs root:
// what others start can reach no more than their Docker daemon gives them anyway.
type stage struct {
	dir  string
	held int
}

func (r *Runtime) stage(s executor.Spec) *stage {
	return &stage{dir: filepath.Join(r.cfg.Layout.Root, stages, r.name(s))}
}

// show mounts what an application names, and returns mounts with where Docker finds them. A path that its user cannot
// reach any longer is left out.
func (st *stage) show(user executor.Credential, mounts []Mount) ([]Mount, error) {
	if os.Geteuid() != 0 || !slices.ContainsFunc(mounts, func(m Mount) bool { return m.named }) {
		return mounts, nil
	}
	if err := errors.Join(clearStage(st.dir), os.MkdirAll(st.dir, 0o700)); err != nil {
		return nil, fmt.Errorf("mounts: %w", err)
	}
	var shown []Mount
	for _, m := range mounts {
		if m.named {
			there, err := st.hold(user, &m)
			if err != nil {
				return nil, fmt.Errorf("mount %s: %w", m.Path, err)
			}
			if !there {
				continue
			}
		}
		shown = append(shown, m)
	}
	return shown, nil
}

// hold mounts the directory to which m leads the user now.
func (st *stage) hold(user executor.Credential, m *Mount) (there bool, err error) {
	fd := -1
	err = user.As(func() (err error) {
		fd, err = unix.Open(m.Path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	for _, hidden := range []error{unix.EACCES, unix.ENOENT, unix.ENOTDIR, unix.ELOOP} {
		if errors.Is(err, hidden) {
			return false, nil
		}
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	m.source = filepath.Join(st.dir, strconv.Itoa(st.held))
	st.held++
	if err := os.Mkdir(m.source, 0o700); err != nil {
		return false, err
	}
	if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(fd), m.source, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return false, err
	}
	// An operator who removes the node controller's directories by hand after a crash removes nothing
	// there. Kernels before 5.12 do not know it.
	err = unix.MountSetattr(unix.AT_FDCWD, m.source, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil && !errors.Is(err, unix.ENOSYS) {
		return false, err
	}
	return true, nil
}

// clear takes the stage away, when the container has its own mounts or never will.
func (st *stage) clear() error { return clearStage(st.dir) }

// clearStage unmounts what is mounted in a stage's directory and removes that. It removes no files.
func clearStage(dir string) error {
	held, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range held {
		path := filepath.Join(dir, e.Name())
		unmountErr := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if errors.Is(unmountErr, unix.EINVAL) {
			unmountErr = nil // No file system is mounted there.
		}
		err = errors.Join(err, unmountErr, unix.Rmdir(path))
	}
	if err = errors.Join(err, unix.Rmdir(dir)); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return nil
}

// clearStages takes away the stages of starts that were interrupted.
func (r *Runtime) clearStages() error {
	left, err := filepath.Glob(filepath.Join(r.cfg.Layout.Root, stages, "*"))
	for _, dir := range left {
		err = errors.Join(err, clearStage(dir))
	}
	return err
}
