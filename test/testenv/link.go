package testenv

import (
	"sync/atomic"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/infra/bus"
)

// link is a driver's connection, as NatsTransport has it: as its user until the application is
// registered, then as the application, for as long as the planner takes that.
type link struct {
	driver *Driver
	// secret is the application's, whatever it is called.
	secret bus.Credential
	conn   *bus.Conn
	// app is as what application it is connected, "" as the user.
	app api.AppID
	// refused says that the planner does not know the application.
	refused *atomic.Bool
}

func newLink(d *Driver) link {
	return link{driver: d, secret: bus.NewCredential(""), refused: &atomic.Bool{}}
}

// asUser connects as the user.
func (l *link) asUser() error {
	conn, err := l.driver.env.asUser(bus.Options{Wait: true, OnUp: l.driver.reconnected})
	if err == nil {
		l.replace(conn, "")
	}
	return err
}

// become connects as an application that was registered, and hears its directives.
func (l *link) become(id api.AppID) error {
	if l.app == id {
		return nil
	}
	mine, refused, first := l.secret, l.refused, true
	mine.Login = string(id)
	conn, err := l.driver.env.dial(bus.Options{Credential: mine, Wait: true,
		OnUp: func() {
			if !first { // It has just been registered.
				l.driver.reconnected()
			}
			first = false
		},
		OnFault: func(err error) {
			if api.KindOf(err) == api.KindDenied {
				refused.Store(true)
			}
		}})
	if err != nil {
		return err
	}
	l.replace(conn, id)
	return conn.SubscribeDirective(id, l.driver.hear)
}

func (l *link) replace(conn *bus.Conn, id api.AppID) {
	l.close()
	l.conn, l.app = conn, id
	l.refused.Store(false)
}

// leave has the next request go over a connection of the user's.
func (l *link) leave() { l.refused.Store(l.app != "") }

// speaks reports whether the connection can carry a request: events are the application's. It
// goes back to the user where the planner does not know the application.
func (l *link) speaks(r driver.Request) bool {
	if l.refused.Load() && l.asUser() != nil {
		return false
	}
	return r.Register || l.app != ""
}

func (l *link) close() {
	if l.conn != nil {
		l.conn.Close()
	}
}
