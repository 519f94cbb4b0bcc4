package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
)

// starterName marks a container whose program has not taken its place yet.
const starterName = "pacer-starter"

// script is the first program of a container: it takes the logs as standard
// streams, waits to be let go, and becomes the executor if that can read what it
// needs. An image needs a shell for it and nothing else.
const script = `exec >>"$1" 2>>"$2" || exit 125
read -r go <"$3" || exit 125
n=$4; shift 4
while [ "$n" -gt 0 ]; do
  [ -r "$1" ] || { echo "pacer: the executor's user cannot read $1" >&2; exit 125; }
  shift; n=$((n-1))
done
exec "$@"`

// The exit codes of a program that was never there, as shells have them.
const (
	cannotStart = 125
	cannotRun   = 126
	notFound    = 127
)

// launch implements executor.ProcessConfig.Launch: a container whose first
// program waits on a pipe.
func (r *Runtime) launch(ctx context.Context, s executor.Spec, paths executor.Paths) (executor.Launched, error) {
	gate := filepath.Join(paths.Dir, "start")
	if ctx.Err() != nil {
		return executor.Launched{}, ctx.Err()
	}
	if err := errors.Join(executor.RemoveFile(gate), unix.Mkfifo(gate, 0o644)); err != nil {
		return executor.Launched{}, fmt.Errorf("start pipe: %w", err)
	}
	st := r.stage(s)
	config, host, err := r.describe(s, paths, gate, st)
	if err != nil {
		return executor.Launched{}, errors.Join(err, st.clear(), executor.RemoveFile(gate))
	}
	ctx, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	id, pid, err := r.run(ctx, config, host, r.name(s))
	if err != nil {
		return executor.Launched{}, errors.Join(r.engine.explain(err), st.clear(), executor.RemoveFile(gate))
	}
	err = st.clear()
	if err == nil {
		err = inGroup(s.Group, pid, cgroup.ContainerPath(host.CgroupParent, id))
	}
	if err == nil {
		err = s.Group.LookInside()
	}
	if err == nil && s.Nice > 0 {
		err = unix.Setpriority(unix.PRIO_PROCESS, pid, s.Nice)
	}
	if err != nil {
		return executor.Launched{}, errors.Join(err, r.engine.remove(context.WithoutCancel(ctx), id),
			executor.RemoveFile(gate))
	}
	return executor.Launched{
		PID: pid,
		Release: func(ctx context.Context) error {
			return errors.Join(r.release(ctx, id, pid, s, paths, gate), executor.RemoveFile(gate))
		},
		Discard: func() error { return r.engine.remove(context.Background(), id) },
	}, nil
}

// inGroup checks that a quota of the group holds for a container that should be
// in path: a daemon may see other groups than Pacer does.
func inGroup(group *cgroup.Group, pid int, path string) error {
	members, err := group.Procs()
	if err == nil && !slices.Contains(members, pid) {
		err = fmt.Errorf(
			"the container is not in group %s of this node, so no quota would hold for it: does the Docker daemon see the "+
				"same cgroups?", path)
	}
	return err
}

// run makes and starts a container and returns its id and its first process. It
// takes away what an interrupted start has left under the name.
func (r *Runtime) run(ctx context.Context, config *container.Config, host *container.HostConfig, name string) (string,
	int, error) {
	created, err := r.engine.client.ContainerCreate(ctx, config, host, nil, nil, name)
	if errdefs.IsConflict(err) {
		if err := r.engine.remove(ctx, name); err != nil {
			return "", 0, err
		}
		created, err = r.engine.client.ContainerCreate(ctx, config, host, nil, nil, name)
	}
	if errdefs.IsNotFound(err) && config.Image == HostImage {
		if err := r.engine.importHost(ctx); err != nil {
			return "", 0, err
		}
		created, err = r.engine.client.ContainerCreate(ctx, config, host, nil, nil, name)
	}
	if errdefs.IsNotFound(err) {
		return "", 0, noImage(config.Image)
	}
	if err != nil {
		return "", 0, err
	}
	pid, err := r.engine.start(ctx, created.ID)
	if err != nil {
		return "", 0, errors.Join(err, r.engine.remove(context.WithoutCancel(ctx), created.ID))
	}
	return created.ID, pid, nil
}

