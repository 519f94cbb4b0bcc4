package executor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/units"
)

// Bounds hold a program, and all that it starts, back where its group does not.
type Bounds struct {
	// Nice is how far it goes behind others of its group and of the machine, 0 to 19.
	Nice int `json:"nice,omitempty"`
	// File is how large a file it may write, 0 for as large as there is room.
	File units.Bytes `json:"file,omitempty"`
}

// MostOpenFiles is how many files a process of an executor may have open. A JVM takes as
// many as it may; a shuffle has some thousands at once.
const MostOpenFiles = 64 << 10

// ownProcesses is how many processes and threads the user of one application may have: its
// executors on the node, all together. A JVM has a few hundred threads, each Python worker
// a few.
const ownProcesses = 32 << 10

// confine takes from the program, and from all that it starts, what an executor needs for nothing. That is to become
// another user by a program that has that right, to leave its memory on the disk when it crashes, and to fill the
// machine with processes or open files.
func (s shimSpec) confine() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	most, err := mostProcesses("/proc/sys/kernel")
	if err != nil {
		return err
	}
	if s.User.Made {
		most = min(most, ownProcesses)
	}
	for _, b := range []struct {
		what     string
		resource int
		most     uint64
	}{
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"processes", unix.RLIMIT_NPROC, most},
		{"open files", unix.RLIMIT_NOFILE, MostOpenFiles},
		{"the size of files", unix.RLIMIT_FSIZE, orUnbounded(s.File)},
	} {
		if err := bound(b.resource, b.most); err != nil {
			return fmt.Errorf("bound on %s: %w", b.what, err)
		}
	}
	if s.Nice > 0 {
		if err := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), s.Nice); err != nil {
			return fmt.Errorf("behind others: %w", err)
		}
	}
	return nil
}

func orUnbounded(size units.Bytes) uint64 {
	if size <= 0 {
		return math.MaxUint64
	}
	return uint64(size)
}

// bound lowers a limit of this process; it raises none.
func bound(resource int, most uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil {
		return err
	}
	limit.Max = min(limit.Max, most)
	limit.Cur = min(limit.Cur, limit.Max)
	return unix.Setrlimit(resource, &limit)
}

// mostProcesses is how many processes and threads a user may have at most, executors and all
// else together: three quarters of what the kernel has numbers and room for. Root has no
// bound.
func mostProcesses(kernel string) (uint64, error) {
	most := uint64(math.MaxUint64)
	for _, name := range []string{"pid_max", "threads-max"} {
		data, err := os.ReadFile(filepath.Join(kernel, name))
		if err != nil {
			return 0, fmt.Errorf("bound on processes: %w", err)
		}
		n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("bound on processes: %s: %w", name, err)
		}
		most = min(most, n)
	}
	return most / 4 * 3, nil
}
