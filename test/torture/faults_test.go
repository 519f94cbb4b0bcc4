package torture

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/cli/sparkrun"
)

const (
	// starting is how long a daemon that is started again takes until it is of use.
	starting = 2 * time.Second
	// afterCut is how much longer than a cut of the network its effect lasts, as a multiple of
	// it: TCP tries again at intervals that double.
	afterCut = 2
	// failover is how long it takes at most until the planner that stands by serves.
	failover = 5 * time.Second
)

// carryOut does what f says and returns when it is over. It reports whether there was
// anything to hit.
func (w *world) carryOut(f Fault) bool {
	c, h := w.c, w.h
	switch f.Kind {
	case KillPlanner, StopPlanner, CutPlanner:
		return w.hitPlanner(f)
	case KillStandby:
		_, standby := c.serving()
		if standby == nil {
			return false
		}
		h.noted(0, "", false)
		standby.signal(syscall.SIGKILL, f.For)
	case KillNATS:
		h.noted(f.For+starting, "", true)
		c.nats.signal(syscall.SIGKILL, f.For)
	case KillController:
		h.noted(0, "", false)
		c.nodes[f.Node].signal(syscall.SIGKILL, f.For)
	case KillGuard:
		return w.killGuard(f.Node)
	case KillExecutor, OOM:
		return w.killExecutor(f)
	case KillDriver:
		return w.killDriver(f)
	case LoseNode:
		w.loseNode(f)
	case CutNode:
		h.noted(f.For*afterCut, f.Node, false)
		return w.ruled(f, f.Node, half(f, "-i", "eth0"), half(f, "-o", "eth0"))
	case CutBus:
		h.noted(0, "", false)
		return w.ruled(f, f.Node, half(f, "-s", c.net.Address), half(f, "-d", c.net.Address))
	case CutDrivers:
		h.noted(f.For*afterCut, f.Node, false)
		return w.ruled(f, f.Node, half(f, "-s", c.address[driverPlace]), half(f, "-d", c.address[driverPlace]))
	case Drop:
		h.noted(f.For*afterCut, f.Node, false)
		random := []string{"-m", "statistic", "--mode", "random", "--probability", strconv.FormatFloat(f.Amount, 'f', 3, 64)}
		return w.ruled(f, f.Node, append([]string{"INPUT"}, random...))
	case Delay:
		h.noted(0, "", false)
		c.proxy.delay.Store(int64(f.Amount * float64(time.Second)))
		w.pause(f.For)
		c.proxy.delay.Store(0)
	case StopExecutor:
		p := one(c.executors(""), f.Pick)
		if p == nil {
			return false
		}
		h.noted(f.For, p.node, false)
		w.suspend(f.For, p.pid)
	case StopController:
		h.noted(0, "", false)
		w.suspendService(c.nodes[f.Node], f.For)
	case FillDisk:
		return w.fill(f)
	case Rolling:
		h.noted(f.For+starting, "", true)
		return w.rolling()
	}
	return true
}

// hitPlanner disturbs the planner that serves. Executors can be started again when it is back,
// or the one that stands by has taken over.
func (w *world) hitPlanner(f Fault) bool {
	serves, standby := w.c.serving()
	if serves == nil {
		return false
	}
	away := f.For
	if f.Kind == CutPlanner {
		away *= afterCut
	}
	if standby != nil {
		away = min(away, failover)
	}
	w.h.noted(away+starting, "", true)
	switch f.Kind {
	case CutPlanner:
		return w.ruled(f, serves.name, half(f, "-i", "eth0"), half(f, "-o", "eth0"))
	case StopPlanner:
		w.suspendService(serves, f.For)
	default:
		serves.signal(syscall.SIGKILL, f.For)
	}
	return true
}

// half is a rule of netfilter for INPUT or OUTPUT; of a quarter of the cuts one direction
// stays open.
func half(f Fault, match ...string) []string {
	chain, closed := "INPUT", f.Pick >= 0.125
	if match[0] == "-o" || match[0] == "-d" {
		chain, closed = "OUTPUT", f.Pick < 0.125 || f.Pick >= 0.25
	}
	if !closed {
		return nil
	}
	return append([]string{chain}, match...)
}

