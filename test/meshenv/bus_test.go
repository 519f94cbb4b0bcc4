package meshenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
	"github.com/sparkpacer/pacer/units"
)

// bus is a world in a bubble, whose nodes are goroutines on an embedded nats-server.
type bus struct {
	t      *testing.T
	server *server.Server
	start  time.Time
	delays des.Delays
	seed   uint64
	conns  []*nats.Conn
	loops  sync.WaitGroup
	ended  chan struct{}
}

func newBus(t *testing.T, d des.Delays, seed uint64) *bus {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, NoSystemAccount: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return &bus{t: t, server: s, start: time.Now(), delays: d, seed: seed, ended: make(chan struct{})}
}

func (b *bus) close() {
	close(b.ended)
	b.loops.Wait()
	for _, c := range b.conns {
		c.Close()
	}
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

func (b *bus) now() units.Instant { return units.Instant(time.Since(b.start)) }

func (b *bus) pass(d time.Duration) {
	<-time.NewTimer(d).C
	synctest.Wait()
}

// dialer is a function as NATS wants it.
type dialer func() (net.Conn, error)

// InProcessConn implements nats.InProcessConnProvider.
func (d dialer) InProcessConn() (net.Conn, error) { return d() }

func (b *bus) enter(n *node) {
	var away atomic.Bool
	var pipe atomic.Pointer[net.Conn]
	dial := func() (net.Conn, error) {
		if away.Load() {
			return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
		}
		c, err := b.server.InProcessConn()
		pipe.Store(&c)
		return bustest.Buffered(c), err
	}
	// What is said without a connection is lost, as on a link of the simulator.
	conn, err := nats.Connect("", nats.InProcessServer(dialer(dial)), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	if err != nil {
		b.t.Fatal(err)
	}
	b.conns = append(b.conns, conn)
	n.cut = func(cut bool) {
		if away.Store(cut); cut {
			_ = (*pipe.Load()).Close()
		}
	}
	r := des.Random(b.seed, fmt.Sprint("node ", n.self))
	n.send = func(a probe.Action) {
		subject, body := encode(b.t, a)
		for range 1 + int(r.Float64()+b.delays.Duplicate) {
			if r.Float64() >= b.delays.Loss {
				time.AfterFunc(b.delays.Delay+time.Duration(float64(b.delays.Jitter)*r.ExpFloat64()), func() {
					if err := conn.Publish(subject, body); err != nil && !errors.Is(err, nats.ErrReconnectBufExceeded) {
						b.t.Error(err)
					}
				})
			}
		}
	}
	heard, told, timer := make(chan *nats.Msg, 1<<12), make(chan probe.Message), time.NewTimer(time.Hour)
	if _, err := conn.ChanSubscribe(fmt.Sprint(n.self, ".*"), heard); err != nil {
		b.t.Fatal(err)
	}
	n.wake = func(at units.Instant) { timer.Reset(at.Sub(b.now())) }
	n.later = func(d time.Duration, m probe.Message) {
		time.AfterFunc(d, func() {
			select {
			case told <- m:
			case <-b.ended:
			}
		})
	}
	b.loops.Go(func() {
		for {
			m := probe.Message{Body: probe.Tick{}}
			select {
			case data := <-heard:
				m = decode(b.t, data)
			case m = <-told:
			case <-timer.C:
			case <-b.ended:
				return
			}
			n.step(b.now(), m)
		}
	})
}

// kinds are the types of what nodes tell each other, by name: the end of a subject.
var kinds = func() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, body := range []any{probe.Enqueue{}, probe.Rotate{}, probe.Task{}, probe.Ask{}, probe.Successors{}, probe.Ack{},
		probe.GetTask{}, probe.Finished{}, probe.Delta{}, probe.Total{}, probe.Dead(0), probe.AskRing{}} {
		all[reflect.TypeOf(body).Name()] = reflect.TypeOf(body)
	}
	return all
}()

func encode(t *testing.T, a probe.Action) (subject string, body []byte) {
	kind := reflect.TypeOf(a.Message.Body)
	body, err := json.Marshal(a.Message)
	if err != nil || kinds[kind.Name()] != kind {
		t.Errorf("%v is none of kinds, or no JSON: %v", kind, err)
	}
	return fmt.Sprint(a.To, ".", kind.Name()), body
}

func decode(t *testing.T, data *nats.Msg) (m probe.Message) {
	_, kind, _ := strings.Cut(data.Subject, ".")
	body := reflect.New(kinds[kind])
	m.Body = body.Interface()
	if err := json.Unmarshal(data.Data, &m); err != nil {
		t.Errorf("%s: %v", data.Subject, err)
	}
	m.Body = body.Elem().Interface()
	return m
}
