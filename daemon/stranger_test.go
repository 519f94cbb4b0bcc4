package daemon_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

// speaker has a driver's conversation over the connections that NatsTransport would have.
type speaker struct {
	t         *testing.T
	talk      *driver.Conversation
	began     time.Time
	user, app *bus.Conn // app is nil before it is registered, and after it has left.
	own       func(api.AppID) *bus.Conn
	key       bus.Credential
	left      int
}

func (s *speaker) now() units.Instant { return units.Instant(time.Since(s.began)) }

// step makes the request that is due, if one is.
func (s *speaker) step() {
	r, ok := s.talk.Next(s.now())
	if !ok {
		<-time.After(min(20*time.Millisecond, max(0, s.talk.Wake().Sub(s.now()))))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), driver.Patience)
	defer cancel()
	conn := s.app
	if conn == nil {
		conn = s.user
	}
	if !r.Register {
		reply, err := conn.SendEvents(ctx, api.Events{V: api.Version, AppID: r.AppID, Submission: "u1", Events: r.Events})
		if reply.Error = refusal(err); err != nil && reply.Error == nil {
			s.talk.Failed(s.now(), r.No)
			return
		}
		s.talk.Answer(s.now(), r.No, &reply)
		return
	}
	reply, err := conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: "u1", Name: "wc", Key: s.key.Key(),
		AppID: r.AppID, Launch: api.Launch{DriverURL: "spark://x", Heap: units.GiB, SparkVersion: "4.2.0"}})
	if reply.Error = refusal(err); err != nil && reply.Error == nil {
		s.talk.Failed(s.now(), r.No)
		return
	}
	out := s.talk.Accept(s.now(), r.No, &reply)
	if out.Forgot {
		s.talk.Recall(s.now(), nil)
	}
	switch {
	case out.Leave && s.app != nil:
		s.left++
		s.app.Close()
		s.app = nil
	case out.Fault == nil && reply.Own && s.app == nil:
		s.app = s.own(reply.AppID)
	}
}

func refusal(err error) *api.Error {
	var said *api.Error
	if errors.As(err, &said) && said.Kind != api.KindTransient {
		return said
	}
	return nil
}

// until has the driver speak until it is so.
func (s *speaker) until(what string, so func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); s.step() {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: not within a minute", what)
		}
	}
}

// A nats-server of one's own keeps the connection of an application when a planner takes the
// place of one whose state is lost, and that planner does not know whose it is: the driver goes
// back to its user's login, has the application taken over, and is that again.
func TestADriverOfALostPlannerIsItsUserAgain(t *testing.T) {
	x := newExternal(t)
	s := &speaker{t: t, talk: driver.NewConversation(), began: time.Now(), key: bus.NewCredential("")}
	s.user = x.dial(own(t, x.p, x.server.URL()))
	s.own = func(id api.AppID) *bus.Conn { return x.dial(bus.Credential{Login: string(id), Secret: s.key.Secret}) }
	s.until("the registration", func() bool { return s.app != nil })
	first := s.app
	s.talk.Say(s.now(), api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}})
	h := soon(t, "an executor", x.w.started)

	if err := x.stopPlanner(); err != nil {
		t.Error(err)
	}
	x.server.Forget()
	if err := os.Remove(filepath.Join(x.p.State, "planner.shared")); err != nil {
		t.Fatal(err)
	}
	x.startPlanner()
	s.until("another connection as the application", func() bool { return s.left > 0 && s.app != nil && s.app != first })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if r, err := s.user.Control(ctx, api.VerbApps, api.ControlRequest{}); err != nil || len(r.Apps) != 1 || r.Apps[0].ID != h.App {
		t.Errorf("the planner knows %+v (%v), want %s alone", r.Apps, err, h.App)
	}
	if err := errors.Join(x.stopNode(), x.stopPlanner()); err != nil {
		t.Error(err)
	}
}
