package executor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/units"
)

// ProcessConfig is what the process runtime needs.
type ProcessConfig struct {
	Layout Layout
	// Groups is where the executors' groups are.
	Groups *cgroup.Hierarchy
	// Grace replaces the constant Grace when it is not 0.
	Grace time.Duration
	// Self is the binary that calls Shim; empty is the running one.
	Self string
	// At is called at the steps of a start, for tests that kill the process there; nil is
	// nobody.
	At func(Step)
	// Launch starts programs in place of the shim, as a container engine does;
	// nil is the shim. Its files are made and its logs opened before.
	Launch func(ctx context.Context, s Spec, paths Paths) (Launched, error)
}

// Step is a step of a start after which a process may die.
type Step string

// The steps of a start, in order.
const (
	// StepFiles: its files are made.
	StepFiles Step = "files"
	// StepExec: the program runs and has no handle.
	StepExec Step = "exec"
	// StepHandle: the handle is saved.
	StepHandle Step = "handle"
)

// Launched is a program in its group whose process is known. Release lets it go
// if it is still held back, and returns when it runs; Discard takes the start
// back.
type Launched struct {
	PID     int
	Release func(ctx context.Context) error
	Discard func() error
}

// Process is the runtime that runs an executor as a process in its own group and
// session. It starts no goroutines: ended children are reaped by Inspect.
type Process struct {
	cfg  ProcessConfig
	boot string

	// files is held while directories that executors share are made or removed.
	files sync.Mutex
	mu    sync.Mutex
	known map[Handle]*process
}

// process is what this runtime knows of an executor's process.
type process struct {
	mu sync.Mutex
	// fd is the process's descriptor, -1 when it had ended before it was looked
	// at or its end has been seen.
	fd    int
	child bool
	ended Status
	// group is its group, nil if another runtime has started it.
	group *cgroup.Group
	// stopping says that this runtime ends it.
	stopping bool
}

// NewProcess returns a runtime; it takes nothing over before it is asked to.
func NewProcess(cfg ProcessConfig) (*Process, error) {
	if cfg.Groups == nil || cfg.Layout.Root == "" {
		return nil, errors.New("executor: the process runtime needs a work directory and groups")
	}
	cfg.Grace = cmp.Or(cfg.Grace, Grace)
	if cfg.At == nil {
		cfg.At = func(Step) {}
	}
	cfg.Self = cmp.Or(cfg.Self, "/proc/self/exe")
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	return &Process{cfg: cfg, boot: boot, known: map[Handle]*process{}}, nil
}

// Start implements Runtime. Processes that an earlier, interrupted start left in the group are killed first.
func (r *Process) Start(ctx context.Context, s Spec) (Handle, error) {
	paths, err := r.cfg.Layout.Paths(s.App, s.ID)
	if err != nil {
		return Handle{}, err
	}
	h, err := r.start(ctx, s, paths)
	if err != nil {
		return Handle{}, fmt.Errorf("start executor %s of %s: %w", s.ID, s.App, err)
	}
	return h, nil
}

func (r *Process) start(ctx context.Context, s Spec, paths Paths) (Handle, error) {
	if len(s.Args) == 0 || s.Group == nil {
		return Handle{}, errors.New("no command or no group")
	}
	if err := r.claim(ctx, s, paths); err != nil {
		return Handle{}, err
	}
	r.cfg.At(StepFiles)
	launched, err := r.launch(ctx, s, paths)
	if err != nil {
		return Handle{}, errors.Join(err, r.clean(paths))
	}
	h := Handle{App: s.App, ID: s.ID, PID: launched.PID, Boot: r.boot}
	if err := r.adopt(ctx, &h, s.Group, launched, paths); err != nil {
		return Handle{}, errors.Join(err, launched.Discard(), r.clean(paths))
	}
	return h, nil
}

func (r *Process) launch(ctx context.Context, s Spec, paths Paths) (Launched, error) {
	stdout, stderr, err := paths.openLogs(s.User)
	if err != nil {
		return Launched{}, err
	}
	defer stdout.Close()
	defer stderr.Close()
	if r.cfg.Launch != nil {
		return r.cfg.Launch(ctx, s, paths)
	}
	pid, err := r.spawn(ctx, s, paths, stdout, stderr)
	if err == nil && s.OOM > 0 {
		// A kernel that does not let us keeps its own order.
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(strconv.Itoa(s.OOM)), 0)
	}
	return Launched{
		PID:     pid,
		Release: func(context.Context) error { return nil },
		Discard: func() error {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			_, _ = wait(pid, 0)
			return nil
		},
	}, err
}

// claim makes the executor's files unless it was started already.
func (r *Process) claim(ctx context.Context, s Spec, paths Paths) error {
	r.files.Lock()
	defer r.files.Unlock()
	if _, err := os.Stat(paths.Handle); err == nil {
		return api.Errorf(api.KindConflict, "it was started already")
	}
	if err := s.Group.Kill(ctx); err != nil {
		return err
	}
	return paths.prepare(s.User)
}

func (r *Process) clean(paths Paths) error {
	r.files.Lock()
	defer r.files.Unlock()
	return paths.clean()
}

