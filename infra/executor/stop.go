package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/units"
)

// killLimit bounds how long the kernel may take to end what was killed.
const killLimit = 5 * time.Second

// Stop implements Runtime: SIGTERM to the executor's process group without a
// quota in its way, Grace, SIGKILL to all that is in its group. The end of ctx
// cuts Grace short; nothing is left running even so.
func (r *Process) Stop(ctx context.Context, h Handle) error {
	p, err := r.find(h)
	if err != nil {
		return err
	}
	status, err := r.Inspect(h)
	if err != nil {
		return err
	}
	group, err := r.group(h)
	if err != nil {
		return err
	}
	if status.State != api.ExecutorExited {
		p.stop()
		err = r.terminate(ctx, h, group)
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), killLimit)
	defer cancel()
	if err = errors.Join(err, group.Kill(limit), r.awaitEnd(h)); err != nil {
		return fmt.Errorf("stop executor %s of %s: %w", h.ID, h.App, err)
	}
	return nil
}

func (r *Process) group(h Handle) (*cgroup.Group, error) {
	return r.cfg.Groups.Group(cgroup.GroupName(h.App, h.ID))
}

// stop notes that whatever ends the process from now on was asked for.
func (p *process) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = true
}

// terminate asks the executor to end and returns when it has ended, Grace is
// over or ctx ends. It ends by SIGKILL what has not ended: in a tree of ordinary
// files the group would not.
func (r *Process) terminate(ctx context.Context, h Handle, group *cgroup.Group) error {
	if err := group.SetQuota(units.Unlimited); err != nil {
		return err
	}
	grace, cancel := context.WithTimeout(ctx, r.cfg.Grace)
	defer cancel()
	for grace.Err() == nil {
		if err := signal(h.PID, syscall.SIGTERM); err != nil {
			return err
		}
		ended, err := r.awaitAnswer(grace, h)
		if err != nil || ended {
			return err
		}
	}
	return signal(h.PID, syscall.SIGKILL)
}

// askAgain is the time after which a container is asked again to end: its first process does
// not get a signal that it has not asked for yet, which a JVM that starts has not.
const askAgain = 100 * time.Millisecond

// awaitAnswer reports whether h's process ended before ctx, or before it is to be asked again.
func (r *Process) awaitAnswer(ctx context.Context, h Handle) (bool, error) {
	if r.cfg.Launch != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, askAgain)
		defer cancel()
	}
	return r.await(ctx, h)
}

// signal sends to the process group, which is the executor's own as it leads its
// session.
func signal(pid int, s syscall.Signal) error {
	if err := syscall.Kill(-pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %d to process group %d: %w", s, pid, err)
	}
	return nil
}

// await reports whether h's process ended before ctx.
func (r *Process) await(ctx context.Context, h Handle) (bool, error) {
	p, err := r.find(h)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	fd := -1
	if p.fd >= 0 {
		// A descriptor of its own, as Inspect closes the other one meanwhile.
		fd, err = unix.FcntlInt(uintptr(p.fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	p.mu.Unlock()
	if fd < 0 || err != nil {
		return err == nil, err
	}
	defer unix.Close(fd)
	for ctx.Err() == nil {
		if ended, err := pollEnd(fd, 20); ended || err != nil {
			return ended, err
		}
	}
	return false, nil
}

// awaitEnd returns when h's process has ended and, if it was a child, is reaped.
func (r *Process) awaitEnd(h Handle) error {
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	ended, err := r.await(ctx, h)
	if err == nil && !ended {
		err = fmt.Errorf("process %d does not end", h.PID)
	}
	if err != nil {
		return err
	}
	_, err = r.Inspect(h)
	return err
}

// Remove implements Runtime.
func (r *Process) Remove(h Handle) error {
	status, err := r.Inspect(h)
	if err != nil {
		return err
	}
	if status.State != api.ExecutorExited {
		return api.Errorf(api.KindConflict, "executor %s of %s still runs", h.ID, h.App)
	}
	paths, err := r.cfg.Layout.Paths(h.App, h.ID)
	if err != nil {
		return err
	}
	group, err := r.group(h)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	if err := errors.Join(group.Remove(ctx), r.clean(paths)); err != nil {
		return fmt.Errorf("remove executor %s of %s: %w", h.ID, h.App, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, h)
	return nil
}

// pollEnd reports whether the process behind a descriptor has ended, waiting at
// most so many milliseconds.
func pollEnd(fd, ms int) (bool, error) {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds[:], ms)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	if err != nil {
		return false, os.NewSyscallError("poll", err)
	}
	return n > 0, nil
}
