package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

func main() {
	var err error
	switch page := os.Getenv(executor.PageEnv); {
	case page != "":
		err = execute(page)
	case len(os.Args) == 3:
		err = drive(os.Args[1], os.Args[2])
	default:
		err = errors.New("want a credential's file and a name")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

// execute shows on the page that it is there. It uses next to nothing: the machine is an emulated one.
func execute(path string) error {
	page, err := progress.NewWriter(path, os.Getpid())
	if err != nil {
		return err
	}
	for {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return err
		}
		page.Publish(&meter.Page{At: units.Instant(now.Nano())})
		time.Sleep(500 * time.Millisecond)
	}
}

// player is a driver.
type player struct {
	name, submission string
	began            time.Time
	secret           bus.Credential // The application's.
	user, app        *bus.Conn

	// mu guards what the connections' goroutines change.
	mu     sync.Mutex
	talk   *driver.Conversation
	id     api.AppID
	listed []api.DirectiveExecutor
	up     map[api.ExecutorID]bool
	dead   string
}

// drive plays an application until SIGTERM ends it, or the planner does, which is an error.
func drive(file, name string) error {
	own, err := bus.LoadCredential(file, api.PrincipalUser)
	if err != nil {
		return err
	}
	p := &player{name: name, submission: name + "-1", began: time.Now(), secret: bus.NewCredential(""),
		talk: driver.NewConversation(), up: map[api.ExecutorID]bool{}}
	if p.user, err = bus.Dial(bus.Options{Address: bus.DefaultAddress, Credential: own, Wait: true}); err != nil {
		return err
	}
	defer p.user.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for ended := false; ; time.Sleep(250 * time.Millisecond) {
		p.mu.Lock()
		if ctx.Err() != nil && !ended {
			ended = true
			p.say(api.Event{Type: api.EventEnd})
			p.say(api.Event{Type: api.EventExit, Clean: true})
		} else if !ended {
			p.look()
		}
		r, ok := p.talk.Next(p.now())
		closed, dead := p.talk.Closed(), p.dead
		p.mu.Unlock()
		switch {
		case dead != "" && !ended:
			return errors.New(dead)
		case closed && !ended:
			return errors.New("the planner knows the application no more")
		case closed:
			return nil
		case ok:
			p.send(r)
		}
	}
}

func (p *player) now() units.Instant { return units.Instant(time.Since(p.began) + 1) }

func (p *player) say(e api.Event) {
	e.At = units.Seconds(time.Since(p.began).Seconds())
	p.talk.Say(p.now(), e)
}

// look says which executors have come and gone, as the machine's processes are.
func (p *player) look() {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	running := map[api.ExecutorID]bool{}
	for _, name := range lines {
		line, _ := os.ReadFile(name)
		for _, x := range p.listed {
			if bytes.Contains(line, []byte("--executor-id\x00"+x.ID+"\x00")) &&
				bytes.Contains(line, []byte("--app-id\x00"+p.id+"\x00")) {
				running[x.ID] = true
			}
		}
	}
	for _, x := range p.listed {
		if is := running[x.ID]; is != p.up[x.ID] {
			p.up[x.ID] = is
			e := api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x.ID}}
			if !is {
				e.Type = api.EventExecutorGone
			}
			fmt.Println(p.name, e.Type, x.ID)
			p.say(e)
		}
	}
}

// send makes a request and takes its answer.
func (p *player) send(r driver.Request) {
	ctx, cancel := context.WithTimeout(context.Background(), driver.Patience)
	defer cancel()
	if r.Register {
		reply, err := p.user.Register(ctx, api.RegisterRequest{V: api.Version, Submission: p.submission, Name: p.name,
			Key: p.secret.Key(), AppID: r.AppID, Planner: r.Planner, Elapsed: units.Seconds(time.Since(p.began).Seconds()),
			Launch: api.Launch{DriverURL: "spark://" + p.name + "@127.0.0.1:1", SparkVersion: "4.3.0", Cores: 1,
				Heap: 64 * units.MiB, OffHeapFixed: true}})
		p.mu.Lock()
		defer p.mu.Unlock()
		var refusal *api.Error
		if errors.As(err, &refusal) {
			reply.Error, err = refusal, nil
		}
		if err != nil {
			p.talk.Failed(p.now(), r.No)
			return
		}
		out := p.talk.Accept(p.now(), r.No, &reply)
		if p.perform(out); out.Fault == nil && reply.AppID != p.id {
			p.become(reply.AppID)
		}
		return
	}
	reply, err := p.app.SendEvents(ctx, api.Events{V: api.Version, AppID: r.AppID, Submission: p.submission,
		Events: r.Events})
	p.mu.Lock()
	defer p.mu.Unlock()
	var refusal *api.Error
	if errors.As(err, &refusal) {
		reply.Error, err = refusal, nil
	}
	if err != nil {
		p.talk.Failed(p.now(), r.No)
		return
	}
	p.perform(p.talk.Answer(p.now(), r.No, &reply))
}

// become connects as the application, and hears its directives.
func (p *player) become(id api.AppID) {
	p.id, p.secret.Login = id, string(id)
	conn, err := bus.Dial(bus.Options{Address: bus.DefaultAddress, Credential: p.secret, Wait: true, OnUp: p.reconnected})
	if err == nil {
		err = conn.SubscribeDirective(id, func(d api.Directive) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.talk.Heard(&d) {
				p.follow(&d)
			}
		})
	}
	if err != nil {
		p.dead = err.Error()
	}
	p.app = conn
}

func (p *player) reconnected() {
	go func() { // The first time it is called while the lock is held.
		p.mu.Lock()
		defer p.mu.Unlock()
		p.talk.Reconnected()
	}()
}

func (p *player) perform(out driver.Outcome) {
	if out.Fault != nil {
		fmt.Println(p.name, "is told:", out.Fault)
	}
	if out.Forgot { // All that it knows is told again.
		p.up = map[api.ExecutorID]bool{}
	}
	if out.Directive != nil {
		p.follow(out.Directive)
	}
	if out.Forgot {
		p.talk.Recall(p.now(), nil)
	}
}

func (p *player) follow(d *api.Directive) { p.listed, p.dead = d.Executors, d.Dead }
