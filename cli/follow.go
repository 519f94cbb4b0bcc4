package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// onNodes submits an application whose driver a node is to start, and follows it to its end, or with --detach
// until it is taken.
func onNodes(ctx context.Context, l *launch) error {
	elapsed := l.deadlineClock(l.settings[confSubmitted])
	l.authenticate() // What it makes the driver's node makes, too.
	s, err := newNodeSubmission(l)
	if err != nil {
		return err
	}
	if _, err := s.register(0); err != nil {
		return err // Before anything goes anywhere.
	}
	conn, done, err := l.planner(ctx)
	if err != nil {
		return err
	}
	defer done()
	sayAside(l.Stderr, l.aside)
	if err := s.upload(ctx, conn); err != nil {
		return err
	}
	signals := catchSignals() // From here on there may be something to end.
	defer signal.Stop(signals)
	r, err := s.register(elapsed())
	if err != nil {
		return err
	}
	reply, err := s.ask(ctx, conn, api.VerbSubmit, func() api.Submit {
		r.Elapsed = elapsed()
		return api.Submit{Register: &r, Driver: &s.driver}
	})
	if err != nil || len(reply.Apps) == 0 {
		return fmt.Errorf("submit: %w", err)
	}
	app := reply.Apps[0].ID
	fmt.Fprintf(l.Stderr, "pacer: %s: %s\n", app, reply.Message)
	if l.line.detach {
		fmt.Fprintf(l.Stdout, "pacer: %s was taken, detached\npacer: `pacer apps show %s` watches it, "+
			"`pacer logs %s driver -f` shows what its driver says, `pacer kill %s` ends it\n", app, app, app, app)
		return nil
	}
	f := &following{l: l, conn: conn, app: app}
	return f.run(ctx, signals)
}

// following is an application that is followed to its end.
type following struct {
	l    *launch
	conn client
	app  api.AppID
	// said is the line that was said last, away that the planner did not answer, killed the signal by which it is ended.
	said   string
	away   bool
	killed syscall.Signal
}

// followState is how often it is asked how an application stands.
const followState = 300 * time.Millisecond

// run returns when the application has ended, with its driver's exit code.
func (f *following) run(ctx context.Context, signals <-chan os.Signal) error {
	for {
		if detail := f.look(); detail != nil {
			f.say(detail)
			if isOver(detail) {
				return f.end(ctx, detail)
			}
		}
		select {
		case got := <-signals:
			sig, _ := got.(syscall.Signal)
			if f.killed != 0 {
				return command.Coded(command.ExitSignal+int(sig), nil)
			}
			if sig != syscall.SIGUSR1 && sig != syscall.SIGUSR2 {
				f.kill(sig)
			}
		case <-ctx.Done():
			if f.killed == 0 {
				f.kill(syscall.SIGTERM)
			}
			ctx = context.WithoutCancel(ctx)
		case <-time.After(followState):
		}
	}
}

// ask asks the planner, whatever has become of who submits.
func (f *following) ask(verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	limit, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	return f.conn.Control(limit, verb, r)
}

// look is how the application stands, nil where that is not known now.
func (f *following) look() *api.AppDetail {
	reply, err := f.ask(api.VerbApp, api.ControlRequest{App: f.app})
	if away := err != nil || reply.App == nil; away != f.away {
		f.away = away
		if away {
			fmt.Fprintf(f.l.Stderr, "pacer: the planner does not answer now, %s goes on: %v\n", f.app, err)
		}
	}
	return reply.App
}

// kill ends the application.
func (f *following) kill(sig syscall.Signal) {
	f.killed = sig
	reply, err := f.ask(api.VerbKill, api.ControlRequest{App: f.app})
	if err != nil {
		fmt.Fprintf(f.l.Stderr, "pacer: %s cannot be ended: %v\n", f.app, err)
		return
	}
	fmt.Fprintf(f.l.Stderr, "pacer: %s\n", reply.Message)
}

// driverOf is the row of an application's driver, the zero value for none.
func driverOf(a *api.AppDetail) api.AppExecutor {
	for _, x := range a.Executors {
		if x.ID.Component() {
			return x
		}
	}
	return api.AppExecutor{}
}

// say says how the application stands where that is news.
func (f *following) say(a *api.AppDetail) {
	d, line := driverOf(a), ""
	switch {
	case a.State == api.AppQueued && a.Queue != nil:
		line = fmt.Sprintf("queued at place %d of %d: %s", a.Queue.Place, a.Queue.Of, a.Queue.Why)
	case a.State == api.AppEnding:
		line = "its context has stopped"
	case a.State != api.AppRunning:
	case d.State == api.ExecutorStarting:
		line = "its driver starts on node " + d.Node
	case d.State == api.ExecutorExited:
		line = "its driver was lost with node " + d.Node + ", and is to begin again"
	case !d.Registered:
		line = "its driver runs on node " + d.Node
	default:
		line = fmt.Sprintf("runs, its driver on node %s", d.Node)
	}
	if line != "" && line != f.said {
		f.said = line
		fmt.Fprintf(f.l.Stderr, "pacer: %s %s\n", f.app, line)
	}
}

// isOver reports whether nothing more comes of an application.
func isOver(a *api.AppDetail) bool {
	switch a.State {
	case api.AppQueued, api.AppRunning, api.AppEnding:
		return false
	case api.AppRefused:
		return true
	}
	return a.EndedBy == api.EndedByExit || driverOf(a).State == api.ExecutorExited || driverOf(a).ID == ""
}

// wordsShown is how many of the last lines of a failed driver are shown. Of a Python program Spark prints all that
// it says, its traceback too, on the driver's standard output.
const wordsShown = 20

// lastWords shows the last lines of a failed driver.
func (f *following) lastWords(ctx context.Context, app api.AppID, d api.AppExecutor) {
	for _, stream := range []string{"stderr", "stdout"} {
		fmt.Fprintf(f.l.Stderr, "pacer: the last lines of its driver's %s on node %s (`pacer logs %s %s`):\n", stream, d.Node,
			app, d.ID)
		out := &lastLines{w: command.Raw(f.l.Stderr), most: wordsShown}
		if err := f.l.copyLog(ctx, f.conn, app, d, stream, false, out); err != nil {
			fmt.Fprintf(f.l.Stderr, "pacer: it is not there: %v\n", err)
		}
	}
}

// end says how the application has ended, and returns its driver's exit code.
func (f *following) end(ctx context.Context, a *api.AppDetail) error {
	code := a.ExitCode
	if a.State == api.AppFailed && code == 0 {
		code = 1
	}
	if d := driverOf(a); code != 0 && f.killed == 0 && d.ID != "" {
		f.lastWords(context.WithoutCancel(ctx), a.ID, d)
	}
	if a.State == api.AppRefused {
		fmt.Fprintf(f.l.Stderr, "pacer: %s\n", a.Reason)
		return command.Coded(command.ExitInfeasible, nil)
	}
	end, err := f.ask(api.VerbExit, api.ControlRequest{Submission: f.l.settings[confSubmission], ExitCode: code,
		Elapsed: units.Seconds(a.Duration)})
	if err == nil && end.Message != "" {
		fmt.Fprintf(f.l.Stderr, "pacer: %s\n", end.Message)
	}
	switch {
	case f.killed != 0:
		return command.Coded(command.ExitSignal+int(f.killed), nil)
	case code != 0:
		return command.Coded(code, nil)
	}
	return nil
}
