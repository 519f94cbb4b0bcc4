package planner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/planner"
)

// ports is a store and a publisher in memory that write down the order of what
// happens, and fail when they are told to.
type ports struct {
	deaf      atomic.Bool
	mu        sync.Mutex
	disk      map[string][]byte
	journal   []string
	said      []string
	storeErr  error
	publicErr error
	refused   string // Keys that begin with it are refused, unless it is "".
}

// refuse has the store never take keys that begin so.
func (p *ports) refuse(prefix string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = prefix
}

// fail sets what the store and the publisher return from now on.
func (p *ports) fail(store, public error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.storeErr, p.publicErr = store, public
}

func (p *ports) faults() (store, public error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.storeErr, p.publicErr
}

func (p *ports) hear(c ledger.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if line := c.Line(); line.Text != "" {
		p.said = append(p.said, line.Name)
	}
}

// heard is all that was said so far.
func (p *ports) heard() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, ",")
}

// stored reports whether key is on the disk.
func (p *ports) stored(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.disk[key] != nil
}

func (p *ports) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.journal = append(p.journal, fmt.Sprintf(format, args...))
}

func (p *ports) Apply(changes []api.Pair) error {
	p.note("store")
	if err, _ := p.faults(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var bad []string
	for _, c := range changes {
		if p.refused != "" && strings.HasPrefix(c.Key, p.refused) {
			bad = append(bad, c.Key)
		}
	}
	if bad != nil {
		return fmt.Errorf("store: %w", &api.RefusedError{Keys: bad, Why: "it is not liked"})
	}
	for _, c := range changes {
		if c.Value == nil {
			delete(p.disk, c.Key)
		} else {
			p.disk[c.Key] = c.Value
		}
	}
	return nil
}

func (p *ports) PublishPlan(plan api.Plan) error {
	p.note("plan %s", plan.Node)
	_, err := p.faults()
	return err
}

func (p *ports) PublishDirective(id api.AppID, _ api.Directive) error {
	p.note("directive")
	_, err := p.faults()
	return err
}

func (p *ports) Deaf() bool { return p.deaf.Load() }

func (p *ports) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.journal
	p.journal = nil
	return j
}

// withLoop runs test beside a loop, under a clock of its own.
func withLoop(t *testing.T, test func(l *planner.Loop, p *ports, stop func())) {
	t.Helper()
	withLoopOn(t, map[string][]byte{}, test)
}

// withLoopOn is withLoop of a planner that goes on from a store, which is its own.
func withLoopOn(t *testing.T, disk map[string][]byte, test func(l *planner.Loop, p *ports, stop func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &ports{disk: disk}
		e, err := planner.New(planner.Default(), (&world{disk: disk}).records())
		if err != nil {
			t.Fatal(err)
		}
		l := planner.NewLoop(e, p, p, p.hear)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		stop := func() {
			cancel()
			synctest.Wait()
		}
		test(l, p, stop)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

func nodeStatus(seq uint64) api.NodeStatus {
	w := world{seq: map[string]uint64{"a": seq - 1}}
	return w.status("a")
}

func TestLoopStoresThenPublishesThenReplies(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		l.Hello(nodeStatus(1), func(r api.HelloReply) { p.note("hello %d", r.Plan.Epoch) })
		synctest.Wait()
		if got := strings.Join(p.take(), ", "); got != "store, plan a, hello 1" {
			t.Errorf("journal: %s", got)
		}
		l.Register(api.Principal{}, registration("p", 0), func(r api.RegisterReply) { p.note("registered %v", r.Error) })
		synctest.Wait()
		if got := strings.Join(p.take(), ", "); got != "store, plan a, directive, registered <nil>" {
			t.Errorf("journal: %s", got)
		}
		l.Plan(api.Principal{}, api.PlanRequest{V: api.Version, Profile: "none"}, func(r api.PlanReply) { p.note("plan %s", r.Error.Kind) })
		synctest.Wait()
		l.Control(api.Principal{}, api.VerbPing, api.ControlRequest{V: api.Version}, func(r api.ControlReply) { p.note("ping %v", r.Error) })
		synctest.Wait()
		if got := strings.Join(p.take(), ", "); got != "plan not found, ping <nil>" {
			t.Errorf("journal: %s", got)
		}
	})
}