// ruled has netfilter drop what the rules match in a place for the time of f.
func (w *world) ruled(f Fault, place string, rules ...[]string) bool {
	apply := func(do string) bool {
		ok := true
		for _, rule := range rules {
			if rule == nil {
				continue
			}
			line := append(append(w.c.net.Inside(place), "iptables", "-w", "10", do), append(rule, "-j", "DROP")...)
			if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
				w.c.t.Errorf("%v: %v: %v: %s", f, line, err, out)
				ok = false
			}
		}
		return ok
	}
	ok := apply("-A")
	w.pause(f.For)
	return apply("-D") && ok
}

// executors are those that run on a node, or on all for "".
func (c *cluster) executors(node string) []process {
	return c.these(func(p process) bool { return p.executor != "" && (node == "" || p.node == node) })
}

func (w *world) killGuard(node string) bool {
	guards := w.c.these(func(p process) bool { return p.guard && p.node == node })
	if len(guards) == 0 {
		return false
	}
	w.h.noted(0, "", false)
	for _, g := range guards {
		kill(g.pid, syscall.SIGKILL)
	}
	return true
}

func (w *world) killExecutor(f Fault) bool {
	p := one(w.c.executors(""), f.Pick)
	if p == nil {
		return false
	}
	w.h.noted(0, "", false)
	if f.Kind == KillExecutor {
		kill(p.pid, syscall.SIGKILL)
		return true
	}
	if err := oom(p.pid); err != nil {
		w.c.t.Error(err)
		return false
	}
	if !poll(20*time.Second, func() bool { return removed(p.pid) }) {
		kill(p.pid, syscall.SIGKILL)
		w.c.t.Errorf("the kernel has not ended process %d for want of memory", p.pid)
	}
	return true
}

func (w *world) killDriver(f Fault) bool {
	a := one(w.current(), f.Pick)
	if a == nil {
		return false
	}
	(*a).excused(string(KillDriver))
	w.h.noted(0, "", false)
	hit := false
	for _, pid := range below((*a).run.PID()) {
		body, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(body), "org.apache.spark.deploy.SparkSubmit") {
			kill(pid, syscall.SIGKILL)
			hit = true
		}
	}
	return hit
}

// loseNode kills a node with all that runs on it.
func (w *world) loseNode(f Fault) {
	w.h.noted(f.For+starting, f.Node, false)
	for _, p := range w.c.these(func(p process) bool { return p.node == f.Node }) {
		kill(p.pid, syscall.SIGKILL)
	}
	w.c.nodes[f.Node].signal(syscall.SIGKILL, f.For)
	w.ruled(f, f.Node, []string{"INPUT", "-i", "eth0"}, []string{"OUTPUT", "-o", "eth0"})
}

// suspend stops processes for a time.
func (w *world) suspend(long time.Duration, pids ...int) {
	for _, pid := range pids {
		kill(pid, syscall.SIGSTOP)
	}
	w.pause(long)
	for _, pid := range pids {
		kill(pid, syscall.SIGCONT)
	}
}

func (w *world) suspendService(s *service, long time.Duration) {
	s.signal(syscall.SIGSTOP, 0)
	w.pause(long)
	s.signal(syscall.SIGCONT, 0)
}

// fill takes what is left of a node's disk for a time.
func (w *world) fill(f Fault) bool {
	w.h.noted(f.For, f.Node, false)
	for _, a := range w.current() {
		a.excused(string(FillDisk))
	}
	path := filepath.Join(w.c.work(f.Node), "filler")
	file, err := os.Create(path)
	if err != nil {
		w.c.t.Error(err)
		return false
	}
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		w.c.t.Error(err)
	}
	w.pause(f.For)
	if err := errors.Join(file.Close(), os.Remove(path)); err != nil {
		w.c.t.Error(err)
	}
	return true
}

// rolling restarts all daemons in order, the next one when the last one runs again.
func (w *world) rolling() bool {
	all := append([]*service{w.c.nats}, w.c.planners...)
	for _, node := range w.c.names {
		all = append(all, w.c.nodes[node])
	}
	for _, s := range all {
		if !s.restart(grace) {
			w.c.t.Errorf("%s did not stop within %v", s.name, grace)
			return false
		}
		w.pause(time.Second)
	}
	return true
}

// pause waits, or until the schedule is broken off.
func (w *world) pause(long time.Duration) {
	select {
	case <-time.After(long):
	case <-w.over:
	}
}

// exitCode is that of a process that has ended.
func exitCode(p *sparkrun.Process) int {
	code, err := p.Code(endless())
	if err != nil {
		return -1
	}
	return code
}
