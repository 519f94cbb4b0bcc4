package torture

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sparkpacer/pacer/test/realenv"
)

// process is one that belongs to a cluster.
type process struct {
	pid  int
	args []string
	// node is whose it is, "" for none; app and executor are an executor's.
	node, app, executor string
	guard, driver       bool
}

func (p process) String() string {
	line := strings.Join(p.args, " ")
	return fmt.Sprintf("process %d: %.120s", p.pid, line)
}

// processes are all that run in c's directory, have its files open, or name them, but for
// this one and what it has started to look at them.
func (c *cluster) processes() []process {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var out []process
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		body, err := os.ReadFile(dir + "/cmdline")
		if err != nil || len(body) == 0 || pid == os.Getpid() {
			continue // It has ended, or is one of the kernel's.
		}
		if state := realenv.Stat(pid); len(state) == 0 || state[0] == "Z" || state[0] == "X" {
			continue
		}
		p := process{pid: pid, args: strings.Split(strings.TrimRight(string(body), "\x00"), "\x00")}
		line := strings.Join(p.args, " ")
		at, _ := os.Readlink(dir + "/cwd")
		log, _ := os.Readlink(dir + "/fd/1")
		ours := false
		for _, place := range []string{at, log} {
			if rest, ok := strings.CutPrefix(place, c.dir+"/"); ok {
				ours = true
				rest = strings.TrimPrefix(rest, "work/")
				if node, _, _ := strings.Cut(rest, "/"); slices.Contains(c.names, node) {
					p.node = cmp.Or(p.node, node)
				}
			}
		}
		if !ours && !strings.Contains(line, c.dir) {
			continue
		}
		p.guard = len(p.args) > 1 && p.args[1] == "guard-quotas"
		p.driver = strings.Contains(line, "org.apache.spark.deploy.SparkSubmit")
		if strings.Contains(line, "CoarseGrainedExecutorBackend") {
			p.app, p.executor = after(p.args, "--app-id"), after(p.args, "--executor-id")
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b process) int { return a.pid - b.pid })
	return out
}

func after(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// these are the processes that ok takes.
func (c *cluster) these(ok func(process) bool) []process {
	return slices.DeleteFunc(c.processes(), func(p process) bool { return !ok(p) })
}

// one of them, chosen by pick in [0, 1); nil for none.
func one[T any](of []T, pick float64) *T {
	if len(of) == 0 {
		return nil
	}
	return &of[int(pick*float64(len(of)))]
}

// below are the descendants of a process.
func below(pid int) []int {
	var out []int
	for _, child := range realenv.Children(pid) {
		out = append(append(out, child), below(child)...)
	}
	return out
}

// leftovers are what a cluster has left after its end: processes, groups and mounts, and
// processes in its namespaces.
func (c *cluster) leftovers() []string {
	var left []string
	for _, p := range c.processes() {
		left = append(left, p.String())
	}
	for _, node := range c.names {
		// The parent of a node's groups may stay, but nothing in it.
		groups, _ := filepath.Glob("/sys/fs/cgroup/*/pacer/node-" + node + "/*/cgroup.procs")
		for _, g := range groups {
			left = append(left, "group "+filepath.Dir(g))
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], c.dir+"/") {
			left = append(left, "mount "+fields[1])
		}
	}
	for _, place := range c.places {
		pids, _ := exec.Command("ip", "netns", "pids", filepath.Base(c.net.Namespace(place))).Output()
		for pid := range strings.FieldsSeq(string(pids)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			left = append(left, fmt.Sprintf("process %s in namespace %s: %.120s", pid, place, strings.ReplaceAll(string(line), "\x00", " ")))
		}
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// oom has the kernel end a process for want of memory: its group has none to give. The group
// is made for it and removed at its end.
func oom(pid int) error {
	group := fmt.Sprintf("/sys/fs/cgroup/memory/pacer-torture-%d", pid)
	if err := os.Mkdir(group, 0o755); err != nil {
		return err
	}
	err := os.WriteFile(group+"/memory.limit_in_bytes", []byte("1048576"), 0o644)
	if err == nil {
		err = os.WriteFile(group+"/cgroup.procs", []byte(strconv.Itoa(pid)), 0o644)
	}
	if err != nil {
		return fmt.Errorf("take the memory of process %d: %w", pid, err)
	}
	return nil
}

// removed reports whether an oom's group is gone: it can go when its process has.
func removed(pid int) bool {
	err := os.Remove(fmt.Sprintf("/sys/fs/cgroup/memory/pacer-torture-%d", pid))
	return err == nil || os.IsNotExist(err)
}

func kill(pid int, s syscall.Signal) { _ = syscall.Kill(pid, s) }