func TestLoopSharesOneSyncAmongWaitingRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &ports{disk: map[string][]byte{}}
		e, err := planner.New(planner.Default(), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := planner.NewLoop(e, p, p, nil)
		replies := 0
		l.Hello(nodeStatus(1), func(api.HelloReply) { replies++ })
		for k := range 50 {
			l.Register(api.Principal{}, registration(fmt.Sprint(k), 0), func(api.RegisterReply) { replies++ })
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = l.Run(ctx) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		stores, plans := 0, 0
		for _, entry := range p.journal {
			if entry == "store" {
				stores++
			}
			if entry == "plan a" {
				plans++
			}
		}
		if replies != 51 || stores != 1 || plans != 1 {
			t.Errorf("%d replies, %d syncs, %d plans; want 51, 1, 1", replies, stores, plans)
		}
	})
}

func TestLoopSaysNothingThatIsNotStored(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		p.fail(errors.New("disk full"), nil)
		var reply api.HelloReply
		l.Hello(nodeStatus(1), func(r api.HelloReply) { reply = r })
		synctest.Wait()
		if reply.Error == nil || reply.Error.Kind != api.KindTransient || strings.Contains(strings.Join(p.take(), " "), "plan") {
			t.Errorf("with a full disk: %+v", reply)
		}
		if err := l.Alive(); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("alive: %v", err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := strings.Count(p.heard(), "store failed"); n != 1 {
			t.Errorf("said %d times, want once", n)
		}
		p.fail(nil, nil)
		p.take()
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if got := strings.Join(p.take(), ", "); got != "store, plan a" || !p.stored("plan/a") {
			t.Errorf("when there is room again: %s", got)
		}
		if err := l.Alive(); err != nil {
			t.Errorf("alive: %v", err)
		}
	})
}

// A planner that cannot store refuses what it would have to keep, shows what there is, and
// goes on to hear drivers and nodes.
func TestAPlannerThatCannotStoreIsReadOnly(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		l.Hello(nodeStatus(1), func(api.HelloReply) {})
		var app api.RegisterReply
		l.Register(api.Principal{}, registration("p", 0), func(r api.RegisterReply) { app = r })
		synctest.Wait()
		p.fail(errors.New("sync: input/output error"), nil)
		beat := func() (r api.EventsReply) {
			l.Events(api.Events{V: api.Version, AppID: app.AppID, Submission: registration("p", 0).Submission}, func(a api.EventsReply) { r = a })
			synctest.Wait()
			return r
		}
		said := func(err *api.Error) bool {
			return err != nil && err.Kind == api.KindTransient && strings.HasPrefix(err.Message, "read-only: ") && strings.Contains(err.Message, "input/output error")
		}
		// The first that has to be stored finds out; the others are refused without a trace.
		for _, name := range []string{"q", "r"} {
			other := registration(name, 0)
			other.Submission = name
			var r api.RegisterReply
			l.Register(api.Principal{}, other, func(a api.RegisterReply) { r = a })
			synctest.Wait()
			if !said(r.Error) {
				t.Errorf("registration: %+v", r)
			}
		}
		var killed, listed api.ControlReply
		l.Control(api.Principal{}, api.VerbKill, api.ControlRequest{V: api.Version, App: app.AppID}, func(r api.ControlReply) { killed = r })
		l.Control(api.Principal{}, api.VerbApps, api.ControlRequest{V: api.Version}, func(r api.ControlReply) { listed = r })
		synctest.Wait()
		if !said(killed.Error) {
			t.Errorf("kill: %+v", killed)
		}
		of := func(profile string) bool {
			return slices.ContainsFunc(listed.Apps, func(a api.AppSummary) bool { return a.Profile == profile })
		}
		if listed.Error != nil || !of("p") || of("r") {
			t.Errorf("list: %+v", listed)
		}
		if err := l.Alive(); err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("alive: %v", err)
		}
		for range 60 { // Longer than a silent driver is waited for.
			time.Sleep(time.Second)
			beat()
		}
		p.fail(nil, nil)
		time.Sleep(300 * time.Millisecond)
		if r := beat(); r.Error != nil {
			t.Errorf("events, when it can store again: %v", r.Error)
		}
		l.Control(api.Principal{}, api.VerbApp, api.ControlRequest{V: api.Version, App: app.AppID}, func(r api.ControlReply) {
			if r.Error != nil || r.App.State != api.AppRunning {
				t.Errorf("the application that ran: %+v", r)
			}
		})
		synctest.Wait()
		if !strings.Contains(p.heard(), "store works") {
			t.Errorf("heard %s", p.heard())
		}
	})
}

