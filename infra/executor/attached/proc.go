package attached

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/executor"
)

// mainClasses are those of executors, and whether YARN starts them.
var mainClasses = map[string]bool{
	"org.apache.spark.executor.YarnCoarseGrainedExecutorBackend":       true,
	"org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend": false,
	"org.apache.spark.executor.CoarseGrainedExecutorBackend":           false,
}

// nodeManager is the main class of the process that starts YARN's containers.
const nodeManager = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"

// command is what a command line says of an executor.
type command struct {
	yarn bool
	// pairs are its arguments --KEY VALUE behind the main class, by "--KEY".
	pairs map[string]string
}

// parseCommand reads a /proc/PID/cmdline; false for one that is no executor's. A wrapper that only hands the command
// line on, a shell or the first process of a container, is none.
func parseCommand(line []byte) (command, bool) {
	if !bytes.Contains(line, []byte("ExecutorBackend")) {
		return command{}, false
	}
	args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	if filepath.Base(args[0]) != "java" {
		return command{}, false
	}
	for i, arg := range args[1:] {
		yarn, is := mainClasses[arg]
		if !is {
			continue
		}
		c := command{yarn: yarn, pairs: map[string]string{}}
		for rest := args[i+2:]; len(rest) > 1; {
			if !strings.HasPrefix(rest[0], "--") {
				rest = rest[1:]
				continue
			}
			if _, twice := c.pairs[rest[0]]; !twice {
				c.pairs[rest[0]] = rest[1]
			}
			rest = rest[2:]
		}
		return c, true
	}
	return command{}, false
}

// cores is how many tasks of one core it runs side by side, 1 where that is not told.
func (c command) cores() int {
	n, err := strconv.Atoi(c.pairs["--cores"])
	if err != nil {
		return 1
	}
	return min(max(1, n), mostCores)
}

// mostCores bounds what is believed of an executor's cores.
const mostCores = 256

// isNodeManager reports whether a command line is a NodeManager's.
func isNodeManager(line []byte) bool {
	return bytes.Contains(append(append([]byte{0}, line...), 0), []byte("\x00"+nodeManager+"\x00"))
}

// parseStatus reads of a /proc/PID/status whose files the process's are, and how many CPUs it may use.
func parseStatus(text []byte) (uid uint32, cpus int, err error) {
	found := false
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "Uid":
			ids := strings.Fields(value)
			if len(ids) != 4 {
				return 0, 0, fmt.Errorf("/proc/PID/status has %d user ids", len(ids))
			}
			n, err := strconv.ParseUint(ids[3], 10, 32)
			if err != nil {
				return 0, 0, fmt.Errorf("/proc/PID/status: %w", err)
			}
			uid, found = uint32(n), true
		case "Cpus_allowed_list":
			cpus = countList(strings.TrimSpace(value))
		}
	}
	if !found {
		return 0, 0, errors.New("/proc/PID/status has no user id")
	}
	return uid, cpus, nil
}

// countList is how many numbers a list such as "0-2,5" has; 0 where it is none.
func countList(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to < from || to > 1<<20 {
			return 0
		}
		n += to - from + 1
	}
	return n
}

// process is one of this machine's, held by its directory of /proc: what is read below that is of no
// other process, whoever gets its id.
type process struct {
	pid int
	dir *os.File
	executor.ProcessStat
}

// openProcess holds a process that runs.
func openProcess(proc string, pid int) (*process, error) {
	dir, err := os.OpenFile(filepath.Join(proc, strconv.Itoa(pid)), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	p := &process{pid: pid, dir: dir}
	if p.ProcessStat, err = p.look(); err == nil && p.Ended() {
		err = os.ErrProcessDone
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return p, nil
}

// look reads how the process is.
func (p *process) look() (executor.ProcessStat, error) {
	text, err := p.read("stat")
	if err != nil {
		return executor.ProcessStat{}, err
	}
	return executor.ParseStat(text)
}

// runs reports whether the process has not ended.
func (p *process) runs() (bool, error) {
	s, err := p.look()
	if errors.Is(err, unix.ESRCH) || errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !s.Ended(), nil
}

// mostText bounds what is read of a file of /proc: command lines and lists of mounts have some ten KiB.
const mostText = 1 << 20

// read reads a file of the process's directory.
func (p *process) read(name string) ([]byte, error) {
	fd, err := p.open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(p.dir.Name(), name))
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostText))
}

// open opens what is below the process's directory; p may be closed meanwhile.
func (p *process) open(name string, flags int) (fd int, err error) {
	conn, err := p.dir.SyscallConn()
	if err == nil {
		closed := conn.Control(func(dir uintptr) { fd, err = unix.Openat(int(dir), name, flags|unix.O_CLOEXEC, 0) })
		err = errors.Join(err, closed)
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: filepath.Join(p.dir.Name(), name), Err: err}
	}
	return fd, nil
}

func (p *process) close() error { return p.dir.Close() }

// readBounded reads a file of /proc, whoever has its process's id.
func readBounded(proc string, pid int, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(proc, strconv.Itoa(pid), name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostText))
}

// pids are the processes of the machine.
func pids(proc string) ([]int, error) {
	dir, err := os.Open(proc)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			list = append(list, pid)
		}
	}
	return list, nil
}