// spawn runs the shim and waits until it has become the program.
func (r *Process) spawn(ctx context.Context, s Spec, paths Paths, stdout, stderr *os.File) (int, error) {
	exit := ""
	if s.Waited {
		exit = paths.Exit
	}
	request, err := json.Marshal(shimSpec{
		Join: s.Group.JoinFiles(), User: s.User, Dir: paths.Work, Args: s.Args, Env: s.Env, Reads: s.Reads,
		Sight: paths.sight(s), Exit: exit, Bounds: s.Bounds,
	})
	if err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	requestIn, requestOut, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer requestOut.Close()
	statusIn, statusOut, err := os.Pipe()
	if err != nil {
		return 0, errors.Join(err, requestIn.Close())
	}
	defer statusIn.Close()
	child, err := os.StartProcess(r.cfg.Self, []string{"pacer", ShimCommand}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, stdout, stderr, requestIn, statusOut},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err = errors.Join(err, requestIn.Close(), statusOut.Close()); err != nil {
		return 0, err
	}
	pid := child.Pid
	if err := errors.Join(converse(ctx, requestOut, request, statusIn), child.Release()); err != nil {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // It may run the program already, which may have children.
		_, _ = wait(pid, 0)
		return 0, err
	}
	return pid, nil
}

// sight is what the executor sees otherwise than the machine's programs do: what is its own,
// what the node lists, and its user's name.
func (p Paths) sight(s Spec) sight {
	v := sight{Shows: slices.Concat(s.Shows, []string{p.Work, p.Local, p.Page, p.Wish})}
	if s.User.Made {
		v.Passwd = p.Passwd
	}
	return v
}

// converse gives the shim its request and returns the fault that it reports, or
// nil when the status pipe closes silently: the program runs.
func converse(ctx context.Context, out io.WriteCloser, request []byte, in *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = in.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := errors.Join(writeAll(out, request), out.Close()); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	fault, err := io.ReadAll(io.LimitReader(in, 4096))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case len(fault) > 0:
		return errors.New(string(fault))
	}
	return nil
}

func writeAll(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}

// adopt completes the handle, lets the program run, saves the handle and
// remembers the process. An executor that dies on the way leaves no handle behind.
func (r *Process) adopt(ctx context.Context, h *Handle, group *cgroup.Group, launched Launched, paths Paths) error {
	stat, err := statOf(h.PID)
	if err != nil {
		return err
	}
	h.Started = stat.Started
	fd, err := unix.PidfdOpen(h.PID, 0)
	if err != nil {
		return fmt.Errorf("open process %d: %w", h.PID, err)
	}
	if err = launched.Release(ctx); err == nil {
		r.cfg.At(StepExec)
		err = paths.save(*h)
	}
	if err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	r.cfg.At(StepHandle)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[*h] = &process{fd: fd, child: r.cfg.Launch == nil, group: group}
	return nil
}

// Inspect implements Runtime: one poll of the process's descriptor.
func (r *Process) Inspect(h Handle) (Status, error) {
	p, err := r.find(h)
	if err != nil {
		return Status{}, err
	}
	status, err := p.inspect(h.PID)
	if err == nil && status.State == api.ExecutorExited && status.ExitCode == api.Unknown {
		if paths, err := r.cfg.Layout.Paths(h.App, h.ID); err == nil {
			return paths.kept(status), nil
		}
	}
	return status, err
}

// find returns what is known of h's process, and looks at one of an earlier
// runtime for the first time.
func (r *Process) find(h Handle) (*process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.known[h]; p != nil {
		return p, nil
	}
	p, err := r.look(h)
	if err != nil {
		return nil, fmt.Errorf("inspect executor %s of %s: %w", h.ID, h.App, err)
	}
	// An executor that is gone is looked at again each time: nothing is remembered of what this runtime will never remove.
	if p.fd >= 0 {
		r.known[h] = p
	}
	return p, nil
}

func (r *Process) look(h Handle) (*process, error) {
	gone := &process{fd: -1, ended: Status{State: api.ExecutorExited, Exit: "ended while no node controller ran",
		ExitCode: api.Unknown}}
	if h.Boot != r.boot {
		gone.ended.Exit = "ended with a restart of the machine"
		return gone, nil
	}
	fd, err := unix.PidfdOpen(h.PID, 0)
	// The id may by now belong to a thread, which has no descriptor of this kind.
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return gone, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", h.PID, err)
	}
	// The descriptor holds the process whose start time is checked now.
	stat, err := statOf(h.PID)
	if err != nil || stat.Started != h.Started || stat.Ended() {
		return gone, unix.Close(fd)
	}
	return &process{fd: fd}, nil
}

func (p *process) inspect(pid int) (Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return p.ended, nil
	}
	ended, err := pollEnd(p.fd, 0)
	if err != nil {
		return Status{}, err
	}
	if !ended {
		return Status{State: api.ExecutorRunning, ExitCode: api.Unknown}, nil
	}
	p.ended = Status{State: api.ExecutorExited, Exit: "ended, nobody knows how", ExitCode: api.Unknown}
	if p.child {
		if status, err := wait(pid, unix.WNOHANG); err == nil {
			p.ended = status
		}
	}
	if p.ended.ExitCode > api.Signalled && !p.stopping {
		p.ended.Exit += " from outside, not by Pacer"
		if p.ended.ExitCode == killedBy(int(unix.SIGKILL)).ExitCode {
			p.ended.Exit = cmp.Or(p.starved(), p.ended.Exit)
		}
	}
	err = unix.Close(p.fd)
	p.fd = -1
	return p.ended, err
}

// Starved says how an executor ended that the kernel killed because it needed more memory
// than limit.
func Starved(limit units.Bytes) string {
	return fmt.Sprintf("killed by the kernel: it took more than its %v of memory (heap, overhead and off-heap)", limit)
}

// starved says so of p if the kernel has killed a process of its group for that, else "".
func (p *process) starved() string {
	if p.group == nil {
		return ""
	}
	if kills, err := p.group.MemoryKills(); err != nil || kills == 0 {
		return "" // The exit code is told in any case.
	}
	return Starved(p.group.MemoryLimit())
}

// Recover implements Runtime. Damaged handle files are left out of the result
// and named by the error, beside which the result is valid.
func (r *Process) Recover() ([]Handle, error) { return r.cfg.Layout.handles() }