// A change that a store refuses for its own sake is dropped with a line, and stops nobody: all else
// is stored, promised and answered.
func TestAChangeThatNoStoreTakesIsDropped(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		l.Hello(nodeStatus(1), func(api.HelloReply) {})
		synctest.Wait()
		p.refuse("profile/")
		var put api.ControlReply
		var app api.RegisterReply
		body := ledgertest.Chain("p")
		l.Control(api.Principal{}, api.VerbProfilePut, api.ControlRequest{V: api.Version, Body: &body}, func(r api.ControlReply) { put = r })
		l.Register(api.Principal{}, registration("q", 0), func(r api.RegisterReply) { app = r })
		synctest.Wait()
		if put.Error != nil || app.Error != nil || !p.stored("app/"+string(app.AppID)) || p.stored("profile/p") {
			t.Errorf("%+v, %+v", put, app)
		}
		if err := l.Alive(); err != nil || strings.Count(p.heard(), "record lost") != 1 || strings.Contains(p.heard(), "store failed") {
			t.Errorf("%v, heard %s", err, p.heard())
		}
		time.Sleep(10 * time.Second)
		if strings.Count(p.heard(), "record lost") != 1 {
			t.Errorf("later, heard %s", p.heard())
		}
	})
}

func TestLoopLetsTimePass(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		l.Hello(nodeStatus(1), func(api.HelloReply) {})
		var id api.AppID
		l.Register(api.Principal{}, registration("p", 0), func(r api.RegisterReply) { id = r.AppID })
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		state := func() (s api.AppState) {
			l.Control(api.Principal{}, api.VerbApp, api.ControlRequest{V: api.Version, App: id}, func(r api.ControlReply) { s = r.App.State })
			synctest.Wait()
			return s
		}
		if s := state(); s != api.AppRunning {
			t.Errorf("after 59 min of silence: %s", s)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if s := state(); s != api.AppFailed {
			t.Errorf("after 61 min of silence, of its node, too: %s", s)
		}
	})
}

func TestLoopThatCannotPublishGoesOn(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		p.fail(nil, errors.New("not connected"))
		answered := false
		l.Hello(nodeStatus(1), func(r api.HelloReply) { answered = r.Error == nil })
		synctest.Wait()
		if !answered || p.heard() != "node joined,publish failed" {
			t.Errorf("answered %v, said %v", answered, p.heard())
		}
		p.fail(nil, nil)
		p.take()
		time.Sleep(1600 * time.Millisecond)
		synctest.Wait()
		l.Status(nodeStatus(2)) // It still follows no plan.
		synctest.Wait()
		if got := strings.Join(p.take(), ", "); got != "plan a" {
			t.Errorf("journal: %s, want the plan again", got)
		}
	})
}

func TestLoopAnswersEverybodyWhenItStops(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		stop()
		for k := range 3 {
			l.Events(api.Events{}, func(r api.EventsReply) { p.note("%d %s", k, r.Error.Kind) })
		}
		synctest.Wait()
		if got := strings.Join(p.take(), ", "); got != "0 transient, 1 transient, 2 transient" {
			t.Errorf("journal: %s", got)
		}
		l.Status(nodeStatus(1))
	})
}

func TestLoopThatDoesNotTurnIsNotAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := planner.New(planner.Default(), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := planner.NewLoop(e, &ports{}, &ports{}, nil)
		if err := l.Alive(); err != nil {
			t.Errorf("at its start: %v", err)
		}
		time.Sleep(6 * time.Second)
		if err := l.Alive(); err == nil {
			t.Error("alive without a turn for 6 s")
		}
	})
}

// While nobody can be heard nobody is missed.
func TestADeafLoopMissesNobody(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		l.Hello(nodeStatus(1), func(api.HelloReply) {})
		p.deaf.Store(true)
		time.Sleep(10 * time.Minute)
		if said := p.heard(); strings.Contains(said, "node lost") {
			t.Errorf("a deaf planner says %s", said)
		}
		p.deaf.Store(false)
		time.Sleep(11 * time.Second)
		if said := p.heard(); !strings.Contains(said, "node lost") {
			t.Errorf("one that hears says %s", said)
		}
	})
}
