package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundEnv is in the environment of a pacer submit whose end another one sees to, or that has been detached. It is no
// key of the configuration.
const boundEnv = "_PACER_BOUND"

// ofTask reports whether a task of Airflow has started this pacer submit and expects it to end with the task.
func ofTask(getenv func(string) string, s submission) bool {
	return taskOf(getenv) != "" && getenv(boundEnv) == "" && !s.detach && !s.dry
}

// bound runs a second pacer submit, which does the work. Airflow's operator ends its child by SIGKILL, and nothing ends
// that where the task's own process is killed. The second one gets SIGTERM in both cases: it ends spark-submit or the
// application on a node, and tells the planner.
func bound(ctx context.Context, sh *shell, args []string) error {
	signals := catchSignals()
	defer signal.Stop(signals)
	runtime.LockOSThread() // The kernel tells the thread that has asked for it.
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
		return fmt.Errorf("submit: follow the end of the task: %w", err)
	}
	// /proc/self/exe is this program even when another one has taken the place of its file.
	again := spark{submit: "/proc/self/exe"}
	return sh.runSpark(ctx, again, append(slices.Clone(sh.Environ), boundEnv+"=1"), append([]string{"submit"}, args...),
		0, signals)
}

// outliveReader keeps this process alive where the reader of its output has gone: it still has something to end.
func outliveReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
