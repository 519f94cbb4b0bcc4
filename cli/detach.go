package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// detachWithin is how long pacer submit --detach waits until its application has registered: a
// program may do much before it makes a SparkContext. registeredAgain is how often it asks.
const (
	detachWithin    = time.Minute
	registeredAgain = 200 * time.Millisecond
)

// detach runs pacer submit in a session of its own and says how to watch and to end it. That one
// is what a pacer submit in the foreground would be: it watches spark-submit, and the deadline is
// until its exit, from this call on.
func (l *launch) detach(ctx context.Context) (err error) {
	if l.settings, err = l.ownSettings(); err != nil {
		return err
	}
	if l.config, err = l.configuration(); err != nil {
		return err
	}
	if l.nodes {
		return l.submit(ctx)
	}
	conn, done, err := l.planner(ctx)
	if err != nil {
		return err
	}
	defer done()
	log, err := os.CreateTemp(".", "pacer-submit-*.log")
	if err != nil {
		return fmt.Errorf("%s: its output needs a file in this directory: %w", optionDetach, err)
	}
	defer log.Close()
	args := []string{"submit"}
	for _, key := range []string{confSubmission, confSubmitted} {
		args = append(args, "--conf", key+"="+l.settings[key])
	}
	// /proc/self/exe is this program even when another one has taken the place of its file.
	background := exec.Command("/proc/self/exe", append(args, l.line.attached...)...)
	background.Stdout, background.Stderr, background.Env = log, log, append(slices.Clone(l.Environ), boundEnv+"=1")
	background.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := background.Start(); err != nil {
		return fmt.Errorf("%s: %w", optionDetach, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- background.Wait() }()
	where := fmt.Sprintf("process %d, output in %s", background.Process.Pid, log.Name())
	limit := time.After(detachWithin)
	for {
		if app, ok := l.registered(ctx, conn); ok {
			how := "runs"
			if app.State == api.AppQueued {
				how = "waits for memory"
			}
			fmt.Fprintf(l.Stdout,
				"pacer: %s %s, detached: %s\npacer: `pacer apps show %s` watches it, `pacer kill %s` ends it\n", app.ID, how,
				where, app.ID, app.ID)
			return nil
		}
		select {
		case err := <-ended:
			return l.endedEarly(log.Name(), err)
		case <-limit:
			fmt.Fprintf(l.Stdout,
				"pacer: detached, and not registered yet: %s\npacer: `pacer apps` shows it once it is, `kill %d` ends it\n", where,
				background.Process.Pid)
			return nil
		case <-ctx.Done():
			fmt.Fprintf(l.Stderr, "pacer: detached, and not registered yet: %s\n", where)
			return ctx.Err()
		case <-time.After(registeredAgain):
		}
	}
}

// registered returns the application of this submission once the planner has it.
func (l *launch) registered(ctx context.Context, conn client) (api.AppSummary, bool) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	reply, err := conn.Control(ctx, api.VerbApps, api.ControlRequest{})
	if err != nil {
		return api.AppSummary{}, false
	}
	for _, a := range reply.Apps {
		if a.Submission == l.settings[confSubmission] && a.State != api.AppRefused {
			return a, true
		}
	}
	return api.AppSummary{}, false
}

// endedEarly is the end of one that ended before it was seen to register: what it has said is for
// its user, and its exit code is the foreground's.
func (l *launch) endedEarly(log string, err error) error {
	if said, openErr := os.Open(log); openErr == nil {
		defer said.Close()
		_, _ = io.Copy(command.Raw(l.Stderr), said)
	}
	return childError(err)
}
