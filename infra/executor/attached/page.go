package attached

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/progress"
)

// ErrPage says that a progress page is not the executor's own, or not what one is.
var ErrPage = errors.New("attached: the page is refused")

// PageName is an executor's progress page in its working directory.
func PageName(id api.ExecutorID) string { return "pacer-progress-" + string(id) + ".page" }

// proof is what an executor's page has to show.
type proof = [sha256.Size]byte

// localFileSystems are those whose files can be looked at without waiting for a network or for a user's process.
var localFileSystems = []string{"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "tmpfs",
	"xfs", "zfs"}

// openPage opens the progress page of the executor id that p is, by the descriptor with which p has it open: no
// directory is looked into. os.ErrNotExist says that there is none yet.
func (p *process) openPage(id api.ExecutorID) (*progress.Reader, error) {
	fd, err := p.pageFile(PageName(id))
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := p.ownsPage(fd); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("/proc/self/fd/%d", fd)
	again, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: PageName(id), Err: err}
	}
	f := os.NewFile(uintptr(again), PageName(id))
	defer f.Close()
	return progress.OpenFile(f)
}

// mostFiles bounds how many of a process's open files are looked at: an executor opens its page among the first.
const mostFiles = 4096

// pageFile holds the file of that name that p has open, without opening it.
func (p *process) pageFile(name string) (int, error) {
	dir, err := p.open("fd", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return -1, err
	}
	f := os.NewFile(uintptr(dir), "fd")
	defer f.Close()
	names, err := f.Readdirnames(mostFiles)
	for _, number := range names {
		var text [unix.PathMax]byte
		n, err := unix.Readlinkat(dir, number, text[:])
		if err != nil || path.Base(string(text[:n])) != name {
			continue
		}
		fd, err := unix.Openat(dir, number, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == nil {
			return fd, nil
		}
	}
	if len(names) > 0 {
		err = nil // Where there are none it is io.EOF.
	}
	return -1, errors.Join(&os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}, err)
}

// ownsPage checks that what fd holds is a page of p's, and that to look at it does not wait for anybody.
func (p *process) ownsPage(fd int) error {
	system, err := p.fileSystem(fd)
	if err != nil {
		return err
	}
	if !slices.Contains(localFileSystems, system) {
		return fmt.Errorf("%w: it is on a file system of the kind %q, which is not known to be the machine's own",
			ErrPage, system)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	status, err := p.read("status")
	if err != nil {
		return err
	}
	uid, _, err := parseStatus(status)
	switch {
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%w: it is no file", ErrPage)
	case st.Size != progress.PageSize:
		return fmt.Errorf("%w: it has %d bytes, a page has %d", ErrPage, st.Size, progress.PageSize)
	case st.Uid != uid:
		return fmt.Errorf("%w: it belongs to user %d, the process to %d", ErrPage, st.Uid, uid)
	}
	return nil
}

// fileSystem is the kind of file system on which is what fd holds, "" where p does not see it. The kernel knows without
// asking the file system.
func (p *process) fileSystem(fd int) (string, error) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return "", err
	}
	mount := ""
	for line := range strings.Lines(string(info)) {
		if id, is := strings.CutPrefix(line, "mnt_id:"); is {
			mount = strings.TrimSpace(id)
		}
	}
	mounts, err := p.read("mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mounts)) {
		if of, rest, is := strings.Cut(line, " "); is && of == mount {
			_, after, _ := strings.Cut(rest, " - ")
			kind, _, _ := strings.Cut(after, " ")
			return kind, nil
		}
	}
	return "", nil
}

// proofOf is what the page of the executor id that p is has to show.
func (p *process) proofOf(a *api.Attach, id api.ExecutorID) (proof, error) {
	status, err := p.read("status")
	if err != nil {
		return proof{}, err
	}
	return a.Proof(id, innerPID(status, p.pid), p.Started), nil
}

// innerPID is the id of a process as it sees that itself, by its /proc/PID/status.
func innerPID(status []byte, pid int) int {
	for line := range strings.Lines(string(status)) {
		if all, is := strings.CutPrefix(line, "NSpid:"); is {
			if ids := strings.Fields(all); len(ids) > 0 {
				if inner, err := strconv.Atoi(ids[len(ids)-1]); err == nil {
					return inner
				}
			}
		}
	}
	return pid
}

// openProven opens the page of the executor id that p is and shows want; shown says what it shows.
func (p *process) openProven(id api.ExecutorID, want proof) (page *progress.Reader, shown proof, err error) {
	page, err = p.openPage(id)
	if err != nil {
		return nil, shown, err
	}
	if shown, err = page.Proof(); err == nil && subtle.ConstantTimeCompare(shown[:], want[:]) == 1 {
		return page, shown, nil
	}
	if err == nil {
		err = api.Errorf(api.KindConflict, "it is another application's: process %d does not show this one's secret", p.pid)
	}
	return nil, shown, errors.Join(err, page.Close())
}

// The times between two looks for the page of one process: twice as long after each that finds nothing.
const (
	firstWait = time.Second
	mostWait  = 16 * time.Second
)

// glance is what was last seen of the page of a process.
type glance struct {
	shown proof
	err   error
	wait  time.Duration
	next  time.Time
}

// identity names a process.
type identity struct {
	pid     int
	started uint64
}

// prove opens the page of a process that shows want. A process whose page is not right is not looked at again before
// its time, whoever seeks it, unless it has shown what is wanted.
func (r *Runtime) prove(p *process, id api.ExecutorID, want proof) (*progress.Reader, error) {
	who := identity{p.pid, p.Started}
	g, now := r.glances[who], r.cfg.Clock()
	if g != nil && now.Before(g.next) && g.shown != want {
		return nil, g.err
	}
	page, shown, err := p.openProven(id, want)
	if err == nil {
		delete(r.glances, who)
		return page, nil
	}
	if g == nil {
		g = &glance{wait: firstWait / 2}
		r.glances[who] = g
	}
	g.wait = min(2*g.wait, mostWait)
	g.shown, g.err, g.next = shown, err, now.Add(g.wait)
	return nil, err
}
