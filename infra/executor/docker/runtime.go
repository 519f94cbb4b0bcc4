package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
)

// Config is what the runtime needs.
type Config struct {
	Engine *Engine
	Layout executor.Layout
	// Groups is where the executors' groups are: below slices if Engine.Systemd.
	Groups *cgroup.Hierarchy
	// Node names the node controller in the containers' names and labels.
	Node string
	// Mounts are more of this machine for containers to see.
	Mounts []Mount
	// Grace replaces executor.Grace when it is not 0.
	Grace time.Duration
}

// Runtime runs each executor in a Docker container of its own, inside the
// executor's group. It is a process runtime whose processes Docker starts: it
// watches and stops them itself, also when there is no daemon. It implements
// executor.Runtime.
type Runtime struct {
	cfg       Config
	engine    *Engine
	processes *executor.Process

	mu   sync.Mutex
	held map[executor.Handle]*held
	// left are containers that no daemon was there to remove.
	left map[string]bool
}

// held is an executor that was started or recovered, and not removed.
type held struct {
	// group is the executor's, nil if another runtime has started it.
	group *cgroup.Group
	// daemon is the daemon's process when the executor was seen alive, 0 if it had
	// ended before.
	daemon   int32
	stopping atomic.Bool
	// over is made when the process has ended and closed when status says how.
	once   sync.Once
	over   chan struct{}
	status executor.Status
}

// New returns a runtime; it takes nothing over before it is asked to.
func New(cfg Config) (*Runtime, error) {
	if cfg.Engine == nil || cfg.Node == "" || cfg.Groups == nil {
		return nil, errors.New("docker: the runtime needs a daemon, groups and the node's name")
	}
	if want := "v" + cfg.Engine.cgroups; cfg.Groups.Version().String() != want {
		return nil, fmt.Errorf("docker: the daemon uses cgroup %s, Pacer's groups are of %v", want, cfg.Groups.Version())
	}
	root, err := filepath.Abs(cfg.Layout.Root)
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	cfg.Layout.Root = root // It is in the labels.
	r := &Runtime{cfg: cfg, engine: cfg.Engine, held: map[executor.Handle]*held{}, left: map[string]bool{}}
	r.processes, err = executor.NewProcess(executor.ProcessConfig{Layout: cfg.Layout, Groups: cfg.Groups, Grace: cfg.Grace,
		Launch: r.launch})
	return r, err
}

// Start implements executor.Runtime.
func (r *Runtime) Start(ctx context.Context, s executor.Spec) (executor.Handle, error) {
	h, err := r.processes.Start(ctx, s)
	if err != nil {
		return executor.Handle{}, err
	}
	r.hold(h, s.Group, r.engine.incarnation(ctx))
	return h, nil
}

func (r *Runtime) hold(h executor.Handle, group *cgroup.Group, daemon int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[h] = &held{group: group, daemon: daemon, over: make(chan struct{})}
}

func (r *Runtime) find(h executor.Handle) *held {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[h]
}

// Inspect implements executor.Runtime: one poll of the process's descriptor. Docker is asked of a container that has
// ended beside the caller, to whom it runs until there is an answer.
func (r *Runtime) Inspect(h executor.Handle) (executor.Status, error) {
	status, err := r.processes.Inspect(h)
	c := r.find(h)
	if err != nil || status.State != api.ExecutorExited || c == nil {
		return status, err
	}
	r.ask(h, c)
	select {
	case <-c.over:
		return c.status, nil
	default:
		return executor.Status{State: api.ExecutorRunning, ExitCode: api.Unknown}, nil
	}
}

// ask asks once how h ended.
func (r *Runtime) ask(h executor.Handle, c *held) {
	c.once.Do(func() {
		go func() {
			c.status = r.judge(r.name(executor.Spec{App: h.App, ID: h.ID}), c)
			close(c.over)
		}()
	})
}

// Stop implements executor.Runtime. It needs no daemon.
func (r *Runtime) Stop(ctx context.Context, h executor.Handle) error {
	c := r.find(h)
	if c == nil {
		return r.processes.Stop(ctx, h)
	}
	// A container that has ended by itself was not stopped.
	if status, err := r.processes.Inspect(h); err == nil && status.State != api.ExecutorExited {
		c.stopping.Store(true)
	}
	if err := r.processes.Stop(ctx, h); err != nil {
		return err
	}
	r.ask(h, c)
	<-c.over
	return nil
}

// Remove implements executor.Runtime. Without a daemon the container, which has
// ended, is left to a later call.
func (r *Runtime) Remove(h executor.Handle) error {
	status, err := r.processes.Inspect(h)
	if err != nil {
		return err
	}
	if status.State != api.ExecutorExited {
		return api.Errorf(api.KindConflict, "executor %s of %s still runs", h.ID, h.App)
	}
	r.mu.Lock()
	r.left[r.name(executor.Spec{App: h.App, ID: h.ID})] = true
	r.mu.Unlock()
	if err := r.sweep(); err != nil && !isGone(err) {
		return fmt.Errorf("remove executor %s of %s: %w", h.ID, h.App, err)
	}
	if err := r.processes.Remove(h); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, h)
	return nil
}

// sweep removes the containers that are left.
func (r *Runtime) sweep() error {
	r.mu.Lock()
	names := slices.Collect(maps.Keys(r.left))
	r.mu.Unlock()
	for _, name := range names {
		if err := r.engine.remove(context.Background(), name); err != nil {
			return err
		}
		r.mu.Lock()
		delete(r.left, name)
		r.mu.Unlock()
	}
	return nil
}

// Recover implements executor.Runtime: the handles say which executors there
// are, the labels which containers are Pacer's. A container without a handle is
// what an interrupted start left, and is removed; an executor without a container
// was started as a process, and Docker is not asked about it.
func (r *Runtime) Recover() ([]executor.Handle, error) {
	handles, err := r.processes.Recover()
	err = errors.Join(err, r.clearStages())
	ctx, cancel := context.WithTimeout(context.Background(), workLimit)
	defer cancel()
	containers, listErr := r.containers(ctx)
	daemon := r.engine.incarnation(ctx)
	for _, h := range handles {
		name := r.name(executor.Spec{App: h.App, ID: h.ID})
		_, contained := containers[name]
		delete(containers, name)
		// Without a list each may have a container.
		if r.find(h) != nil || listErr == nil && !contained {
			continue
		}
		alive := daemon
		if status, err := r.processes.Inspect(h); err == nil && status.State == api.ExecutorExited {
			alive = 0
		}
		r.hold(h, nil, alive)
	}
	for _, id := range containers {
		err = errors.Join(err, r.engine.remove(ctx, id))
	}
	return handles, errors.Join(err, listErr)
}

// containers returns the ids of this node controller's containers by name.
func (r *Runtime) containers(ctx context.Context) (map[string]string, error) {
	ours := filters.NewArgs(filters.Arg("label", labelNode+"="+r.cfg.Node),
		filters.Arg("label", labelWork+"="+r.cfg.Layout.Root))
	list, err := r.engine.client.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	if err != nil {
		return nil, fmt.Errorf("docker: recover: %w", r.engine.explain(err))
	}
	ids := map[string]string{}
	for _, c := range list {
		ids[r.name(executor.Spec{App: api.AppID(c.Labels[labelApp]), ID: api.ExecutorID(c.Labels[labelExecutor])})] = c.ID
	}
	return ids, nil
}
