package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// onNodes submits an application whose driver or components nodes are to start, and follows it to its end, or with
// --detach until it is taken.
func onNodes(ctx context.Context, l *launch) error {
	elapsed := l.deadlineClock(l.settings[confSubmitted])
	var asked api.Submit
	var files []*nodeSubmission
	register := func(at units.Seconds) (api.RegisterRequest, error) { return l.described.register(l, at) }
	if l.described == nil || l.described.spark {
		l.authenticate() // What it makes the driver's node makes, too.
		s, err := newNodeSubmission(l)
		if err != nil {
			return err
		}
		files, asked.Driver, register = append(files, s), &s.driver, s.register
	}
	if d := l.described; d != nil {
		files, asked.Group, asked.DryRun = append(files, d.files...), d.group, d.dry
	}
	if _, err := register(0); err != nil {
		return err // Before anything goes anywhere.
	}
	conn, done, err := l.planner(ctx)
	if err != nil {
		return err
	}
	defer done()
	sayAside(l.Stderr, l.aside)
	var signals chan os.Signal
	reply, err := handOver(ctx, conn, l, files, asked.DryRun, func() (api.Submit, error) {
		if signals == nil {
			signals = catchSignals() // From here on there may be something to end.
		}
		r, err := register(elapsed() + units.FromDuration(exitLag))
		asked.Register = &r
		return asked, cmp.Or(err, ctx.Err())
	})
	if signals != nil {
		defer signal.Stop(signals)
	}
	if err == nil && asked.DryRun {
		fmt.Fprintln(l.Stdout, reply.Message)
		return nil
	}
	if err != nil || len(reply.Apps) == 0 {
		return fmt.Errorf("submit: %w", err)
	}
	app := reply.Apps[0].ID
	fmt.Fprintf(l.Stderr, "pacer: %s: %s\n", app, reply.Message)
	if l.line.detach {
		fmt.Fprintf(l.Stdout, "pacer: %s was taken, detached\npacer: `pacer apps show %s` watches it, "+
			"`pacer logs %s %s -f` shows what that says, `pacer kill %s` ends it\n", app, app, app, l.described.main(), app)
		return nil
	}
	f := &following{l: l, conn: conn, app: app}
	return f.run(ctx, signals)
}

// uploadsMost is how often files go up: a planner keeps those for a while that no application is started with yet, and
// another planner that takes over may not have them.
const uploadsMost = 3

// handOver brings files to the planner, and what is asked for that is started with them.
func handOver(ctx context.Context, conn client, l *launch, files []*nodeSubmission, dry bool,
	asked func() (api.Submit, error)) (reply api.ControlReply, err error) {
	planner := &uploader{conn: conn, w: l.Stderr}
	for range uploadsMost {
		for _, s := range files {
			if s.l = l; dry {
				err = s.digests()
			} else {
				err = s.upload(ctx, planner)
			}
			if err != nil {
				return reply, err
			}
		}
		reply, err = planner.ask(ctx, api.VerbSubmit, asked)
		if api.KindOf(err) != api.KindNotFound {
			return reply, err
		}
	}
	return reply, err
}

// following is an application that is followed to its end.
type following struct {
	l    *launch
	conn client
	app  api.AppID
	// said is the last line, away that no planner answers, killed the signal that ends it, owed that none has heard it.
	said       string
	away, owed bool
	killed     syscall.Signal
}

// followState is how often it is asked how an application stands, followEnd how often while its driver exits. The
// deadline is that of pacer submit, which exits exitLag after the driver: it has to hear of that and say so.
const followState, followEnd, exitLag = 300 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond

// run returns when the application has ended, with its driver's exit code.
func (f *following) run(ctx context.Context, signals <-chan os.Signal) error {
	for {
		every := followState
		if detail := f.look(); detail != nil {
			switch f.say(detail); {
			case isOver(detail):
				return f.end(ctx, detail)
			case f.owed:
				f.kill(f.killed)
			case detail.State == api.AppEnding:
				every = followEnd
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
			if f.killed == 0 && context.Cause(ctx) == context.Canceled { // By no signal, which comes by itself.
				f.kill(syscall.SIGTERM)
			}
			ctx = context.WithoutCancel(ctx)
		case <-time.After(every):
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
	if f.owed = api.KindOf(err) == api.KindTransient; err != nil {
		reply.Message = fmt.Sprintf("%s cannot be ended: %v", f.app, err)
	}
	fmt.Fprintf(f.l.Stderr, "pacer: %s\n", reply.Message)
}

// driverOf is the row of an application's driver, or of the component with which it ends, the zero value for none.
func driverOf(a *api.AppDetail) api.AppExecutor {
	for _, x := range a.Executors {
		if x.ID.Component() {
			return x
		}
	}
	return api.AppExecutor{}
}

// failed is the row of the component that has failed, else that of driverOf.
func failed(a *api.AppDetail) api.AppExecutor {
	for _, x := range a.Executors {
		if x.ID.Component() && x.State == api.ExecutorExited && x.Exit != "" && x.Exit != "exit status 0" {
			return x
		}
	}
	return driverOf(a)
}

// role is what people call the process of a component.
func role(id api.ExecutorID) string {
	if strings.HasPrefix(string(id), string(api.DriverName)) {
		return string(api.DriverName)
	}
	return string(id)
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
		line = fmt.Sprintf("its %s starts on node %s", role(d.ID), d.Node)
	case d.State == api.ExecutorExited:
		line = fmt.Sprintf("its %s was lost with node %s, and is to begin again", role(d.ID), d.Node)
	case !d.Registered:
		line = fmt.Sprintf("its %s runs on node %s", role(d.ID), d.Node)
	default:
		line = fmt.Sprintf("runs, its %s on node %s", role(d.ID), d.Node)
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
		fmt.Fprintf(f.l.Stderr, "pacer: the last lines of its %s's %s on node %s (`pacer logs %s %s`):\n", role(d.ID),
			stream, d.Node, app, d.ID)
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
	if d := failed(a); code != 0 && f.killed == 0 && d.ID != "" {
		f.lastWords(context.WithoutCancel(ctx), a.ID, d)
	}
	if a.State == api.AppRefused {
		fmt.Fprintf(f.l.Stderr, "pacer: %s\n", a.Reason)
		return command.Coded(command.ExitInfeasible, nil)
	}
	end, err := f.ask(api.VerbExit, api.ControlRequest{Submission: f.l.settings[confSubmission], ExitCode: code,
		Elapsed: units.Seconds(a.Duration)})
	if err == nil && code != 0 && len(end.Apps) > 0 { // Its driver may not have told why.
		end.Message = end.Apps[0].Headline
	}
	if end.Message != "" {
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
