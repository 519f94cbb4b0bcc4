package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// sight is what a program sees of the machine otherwise than the rest of it does.
type sight struct {
	// Passwd stands in the place of the machine's list of users; "" is that itself.
	Passwd string `json:"passwd,omitempty"`
	// Shows are directories and files that the program sees though its user may not pass
	// through what is above them, of which it sees nothing else.
	Shows []string `json:"shows,omitempty"`
}

// shown is a path, the directory above it that its user may not pass, and a hold of it.
type shown struct {
	path, wall string
	fd         int
}

// open gives the calling thread, and what it executes, a view of the machine's files of its
// own (mount_namespaces(7)) where there is anything to change. It needs root. Mounts that the
// machine gets later are seen too.
func (s sight) open(user Credential) error {
	behind, err := s.behind(user)
	if err != nil {
		return err
	}
	if len(behind) == 0 && s.Passwd == "" {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a view of the files of its own: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("a view of the files of its own: %w", err)
	}
	if s.Passwd != "" {
		if err := unix.Mount(s.Passwd, passwd, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("show %s as %s: %w", s.Passwd, passwd, err)
		}
	}
	return show(behind)
}

// behind are those of what it shows that the user cannot reach.
func (s sight) behind(user Credential) ([]shown, error) {
	var behind []shown
	for _, path := range s.Shows {
		wall := ""
		if err := user.As(func() error { wall = wallBefore(path); return nil }); err != nil {
			return behind, err
		}
		// A missing file is reported later, by the code that reads it.
		if wall != "" && exists(path) {
			behind = append(behind, shown{path: path, wall: wall})
		}
	}
	return behind, nil
}

// wallBefore is the first directory above path that the caller may not pass through, "" for
// none.
func wallBefore(path string) string {
	dir := "/"
	for _, part := range strings.Split(strings.Trim(path, "/"), "/") {
		var st unix.Stat_t
		next := filepath.Join(dir, part)
		if err := unix.Stat(next, &st); errors.Is(err, unix.EACCES) {
			return dir
		} else if err != nil {
			return ""
		}
		dir = next
	}
	return ""
}

// show puts an empty directory in the place of each wall, and in it what is to be seen.
func show(behind []shown) error {
	for i, p := range behind {
		fd, err := unix.Open(p.path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("show %s: %w", p.path, err)
		}
		defer unix.Close(fd)
		behind[i].fd = fd
	}
	walls := map[string]bool{}
	for _, p := range behind {
		if walls[p.wall] {
			continue
		}
		walls[p.wall] = true
		if err := unix.Mount("pacer", p.wall, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=0755"); err != nil {
			return fmt.Errorf("show what is in %s: %w", p.wall, err)
		}
	}
	for _, p := range behind {
		if err := p.mount(); err != nil {
			return fmt.Errorf("show %s: %w", p.path, err)
		}
	}
	for wall := range walls {
		err := unix.Mount("", wall, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=0755")
		if err != nil {
			return fmt.Errorf("show what is in %s: %w", wall, err)
		}
	}
	return nil
}

func (p shown) mount() error {
	var st unix.Stat_t
	if err := unix.Fstat(p.fd, &st); err != nil {
		return err
	}
	if _, err := os.Lstat(p.path); err == nil {
		return nil // It is in one that is shown already.
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o755); err != nil {
		return err
	}
	var err error
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = os.Mkdir(p.path, 0o755)
	} else {
		err = os.WriteFile(p.path, nil, 0o644)
	}
	if err != nil {
		return err
	}
	return unix.Mount(fmt.Sprintf("/proc/self/fd/%d", p.fd), p.path, "", unix.MS_BIND|unix.MS_REC, "")
}
