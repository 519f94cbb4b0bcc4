package docker

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// ended is how Docker saw a container end.
type ended struct {
	code int
	oom  bool
	// limit is the container's memory limit.
	limit units.Bytes
}

// ended waits until Docker has noticed that a container ended and returns how.
func (e *Engine) ended(ctx context.Context, id string) (ended, error) {
	over, failed := e.client.ContainerWait(ctx, id, container.WaitConditionNotRunning)
	select {
	case <-over:
	case err := <-failed:
		return ended{}, err
	}
	c, err := e.client.ContainerInspect(ctx, id)
	if err != nil {
		return ended{}, err
	}
	if c.State == nil || c.HostConfig == nil {
		return ended{}, errors.New("the Docker daemon does not say how the container ended")
	}
	return ended{code: c.State.ExitCode, oom: c.State.OOMKilled, limit: units.Bytes(c.HostConfig.Memory)}, nil
}

// inquiry is how long a signal from nobody knows whom is looked into. A daemon that stops ends its containers first and
// itself a moment later, and the kernel may tell of the end of a container's group that long after it.
const inquiry = time.Second

// judge finds out how a container ended, whose process has.
func (r *Runtime) judge(name string, c *held) executor.Status {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	how, err := r.engine.ended(ctx, name)
	look := func() {
		if c.group == nil {
			return
		}
		// Docker knows the limit that it was started with, which may have moved.
		how.limit = cmp.Or(c.group.MemoryLimit(), how.limit)
		// A daemon that hears of the end first does not hear of the kernel's kill any more.
		if kills, err := c.group.MemoryKills(); err == nil && kills > 0 {
			how.oom = true
		}
	}
	look()
	stopped := c.stopping.Load()
	if err == nil && how.code > 128 && !how.oom && !stopped {
		pause := time.NewTimer(inquiry)
		defer pause.Stop()
		<-pause.C
		look()
	}
	return verdict(how, err, stopped, c.daemon, r.engine.incarnation(ctx))
}

// verdict puts into one line what is known of an executor's end. It tells how its container ended or why Docker does
// not say, whether Pacer had asked for it. It also tells which process was the daemon when it was last seen alive and
// is now (0 for none).
func verdict(how ended, err error, stopped bool, before, now int32) executor.Status {
	unknown := func(text string) executor.Status {
		return executor.Status{State: api.ExecutorExited, Exit: text, ExitCode: api.Unknown}
	}
	exited := func(text string) executor.Status {
		return executor.Status{State: api.ExecutorExited, Exit: text, ExitCode: how.code}
	}
	signal := "killed by signal " + strconv.Itoa(how.code-128)
	switch {
	case errdefs.IsNotFound(err):
		return unknown("ended: its container was removed from outside")
	case err != nil && isGone(err):
		return unknown("ended while the Docker daemon was gone")
	case err != nil:
		return unknown("ended, and Docker does not say how: " + err.Error())
	case how.oom && how.code == 137 && !stopped: // Docker says so too when a child was killed and the executor went on.
		return exited(executor.Starved(how.limit))
	case how.code <= 128:
		return exited("exit status " + strconv.Itoa(how.code))
	case stopped:
		return exited(signal)
	case now == 0:
		return exited(signal + " with the Docker daemon, which is gone")
	case before == 0:
		return exited(signal + " while no node controller watched")
	case before != now:
		return exited(signal + " with a restart of the Docker daemon")
	}
	return exited(signal + " from outside, not by Pacer")
}
