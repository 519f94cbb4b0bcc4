package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
)

// LocalConfig says how a Local is started.
type LocalConfig struct {
	// Pacer is the path of the pacer binary.
	Pacer string
	// Dir holds the state of the daemons, the logs and the application; what an
	// earlier demonstration left there is removed.
	Dir string
	// Up are more arguments for `pacer up`.
	Up []string
	// Env is the environment of all that is started.
	Env []string
	// Scale is the application's argument.
	Scale float64
	// Ready is how long `pacer up` may take, Grace how long it may take to stop.
	Ready, Grace time.Duration
}

// Local is a Pacer on this machine, started for the demonstration: `pacer up` as
// a child process on free loopback ports.
type Local struct {
	cfg     LocalConfig
	app     string
	address string
	up      *exec.Cmd
	log     *os.File
	ended   chan struct{} // Closed when up has ended.
	conn    *bus.Conn
	// submitted is the newest `pacer submit`, ended when its channel is closed.
	submitted *exec.Cmd
	driverEnd chan struct{}
}

// StartLocal brings up a planner and a node controller and waits until they are
// usable. On an error nothing is left running.
func StartLocal(ctx context.Context, cfg LocalConfig) (_ *Local, err error) {
	if err := os.RemoveAll(cfg.Dir); err != nil {
		return nil, fmt.Errorf("clear %s: %w", cfg.Dir, err)
	}
	l := &Local{cfg: cfg, app: filepath.Join(cfg.Dir, "app.py"), ended: make(chan struct{})}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(l.app, App, 0o644); err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	l.address = ports[0]
	if err := l.startUp(ports); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err := l.awaitReady(ctx); err != nil {
		return nil, err
	}
	l.conn, err = bus.Dial(bus.Options{Address: l.address, Role: bus.RoleOperator, Name: "pacer-demo"})
	return l, err
}

// freePorts returns loopback addresses whose ports were free a moment ago.
func freePorts(n int) ([]string, error) {
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out, nil
}

func (l *Local) startUp(ports []string) error {
	log, err := os.Create(filepath.Join(l.cfg.Dir, "up.log"))
	if err != nil {
		return err
	}
	state, err := filepath.Abs(filepath.Join(l.cfg.Dir, "state"))
	if err != nil {
		return err
	}
	args := append([]string{"up", "--listen", ports[0], "--planner-http", ports[1], "--node-http", ports[2], "--state-dir", state,
		"--node-name", fmt.Sprintf("demo-%d", os.Getpid())}, l.cfg.Up...)
	l.log = log
	l.up = l.command(args...)
	l.up.Stdout, l.up.Stderr = log, log
	if err := l.up.Start(); err != nil {
		log.Close()
		return fmt.Errorf("start pacer up: %w", err)
	}
	go func() {
		_ = l.up.Wait() // Its exit code says it all.
		log.Close()
		close(l.ended)
	}()
	return nil
}

// command is a child that is told to stop if this process is killed.
func (l *Local) command(args ...string) *exec.Cmd {
	c := exec.Command(l.cfg.Pacer, args...)
	c.Env = l.cfg.Env
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return c
}

// awaitReady waits for the line of `pacer up` that says ready.
func (l *Local) awaitReady(ctx context.Context) error {
	limit := time.After(l.cfg.Ready)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.ended:
			return l.endedEarly()
		case <-limit:
			return fmt.Errorf("pacer up is not ready after %v: %s", l.cfg.Ready, l.lastLine())
		case <-tick.C:
			if isReady(l.log.Name()) {
				return nil
			}
		}
	}
}

// endedEarly is the error for a `pacer up` that has ended by itself.
func (l *Local) endedEarly() error {
	return fmt.Errorf("pacer up ended (exit code %d): %s", l.up.ProcessState.ExitCode(), l.lastLine())
}

func isReady(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		for _, word := range strings.Fields(lines.Text()) {
			if strings.Trim(word, `.:,"`) == "ready" {
				return true
			}
		}
	}
	return false
}

func (l *Local) lastLine() string {
	body, err := os.ReadFile(l.log.Name())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	return lines[len(lines)-1]
}

// Submit runs `pacer submit` with the application; its output goes to a log, of
// which the application's lines on standard output are the answer.
func (l *Local) Submit(_ context.Context, s Submission) (<-chan Outcome, error) {
	args := []string{"submit", "--pacer-planner", l.address, "--conf", "spark.pacer.submission=" + s.ID,
		"--conf", "spark.executor.memory=1g"}
	if s.Deadline > 0 {
		args = append(args, "--pacer-deadline", fmt.Sprintf("%dms", s.Deadline.Duration().Milliseconds()))
	}
	args = append(args, l.app, strconv.FormatFloat(l.cfg.Scale, 'f', -1, 64))
	log, err := os.Create(filepath.Join(l.cfg.Dir, s.Run+".log"))
	if err != nil {
		return nil, err
	}
	var answer strings.Builder
	c := l.command(args...)
	c.Stdout, c.Stderr = io.MultiWriter(&answer, log), log
	if err := c.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("start pacer submit: %w", err)
	}
	ended, over := make(chan Outcome, 1), make(chan struct{})
	l.submitted, l.driverEnd = c, over
	go func() {
		_ = c.Wait() // The exit code says it all.
		log.Close()
		close(over)
		ended <- Outcome{Code: c.ProcessState.ExitCode(), Answer: answer.String()}
	}()
	return ended, nil
}

// App asks the planner for a submission.
func (l *Local) App(ctx context.Context, submission string) (*api.AppDetail, error) {
	select {
	case <-l.ended:
		return nil, l.endedEarly()
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	reply, err := l.conn.Control(ctx, api.VerbApps, api.ControlRequest{})
	if err != nil {
		return nil, err
	}
	for _, a := range reply.Apps {
		if a.Submission == submission {
			reply, err := l.conn.Control(ctx, api.VerbApp, api.ControlRequest{App: a.ID})
			return reply.App, err
		}
	}
	return nil, nil
}

// Close stops a driver that still runs, then `pacer up`, which ends applications
// and cleans up, and waits for both. What does not stop in time is killed, which
// is an error.
func (l *Local) Close() error {
	if l.conn != nil {
		l.conn.Close()
	}
	var err error
	if l.submitted != nil {
		err = l.end("pacer submit", l.submitted, l.driverEnd)
	}
	return errors.Join(err, l.end("pacer up", l.up, l.ended))
}

func (l *Local) end(what string, c *exec.Cmd, ended <-chan struct{}) error {
	select {
	case <-ended:
		return nil
	default:
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
		return nil
	case <-time.After(l.cfg.Grace):
	}
	_ = c.Process.Kill()
	<-ended
	return fmt.Errorf("%s did not stop within %v and was killed", what, l.cfg.Grace)
}
