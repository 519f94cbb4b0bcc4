package executor

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// UIDs is a range of user ids that are nobody's, both ends included. The group of the same
// number belongs to each.
type UIDs struct{ First, Last uint32 }

// DefaultUIDs are a thousand of those that no list of users and no range for containers has
// (docs/decisions/034).
var DefaultUIDs = UIDs{First: 2_000_000_000, Last: 2_000_000_999}

// leastUID is the least user id of people: what is below belongs to services.
const leastUID = 1000

// ParseUIDs reads FIRST-LAST.
func ParseUIDs(text string) (UIDs, error) {
	low, high, _ := strings.Cut(text, "-")
	first, err1 := strconv.ParseUint(low, 10, 32)
	last, err2 := strconv.ParseUint(high, 10, 32)
	if err1 != nil || err2 != nil || first < leastUID || last < first || last > 1<<31-1 {
		return UIDs{}, fmt.Errorf("user ids %q: want FIRST-LAST, from %d to %d", text, leastUID, 1<<31-1)
	}
	return UIDs{First: uint32(first), Last: uint32(last)}, nil
}

// String is r as ParseUIDs reads it.
func (r UIDs) String() string { return fmt.Sprintf("%d-%d", r.First, r.Last) }

func (r UIDs) has(id uint32) bool { return r.First <= id && id <= r.Last }

// Usable says why the range cannot be used on this machine, whose users, ranges of users'
// containers and mapping of user ids are in the files at passwd, subuid and mapping; nil if
// it can. A file that is not there says nothing.
func (r UIDs) Usable(passwd, subuid, mapping string) error {
	overlaps := func(first, n uint64) bool { return n > 0 && first <= uint64(r.Last) && first+n > uint64(r.First) }
	err := eachLine(passwd, func(line string) error {
		f := strings.Split(line, ":")
		if len(f) < 3 {
			return nil
		}
		if uid, err := strconv.ParseUint(f[2], 10, 32); err == nil && overlaps(uid, 1) {
			return fmt.Errorf("user ids %v: %d is %s's", r, uid, f[0])
		}
		return nil
	})
	err = errors.Join(err, eachLine(subuid, func(line string) error {
		f := strings.Split(line, ":")
		if len(f) < 3 {
			return nil
		}
		first, err1 := strconv.ParseUint(f[1], 10, 32)
		n, err2 := strconv.ParseUint(f[2], 10, 32)
		if err1 == nil && err2 == nil && overlaps(first, n) {
			return fmt.Errorf(
				"user ids %v: %d and the %d that follow are for containers of %s (%s), which could command executors", r, first,
				n-1, f[0], subuid)
		}
		return nil
	}))
	mapped, told := false, false
	err = errors.Join(err, eachLine(mapping, func(line string) error {
		var inside, outside, n uint64
		if _, err := fmt.Sscan(line, &inside, &outside, &n); err == nil {
			told = true
			mapped = mapped || inside <= uint64(r.First) && inside+n > uint64(r.Last)
		}
		return nil
	}))
	if told && !mapped {
		err = errors.Join(err, fmt.Errorf("user ids %v: there are no such ones in this container", r))
	}
	return err
}

func eachLine(path string, f func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if err := f(lines.Text()); err != nil {
			return err
		}
	}
	return nil
}

// Users says whom the executors of each application run as. It is safe for concurrent use.
type Users struct {
	// All is whom all executors run as, nil where that depends on the application.
	All *Credential
	// Invoker is whom those of an application run as of which nobody is known to have
	// submitted it; nil is one of UIDs.
	Invoker *Credential
	UIDs    UIDs
	// Layout is the tree in which each application has a directory, which says what it has
	// of UIDs.
	Layout Layout

	mu sync.Mutex
}

// Of returns whom the executors of an application run as, which was submitted by the user of
// that name, "" where nobody has made sure who that is. A user that this machine does not know, root and those of
// services are as good as unknown. The application gets a user id of its own, the same one for as long as it has a
// directory here.
func (u *Users) Of(app api.AppID, name string) (Credential, error) {
	switch {
	case u.All != nil:
		return *u.All, nil
	case name == "" && u.Invoker != nil:
		return *u.Invoker, nil
	}
	if name != "" {
		if c, err := LookupUser(name); err == nil && c.Name == name && c.UID >= leastUID && c.Name != "nobody" {
			return c, nil
		}
	}
	return u.Own(app)
}

// Own returns a user of the application's own.
func (u *Users) Own(app api.AppID) (Credential, error) {
	if u.All != nil {
		return *u.All, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	id, err := u.claim(string(app))
	if err != nil {
		return Credential{}, fmt.Errorf("user of application %s: %w", app, err)
	}
	return Credential{Name: fmt.Sprintf("pacer-%d", id), UID: id, GID: id, Made: true}, nil
}

// claim finds the application's id by the group of its directory, or a free one, beginning
// somewhere else for each application: an id is not given again soon.
func (u *Users) claim(app string) (uint32, error) {
	if err := checkName("application", app); err != nil {
		return 0, err
	}
	taken := map[uint32]bool{}
	apps, err := u.Layout.apps()
	if err != nil {
		return 0, err
	}
	for _, name := range apps {
		var st unix.Stat_t
		if err := unix.Lstat(u.Layout.appDir(name), &st); err != nil || !u.UIDs.has(st.Gid) {
			continue
		}
		if name == app {
			return st.Gid, nil
		}
		taken[st.Gid] = true
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(app))
	n := u.UIDs.Last - u.UIDs.First + 1
	for i := range n {
		if id := u.UIDs.First + (sum.Sum32()%n+i)%n; !taken[id] {
			return id, u.Layout.makeApp(app, int(id))
		}
	}
	return 0, fmt.Errorf("each of %v has been given away: keep fewer applications' logs or give more of them", u.UIDs)
}

// makeApp makes the application's directory for the members of a group to pass through; -1
// is this process's own.
func (l Layout) makeApp(app string, gid int) error {
	// Names are nobody's business; who knows one comes no further than its directory.
	if err := os.MkdirAll(filepath.Dir(l.Root), 0o755); err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(l.Root, "apps"), 0o711); err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	for _, dir := range []string{l.Root, filepath.Join(l.Root, "apps")} {
		if err := OpenToPass(dir); err != nil {
			return fmt.Errorf("work directory: %w", err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(l.Root, "apps"))
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	defer root.Close()
	return private(root, app, gid)
}

// OpenToPass lets every user pass through a directory of this process's own: whoever made it, perhaps an
// earlier run, may have had a mask that closed it.
func OpenToPass(dir string) error {
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	if mode := st.Mode().Perm(); ok && int(owner.Uid) == os.Geteuid() && mode&0o011 != 0o011 {
		return os.Chmod(dir, mode|0o011)
	}
	return nil
}

// private makes a directory that belongs to this process, which the members of a group may
// pass through and nobody else.
func private(root *os.Root, name string, gid int) error {
	mode := os.FileMode(0o710)
	if gid < 0 {
		mode = 0o700
	}
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("work directory: %w", err)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	defer f.Close()
	if gid >= 0 {
		if err := f.Chown(-1, gid); err != nil {
			return fmt.Errorf("work directory: %w", err)
		}
	}
	if err := f.Chmod(mode); err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	return nil
}