func (e *Engine) start(ctx context.Context, id string) (int, error) {
	if err := e.client.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		if isGone(err) || errors.Is(err, context.Canceled) {
			return 0, err
		}
		return 0, shortened(err)
	}
	c, err := e.client.ContainerInspect(ctx, id)
	if err != nil {
		return 0, err
	}
	if c.State == nil || c.State.Pid <= 1 {
		return 0, errors.New("the container ended before it was let go")
	}
	return c.State.Pid, nil
}

// remove removes a container, running or not; one that is not there is no error.
func (e *Engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	err := e.client.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	if !errdefs.IsConflict(err) {
		return e.explain(err)
	}
	// Somebody else removes it already.
	gone, failed := e.client.ContainerWait(ctx, id, container.WaitConditionRemoved)
	select {
	case <-gone:
	case err = <-failed:
		if !errdefs.IsNotFound(err) {
			return e.explain(err)
		}
	}
	return nil
}

// release lets the program go and returns when it has taken the starter's place,
// or with the reason for which it cannot.
func (r *Runtime) release(ctx context.Context, id string, pid int, s executor.Spec, paths executor.Paths,
	gate string) error {
	ctx, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	// Opened for both directions it waits for nobody, and what is written stays
	// until it is read as long as it is open here.
	pipe, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start pipe: %w", err)
	}
	defer func() { _ = pipe.Close() }()
	// Docker's own program gives way to the starter, and that to the executor.
	ended, err := awaitProgram(ctx, pid, true)
	if err == nil && !ended {
		if _, err = pipe.WriteString("go\n"); err != nil {
			return fmt.Errorf("start pipe: %w", err)
		}
		ended, err = awaitProgram(ctx, pid, false)
	}
	if err == nil && ended {
		err = r.refused(ctx, id, s, paths)
	}
	return err
}

// awaitProgram waits until a process is the starter, or is no longer, and reports
// whether it has ended.
func awaitProgram(ctx context.Context, pid int, starter bool) (ended bool, err error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		command, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err != nil {
			return true, nil // No process has this id: that is what was asked.
		}
		// It is empty while programs change places, and between end and reaping.
		if len(command) > 0 && starter == bytes.Contains(command, []byte("\x00"+starterName+"\x00")) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
	}
}

// refused returns why a container that has ended never ran its program; nil when
// it did, for a program may end at once.
func (r *Runtime) refused(ctx context.Context, id string, s executor.Spec, paths executor.Paths) error {
	state, err := r.engine.ended(ctx, id)
	if err != nil {
		return r.engine.explain(err)
	}
	switch state.code {
	case cannotStart:
		return errors.New(lastLine(paths.Stderr))
	case cannotRun:
		return fmt.Errorf("user %s: exec %s: permission denied", s.User.Name, s.Args[0])
	case notFound:
		return fmt.Errorf("user %s: exec %s: no such file or directory", s.User.Name, s.Args[0])
	}
	return nil
}

func lastLine(path string) string {
	last, err := executor.LastLine(path)
	if err != nil {
		return err.Error()
	}
	if last != "" {
		return strings.TrimPrefix(last, "pacer: ")
	}
	return "the container's user cannot write the logs or read the start pipe"
}

// shortened takes the runtime's own prefixes from an error.
func shortened(err error) error {
	text := err.Error()
	for _, prefix := range []string{"Error response from daemon: ", "failed to create task for container: ",
		"failed to create shim task: ",
		"OCI runtime create failed: ", "runc create failed: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return errors.New(strings.ReplaceAll(strings.TrimSuffix(text, ": unknown"), "\n", "; "))
}
