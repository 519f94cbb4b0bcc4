package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/infra/bus"
)

// LocalConfig says how a Local is started.
type LocalConfig struct {
	// Pacer is the path of the pacer binary.
	Pacer string
	// Dir holds the state of the daemons, the logs and the application. It is removed
	// first if an earlier demonstration has made it; else it has to be empty or missing.
	Dir string
	// Env is the environment of all that is started.
	Env []string
	// Scale is the application's argument.
	Scale float64
	// Ready is how long `pacer up` may take, Grace how long it may take to stop.
	Ready, Grace time.Duration
}

// Local is a Pacer on this machine, started for the demonstration: `pacer up` as
// a child process on free loopback ports. Its node has a name of its own, so that it
// shares no cgroup with a node controller that runs already.
type Local struct {
	cfg    LocalConfig
	system sparkrun.System
	app    string
	up     *sparkrun.Process
	conn   *bus.Conn
	// submitted is the newest `pacer submit`.
	submitted *sparkrun.Process
}

// StartLocal brings up a planner and a node controller and waits until they are
// usable. On an error nothing is left running.
func StartLocal(ctx context.Context, cfg LocalConfig) (_ *Local, err error) {
	if err := fresh(cfg.Dir); err != nil {
		return nil, err
	}
	l := &Local{cfg: cfg, app: filepath.Join(cfg.Dir, "app.py")}
	if err := os.WriteFile(l.app, App, 0o644); err != nil {
		return nil, err
	}
	l.system = sparkrun.System{Pacer: cfg.Pacer, Env: cfg.Env, Node: fmt.Sprintf("demo-%d", os.Getpid())}
	if l.system.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, err
	}
	if l.system.Address, err = sparkrun.FreePort(); err != nil {
		return nil, err
	}
	if err := l.startUp(ctx); err != nil {
		return nil, fmt.Errorf("pacer up: %w", err)
	}
	own, err := bus.LoadCredential(bus.CredentialPath(l.system.Credentials(), l.system.Address), api.PrincipalUser)
	if err == nil {
		l.conn, err = bus.Dial(bus.Options{Address: l.system.Address, Credential: own, Name: "pacer-demo"})
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// mark is a file in the directories that demonstrations have made.
const mark = ".made-by-pacer-demo"

// fresh makes an empty directory with the mark in it, in the place of one that an earlier
// demonstration has made. A directory without the mark is left as it is.
func fresh(dir string) error {
	there, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ours := slices.ContainsFunc(there, func(e os.DirEntry) bool { return e.Name() == mark })
	if len(there) > 0 && !ours {
		return fmt.Errorf("%s is there and no demonstration has made it: remove it, or give another --out", dir)
	}
	if ours {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("clear %s: %w", dir, err)
		}
	}
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, mark), nil, 0o644))
}

func (l *Local) startUp(ctx context.Context) error {
	c, err := l.system.Up()
	if err != nil {
		return err
	}
	if c.Log, err = os.Create(filepath.Join(l.cfg.Dir, "up.log")); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Ready)
	defer cancel()
	l.up, err = sparkrun.Daemon(ctx, c, l.cfg.Grace)
	return err
}

// Submit runs `pacer submit` with the application; its output goes to a log, of
// which the application's lines on standard output are the answer.
func (l *Local) Submit(_ context.Context, s Submission) (<-chan Outcome, error) {
	flags := []string{"--conf", "spark.pacer.submission=" + s.ID, "--conf", "spark.executor.memory=1g"}
	if s.Deadline > 0 {
		flags = append(flags, "--pacer-deadline", fmt.Sprintf("%dms", s.Deadline.Duration().Milliseconds()))
	}
	c := l.system.Submit(append(flags, l.app, strconv.FormatFloat(l.cfg.Scale, 'f', -1, 64))...)
	var err error
	if c.Log, err = os.Create(filepath.Join(l.cfg.Dir, s.Run+".log")); err != nil {
		return nil, err
	}
	p, err := sparkrun.Start(c)
	if err != nil {
		return nil, fmt.Errorf("pacer submit: %w", err)
	}
	l.submitted = p
	ended := make(chan Outcome, 1)
	go func() {
		code, err := p.Code(context.Background())
		if err != nil {
			code = -1
		}
		ended <- Outcome{Code: code, Answer: p.Answer()}
	}()
	return ended, nil
}

// App asks the planner for a submission.
func (l *Local) App(ctx context.Context, submission string) (*api.AppDetail, error) {
	select {
	case <-l.up.Done():
		return nil, fmt.Errorf("pacer up ended: %s", l.up.LastWords())
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

// Web is a code for a session on the planner's page.
func (l *Local) Web(ctx context.Context) (*api.WebCode, error) {
	reply, err := l.conn.Control(ctx, api.VerbWeb, api.ControlRequest{})
	return reply.Web, err
}

// Close stops a driver that still runs, then `pacer up`, which ends applications
// and cleans up, and waits for both. A process that does not stop in time is killed, which is an error.
func (l *Local) Close() error {
	if l.conn != nil {
		l.conn.Close()
	}
	var err error
	if l.submitted != nil {
		err = l.submitted.Stop(l.cfg.Grace)
	}
	return errors.Join(err, l.up.Stop(l.cfg.Grace))
}
