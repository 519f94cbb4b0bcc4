package daemon

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/units"
)

// machineCores is what this process may use of the machine: its CPUs (sched_setaffinity, a
// cpuset), or the quota of a group that it is in where that is less.
func machineCores() units.Cores {
	cores, _ := cgroup.Allowed("")
	return min(units.Cores(runtime.NumCPU()), cores)
}

// allCores are all that the machine has; 0 where that is not told.
func allCores() units.Cores {
	h, err := cgroup.OpenHost("")
	if err != nil {
		return 0
	}
	defer h.Close()
	return units.Cores(h.CPUs())
}

// defaultReserve leaves a tenth of the cores, at least 0.1, to drivers, daemons
// and the kernel.
func defaultReserve(total units.Cores) units.Cores { return max(0.1, total/10) }

// defaultMemory is 75 % of the machine's, or of what a group that this process is in may have
// where that is less; 0 when it cannot be read, which Validate refuses.
func defaultMemory() units.Bytes {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	_, limit := cgroup.Allowed("")
	return mostOf(units.Bytes(info.Totalram*uint64(info.Unit)), limit)
}

// mostOf is 75 % of a machine's memory, within a limit that is 0 for none.
func mostOf(total, limit units.Bytes) units.Bytes {
	if limit > 0 {
		total = min(total, limit)
	}
	return total / 4 * 3 / units.MiB * units.MiB
}

// machineName is the host's name with everything that a node name must not have
// replaced.
func machineName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "node"
	}
	host, _, _ = strings.Cut(host, ".")
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, host)
	return name[:min(len(name), 63)]
}

// SystemStateDir is where daemons that run as root keep their state.
const SystemStateDir = "/var/lib/pacer"

// DefaultStateDir is SystemStateDir for root, else pacer in the user's state
// directory.
func DefaultStateDir() string {
	if os.Geteuid() == 0 {
		return SystemStateDir
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pacer")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "pacer")
	}
	return filepath.Join(os.TempDir(), "pacer")
}

// facing is this machine's address as the planner sees it: no packet is sent to
// find out.
func facing(planner string) string {
	const loopback = "127.0.0.1"
	planner = bus.HostPort(planner)
	if bus.IsLoopback(planner) {
		return loopback
	}
	if host, _, err := net.SplitHostPort(planner); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return ownAddress(loopback)
	}
	conn, err := net.Dial("udp", planner)
	if err != nil {
		return loopback
	}
	defer func() { _ = conn.Close() }()
	if a, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		return a.IP.String()
	}
	return loopback
}

// ownAddress is an address of this machine that others may reach, otherwise
// when there is none: for a planner here that listens on every interface.
func ownAddress(otherwise string) string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return otherwise
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return otherwise
}

// bootID is new with each boot of the machine.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// monotonic is CLOCK_MONOTONIC: the clock of Java's System.nanoTime, so of the
// progress pages.
func monotonic() units.Instant {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0 // It cannot fail with a valid clock and address.
	}
	return units.Instant(t.Nano())
}
