package daemon

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor/attached"
)

// guardPipe is the guard's descriptor beside the standard ones.
const guardPipe = 3

const (
	// replaceWithin bounds how long a guard waits for the one before it to leave,
	// and for a node controller that ends to let its lock go.
	replaceWithin = 5 * time.Second
	// lockAgain is the time between two tries of a lock.
	lockAgain = 20 * time.Millisecond
)

// Guard turns this process into the guard of a node controller. It waits for that one's end and, when it died and no
// other came in time, lifts the quotas below its cgroup parent and says so in a line on its standard output
// (STATE/guard.log). There are two per state directory, each with a lock of its own: the newest of a lock replaces the
// one before. It takes no arguments and returns at its end.
func Guard(args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes a state directory at most", GuardCommand)
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGUSR1)
	signal.Ignore(unix.SIGINT, unix.SIGHUP)
	closeInherited()
	// The last one that a machine short of memory should end; only root may ask.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("-900"), 0)
	if len(args) == 1 {
		return stand(args[0], cgroup.DefaultRoot, standWait, signals)
	}

	pipe := bufio.NewReader(os.NewFile(guardPipe, "node controller"))
	first, err := pipe.ReadBytes('\n')
	var r guardRequest
	if err == nil {
		err = json.Unmarshal(first, &r)
	}
	if err != nil {
		return fmt.Errorf("%s is for the node controller: %w", GuardCommand, err)
	}
	lock, err := replaceGuard(r.GuardLock)
	if err != nil {
		return fmt.Errorf("guard of node %s: %w", r.Node, err)
	}
	defer lock.Close()
	debug.FreeOSMemory()
	log := slog.New(slog.NewTextHandler(os.Stdout, nil)).With("component", "guard", "node", r.Node, "node_pid", r.PID)
	if watch(r, pipe, signals) == guardLift {
		return r.lift(log)
	}
	return nil
}

// closeInherited closes the descriptors that this process was given by accident,
// so that a guard keeps nobody's file, lock or pipe. The runtime's own close by
// themselves at an exec, which is how they are told apart.
func closeInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= guardPipe {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// replaceGuard takes the guards' lock; the guard that holds it is asked to leave.
func replaceGuard(path string) (*os.File, error) {
	for deadline := time.Now().Add(replaceWithin); ; {
		lock, err := lockFile(path)
		if err == nil || api.KindOf(err) != api.KindConflict || time.Now().After(deadline) {
			return lock, err
		}
		if pid := holder(path); isGuard(pid) {
			_ = unix.Kill(pid, unix.SIGUSR1)
		}
		time.Sleep(lockAgain)
	}
}

// holder is the process that a lock file names, 0 for none.
func holder(path string) int {
	text, _ := os.ReadFile(path)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

func isGuard(pid int) bool {
	args, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return pid > 1 && err == nil && strings.Contains(string(args), "\x00"+GuardCommand+"\x00")
}

// watch feeds the rule until it has a verdict.
func watch(r guardRequest, pipe io.Reader, signals <-chan os.Signal) guardVerdict {
	node := make(chan guardEvent, 1)
	go func() {
		last, _ := io.ReadAll(pipe)
		if string(last) == stoppedLine {
			node <- nodeStopped
		} else {
			node <- nodeDied
		}
	}()
	var rule guardRule
	var over <-chan time.Time
	for {
		var e guardEvent
		select {
		case e = <-node:
			if e == nodeDied {
				over = time.After(r.Wait)
			}
		case <-over:
			e = waitOver
		case s := <-signals:
			if e = guardEnded; s == unix.SIGUSR1 {
				e = guardReplaced
			}
		}
		if v := rule.next(e); v != guardOn {
			return v
		}
	}
}

// lift lifts the node's quotas. It holds the node controllers' lock meanwhile:
// one that has it is a successor, one that comes waits for the guard.
func (r guardRequest) lift(log *slog.Logger) error {
	lock, err := os.OpenFile(r.NodeLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("guard of node %s: %w", r.Node, err)
	}
	defer lock.Close()
	if r.succeeded(lock) {
		if r.Second {
			return nil
		}
		log.Info("the node controller died and another has come: the quotas are its own", "successor", holder(r.NodeLock))
		return nil
	}
	boot, err := bootID()
	back, backErr := attached.PutBack(r.Attached, r.Root, boot)
	lifted, liftErr := 0, error(nil)
	if r.Parent != "" {
		lifted, liftErr = cgroup.Lift(r.Root, r.Parent)
	}
	lifted += back
	if err = errors.Join(err, backErr, liftErr); err != nil {
		log.Error("the node controller died and not all quotas could be lifted", "lifted", lifted, "cgroup", r.Parent,
			"error", strings.ReplaceAll(err.Error(), "\n", "; "))
		return err
	}
	if lifted == 0 {
		return nil // The other guard was first, or there was none to lift.
	}
	log.Warn("the node controller died and no other came: its executors run at full speed", "lifted", lifted, "cgroup",
		r.Parent,
		"waited", r.Wait)
	return nil
}

// succeeded takes the node controllers' lock, or tells that another has it. The
// kernel closes the files of a dying process one by one, so that the one watched
// may hold its lock still when its pipe has ended.
func (r guardRequest) succeeded(lock *os.File) bool {
	for deadline := time.Now().Add(replaceWithin); ; time.Sleep(lockAgain) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return false
		}
		if holder(r.NodeLock) != r.PID || time.Now().After(deadline) {
			return true
		}
	}
}
