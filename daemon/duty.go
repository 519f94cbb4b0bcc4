package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// duty has a planner serve while it is the one on its bus that does (planner.Peers), and
// stand by otherwise. It is the planner's way to nodes and drivers: one that stands by says
// nothing.
type duty struct {
	conn     *bus.Conn
	keyring  *bus.Keyring
	own      bus.Credential // With which a nats-server asks whom it may let in; none without.
	handlers bus.Handlers
	// holds reports whether the store is this planner's: one that does not know that says nothing.
	holds func() bool
	log   *slog.Logger
	start time.Time
	// begun is closed when it first serves or stands by; served when it first serves.
	begun, served       chan struct{}
	beginOnce, servedAt sync.Once

	mu    sync.Mutex
	peers *planner.Peers
	other string // Whom it has said to stand by for.
	stop  func() // Ends what it has subscribed to; nil while it stands by.
}

// newDuty returns the duty of a planner on conn, which answers those whom who knows, and a
// nats-server that asks with its own credential. It serves from the beginning, or only when nobody else does.
func newDuty(conn *bus.Conn, who *plannerAccess, engine *planner.Engine, serves bool, holds func() bool, log *slog.Logger) *duty {
	host, _ := os.Hostname()
	d := &duty{conn: conn, keyring: who.keyring, own: who.own, holds: holds, log: log, start: time.Now(), begun: make(chan struct{}), served: make(chan struct{})}
	self := api.Presence{Planner: engine.Identity(), Term: engine.Term(), Process: rand.Text(), Host: host}
	d.peers = planner.NewPeers(d.now(), self, serves)
	return d
}

func (d *duty) now() units.Instant { return units.Instant(time.Since(d.start)) }

// PublishPlan implements planner.Publisher.
func (d *duty) PublishPlan(p api.Plan) error {
	if !d.serving() {
		return nil
	}
	return d.conn.PublishPlan(p)
}

// PublishDirective implements planner.Publisher.
func (d *duty) PublishDirective(app api.AppID, directive api.Directive) error {
	if !d.serving() {
		return nil
	}
	return d.conn.PublishDirective(app, directive)
}

// Deaf implements planner.Publisher.
func (d *duty) Deaf() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.peers.Deaf(d.now())
}

func (d *duty) serving() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.peers.Serving() && d.holds()
}

// run asks who serves until ctx ends, and does what comes of the answers.
func (d *duty) run(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	tell := func(change func(now units.Instant)) {
		d.mu.Lock()
		change(d.now())
		d.mu.Unlock()
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	defer d.end()
	ask, quit, err := bus.AskPresence(d.conn,
		func(p api.Presence) { tell(func(now units.Instant) { d.peers.Heard(now, p) }) },
		func() { tell(d.peers.Nobody) })
	if err != nil {
		return err
	}
	defer quit()
	ticker := time.NewTicker(planner.AskEvery)
	defer ticker.Stop()
	for {
		switch {
		case !d.conn.Connected() || ask() != nil:
			tell(func(units.Instant) { d.peers.Cut() })
		default:
			tell(d.peers.Asked)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				if err := d.follow(); err != nil {
					return err
				}
			case <-ticker.C:
				waiting = false
			}
		}
	}
}

// end ends what the planner has subscribed to.
func (d *duty) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
}

// follow subscribes, or ends that, by whether the planner serves.
func (d *duty) follow() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	other, stands := d.peers.Other()
	switch serves := d.peers.Serving(); {
	case serves && d.stop == nil:
		return d.serve()
	case !serves && d.stop != nil:
		d.stop()
		d.stop = nil
	}
	if stands && other.Process != d.other {
		d.other = other.Process
		d.log.Warn("another planner serves on this bus: this one stands by until it is gone", "planner", other.Planner, "host", other.Host, "serving", other.Serving.Duration().Round(time.Second))
	}
	if stands {
		d.beginOnce.Do(func() { close(d.begun) })
	}
	return nil
}

// serve subscribes to what a planner answers; d is locked.
func (d *duty) serve() error {
	serves, err := bus.ServePlanner(d.conn, d.keyring, d.handlers)
	if err != nil {
		return err
	}
	answers, err := bus.AnswerPresence(d.conn, func() (api.Presence, bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		answer, ok := d.peers.Answer(d.now())
		return answer, ok && d.holds()
	})
	if err != nil {
		serves()
		return err
	}
	asked := func() {}
	if d.own.Login != "" {
		if asked, err = bus.ServeAuthorization(d.conn, d.keyring, d.own); err != nil {
			serves()
			answers()
			return err
		}
	}
	if d.other != "" {
		d.log.Info("the other planner is gone: this one serves")
	}
	d.other, d.stop = "", func() { serves(); answers(); asked() }
	d.servedAt.Do(func() { close(d.served) })
	d.beginOnce.Do(func() { close(d.begun) })
	return nil
}

// standsBy says whom the planner stands by for, "" if it serves.
func (d *duty) standsBy() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	other, ok := d.peers.Other()
	if !ok {
		return ""
	}
	return fmt.Sprintf("planner %s on host %s", other.Planner, other.Host)
}
