package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

// start runs an embedded server on a free loopback port.
func start(t *testing.T, cfg bus.ServerConfig) *bus.Server {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	s, err := bus.StartServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func dial(t *testing.T, o bus.Options) *bus.Conn {
	t.Helper()
	c, err := bus.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// inProcess returns a planner's connection to s.
func inProcess(t *testing.T, s server) *bus.Conn {
	t.Helper()
	c, err := s.Connect(bus.Options{Name: "planner"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// receive waits for something that has to come.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-within(t).Done():
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// echo is a planner that answers everything with what it was asked.
func echo(statuses chan<- api.NodeStatus) bus.Handlers {
	return bus.Handlers{
		Register: func(_ api.Principal, r api.RegisterRequest, reply func(api.RegisterReply)) {
			if r.RequireFeasible {
				reply(api.RegisterReply{V: api.Version, Error: api.Errorf(api.KindInfeasible, "too soon")})
				return
			}
			go reply(api.RegisterReply{V: api.Version, AppID: api.AppID("app-" + r.Name), Verdict: api.VerdictUnknown})
		},
		Events: func(e api.Events, reply func(api.EventsReply)) {
			reply(api.EventsReply{V: api.Version, AckedSeq: uint64(len(e.Events))})
		},
		Hello: func(s api.NodeStatus, reply func(api.HelloReply)) {
			reply(api.HelloReply{V: api.Version, Plan: api.Plan{V: api.Version, Epoch: 7, Node: s.Node}})
		},
		Status: func(s api.NodeStatus) { statuses <- s },
		Fetch: func(r api.FetchRequest, reply func(api.FetchReply)) {
			reply(api.FetchReply{V: api.Version, File: api.FilePiece{SHA256: r.File.SHA256, Data: []byte(r.Node)}})
		},
		Control: func(_ api.Principal, v api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
			switch r.App {
			case "huge":
				reply(api.ControlReply{V: api.Version, Message: strings.Repeat("x", bus.MaxPayload+1)})
			case "silent":
			case "parts":
				reply(part(r.Page.After))
			case "endless":
				reply(api.ControlReply{V: api.Version, More: "1"})
			default:
				reply(api.ControlReply{V: api.Version, Message: string(v) + " " + string(r.App)})
			}
		},
		PlanQuery: func(_ api.Principal, r api.PlanRequest, reply func(api.PlanReply)) {
			reply(api.PlanReply{V: api.Version, Reason: "about " + r.Profile})
		},
	}
}

func registration(name string) api.RegisterRequest {
	return api.RegisterRequest{V: api.Version, Submission: "u-" + name, Name: name,
		Launch: api.Launch{DriverURL: "spark://x", Heap: units.GiB}}
}

func status(node string) api.NodeStatus {
	return api.NodeStatus{V: api.Version, Node: node, Incarnation: "i", Offered: 2, Total: 2}
}

func TestEveryCallReachesItsHandler(t *testing.T) { both(t, testEveryCallReachesItsHandler) }

func testEveryCallReachesItsHandler(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	p, ctx := w.planner, within(t)
	if r, err := w.as(t, asUser("ann", api.RoleSubmit)).Register(ctx, registration("a")); err != nil || r.AppID != "app-a" {
		t.Errorf("register: %+v, %v", r, err)
	}
	driver := w.as(t, asApp("app-a"))
	if r, err := driver.Register(ctx, registration("a")); err != nil || r.AppID != "app-a" {
		t.Errorf("register again: %+v, %v", r, err)
	}
	if r, err := driver.SendEvents(ctx, api.Events{V: api.Version, AppID: "app-a", Events: []api.Event{{Seq: 1, Type: api.EventEnd}}}); err != nil || r.AckedSeq != 1 {
		t.Errorf("events: %+v, %v", r, err)
	}
	directives := make(chan api.Directive, 1)
	if err := driver.SubscribeDirective("app-a", func(d api.Directive) { directives <- d }); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(driver.Flush(ctx), p.PublishDirective("app-a", api.Directive{Epoch: 3})); err != nil {
		t.Fatal(err)
	}
	if d := receive(t, directives); d.Epoch != 3 {
		t.Errorf("directive %+v", d)
	}

	node := w.as(t, asNode("n1"))
	if r, err := node.Hello(ctx, status("n1")); err != nil || r.Plan.Epoch != 7 {
		t.Errorf("hello: %+v, %v", r, err)
	}
	plans := make(chan api.Plan, 1)
	if err := node.SubscribePlan("n1", func(p api.Plan) { plans <- p }); err != nil {
		t.Fatal(err)
	}
	if err := node.ServeLogs("n1", func(r api.LogRequest) (api.LogReply, error) {
		if r.Executor != "1" {
			return api.LogReply{}, api.Errorf(api.KindNotFound, "no executor %s", r.Executor)
		}
		return api.LogReply{Data: []byte("hello"), Next: r.Offset + 5, EOF: true}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(node.PublishStatus(status("n1")), node.Flush(ctx), p.PublishPlan(api.Plan{V: api.Version, Epoch: 8, Node: "n1"})); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, plans); got.Epoch != 8 {
		t.Errorf("plan %+v", got)
	}
	if d := cmp.Diff(status("n1"), receive(t, w.status)); d != "" {
		t.Error(d)
	}

	cli := w.as(t, asUser("ann", api.RoleView))
	for _, v := range api.Verbs() {
		if r, err := cli.Control(ctx, v, api.ControlRequest{App: "x"}); err != nil || r.Message != string(v)+" x" {
			t.Errorf("%s: %+v, %v", v, r, err)
		}
	}
	if r, err := cli.PlanQuery(ctx, api.PlanRequest{Profile: "wc"}); err != nil || r.Reason != "about wc" {
		t.Errorf("plan: %+v, %v", r, err)
	}
	if r, err := p.Logs(ctx, "n1", api.LogRequest{Executor: "1", Offset: 2}); err != nil || string(r.Data) != "hello" || r.Next != 7 {
		t.Errorf("logs: %+v, %v", r, err)
	}
	if _, err := p.Logs(ctx, "n1", api.LogRequest{Executor: "2"}); api.KindOf(err) != api.KindNotFound {
		t.Errorf("logs of a missing executor: %v", err)
	}
}

func TestErrorsKeepTheirKindAcrossTheBus(t *testing.T) { both(t, testErrorsKeepTheirKindAcrossTheBus) }

func testErrorsKeepTheirKindAcrossTheBus(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	ctx := within(t)
	c := w.as(t, asUser("ann", api.RoleSubmit))
	soon := registration("a")
	soon.RequireFeasible = true
	w.keyring.Put(asNode("ghost"))
	wrongVersion := registration("a")
	wrongVersion.V = api.Version + 1
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	for name, test := range map[string]struct {
		call func() error
		kind api.Kind
		says string
	}{
		"infeasible": {func() error { _, err := c.Register(ctx, soon); return err }, api.KindInfeasible, "too soon"},
		"version":    {func() error { _, err := c.Register(ctx, wrongVersion); return err }, api.KindVersion, fmt.Sprint(api.Version + 1)},
		"huge answer": {func() error {
			_, err := c.Control(ctx, api.VerbApp, api.ControlRequest{App: "huge"})
			return err
		}, api.KindInvalid, "larger than"},
		"huge request": {func() error {
			_, err := c.Control(ctx, api.VerbApp, api.ControlRequest{App: api.AppID(strings.Repeat("x", bus.MaxPayload))})
			return err
		}, api.KindInvalid, "larger than"},
		"silence": {func() error {
			_, err := c.Control(short, api.VerbApp, api.ControlRequest{App: "silent"})
			return err
		}, api.KindTransient, "no answer from " + w.Address()},
		"nobody there": {func() error { _, err := w.planner.Logs(ctx, "ghost", api.LogRequest{}); return err }, api.KindTransient, "nobody answers"},
		"unknown verb": {func() error { _, err := c.Control(ctx, "explode", api.ControlRequest{}); return err }, api.KindInvalid, "not known"},
		"bad node":     {func() error { _, err := c.Hello(ctx, status("a.b")); return err }, api.KindInvalid, "not valid"},
		"bad app":      {func() error { _, err := c.SendEvents(ctx, api.Events{AppID: "a.>"}); return err }, api.KindInvalid, "not valid"},
	} {
		if err := test.call(); err == nil || api.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v (%v), want %v and %q", name, err, api.KindOf(err), test.kind, test.says)
		}
	}
}

// What no client of ours sends is answered or dropped, and never reaches a handler.
func TestMalformedMessagesNeverReachAHandler(t *testing.T) {
	both(t, testMalformedMessagesNeverReachAHandler)
}

func testMalformedMessagesNeverReachAHandler(t *testing.T, run starter) {
	keyring := bus.NewKeyring()
	s := run(t, bus.ServerConfig{Keyring: keyring})
	faults := make(chan error, 8)
	p, err := s.Connect(bus.Options{OnFault: func(err error) { faults <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	statuses := make(chan api.NodeStatus, 8)
	if err := errors.Join(serve(p, keyring, echo(statuses)), p.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	user, app, node := raw(t, s, keyring.Lend(asUser("ann", api.RoleSubmit))), raw(t, s, keyring.Lend(asApp("app-1"))), raw(t, s, keyring.Lend(asNode("n1")))
	for _, request := range []struct {
		by                  *nats.Conn
		subject, body, says string
	}{
		{user, "pacer.v1.register.user-ann", "{", "not JSON"},
		{user, "pacer.v1.register.user-ann", `{"v":1,"name":5}`, "does not decode"},
		{app, "pacer.v1.app.app-1.events", `{"v":1,"app_id":"app-2"}`, `sent for "app-1"`},
		{node, "pacer.v1.node.n1.hello", `{"v":1,"node":"n2"}`, `sent for "n1"`},
		{user, "pacer.v1.control.user-ann.apps", `{"v":9}`, "version 9"},
		{app, "pacer.v1.register.app-1", `{"v":1,"name":"` + strings.Repeat("x", api.MostRegisterBytes) + `"}`, "at most 1048576"},
		{app, "pacer.v1.app.app-1.events", `{"v":1,"app_id":"app-1","reason":"` + strings.Repeat("x", api.MostEventBytes) + `"}`, "at most 2097152"},
		{user, "pacer.v1.control.user-ann.apps", `{"v":1,"cap_cores":` + strings.Repeat("9", 60<<10) + `}`, "9..."},
		{user, "pacer.v1.control.user-ann.apps", `{"v":1,"login":"` + strings.Repeat("x", 64<<10) + `"}`, "at most 65536"},
	} {
		m, err := request.by.Request(request.subject, []byte(request.body), 5*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", request.subject, err)
		}
		var reply struct{ Error *api.Error }
		if err := json.Unmarshal(m.Data, &reply); err != nil || reply.Error == nil || !strings.Contains(reply.Error.Message, request.says) {
			t.Errorf("%s %s: %s, want %q", request.subject, request.body, m.Data, request.says)
		}
	}
	if err := node.Publish("pacer.v1.node.n1.status", []byte(`{"v":1,"node":"n2"}`)); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, faults); !strings.Contains(err.Error(), "n2") {
		t.Errorf("fault %v", err)
	}
	if len(statuses) != 0 {
		t.Error("a status of another node was handled")
	}
}

func TestASlowHandlerHoldsUpOnlyItsOwnSubscription(t *testing.T) {
	both(t, testASlowHandlerHoldsUpOnlyItsOwnSubscription)
}

func testASlowHandlerHoldsUpOnlyItsOwnSubscription(t *testing.T, run starter) {
	keyring := bus.NewKeyring()
	s := run(t, bus.ServerConfig{Keyring: keyring})
	p := inProcess(t, s)
	block := make(chan struct{})
	h := echo(nil)
	h.Status = func(api.NodeStatus) { <-block }
	if err := errors.Join(serve(p, keyring, h), p.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	defer close(block)
	w := world{server: s, keyring: keyring}
	c := w.as(t, asUser("ann", api.RoleView))
	node := w.as(t, asNode("n1"))
	for range 100 {
		if err := node.PublishStatus(status("n1")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Control(within(t), api.VerbPing, api.ControlRequest{}); err != nil {
		t.Errorf("ping behind a blocked status handler: %v", err)
	}
}

func TestDialSaysThatNoPlannerAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, err = bus.Dial(bus.Options{Address: address})
	if err == nil || err.Error() != "no planner answers at "+address+": connection refused" || api.KindOf(err) != api.KindTransient {
		t.Errorf("%v", err)
	}
	if _, err := bus.Dial(bus.Options{Address: "nonsense"}); api.KindOf(err) != api.KindInvalid || err == nil {
		t.Errorf("nonsense: %v", err)
	}
}

func TestAConnectionComesBackAfterTheServerDid(t *testing.T) {
	both(t, testAConnectionComesBackAfterTheServerDid)
}

func testAConnectionComesBackAfterTheServerDid(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	p := w.planner
	up, down := make(chan bool, 8), make(chan error, 8)
	c := w.as(t, asNode("n1"), func(o *bus.Options) {
		o.OnUp, o.OnDown = func() { up <- true }, func(err error) { down <- err }
	})
	receive(t, up)
	plans := make(chan api.Plan, 1)
	if err := c.SubscribePlan("n1", func(p api.Plan) { plans <- p }); err != nil {
		t.Fatal(err)
	}
	p.Close()
	w.Close()
	receive(t, down)
	if err := c.PublishStatus(status("n1")); api.KindOf(err) != api.KindTransient || err == nil {
		t.Errorf("publish while down: %v", err)
	}
	if _, err := c.Hello(within(t), status("n1")); api.KindOf(err) != api.KindTransient || err == nil {
		t.Errorf("request while down: %v", err)
	}
	p = planner(t, run, bus.ServerConfig{Listen: w.Address(), Keyring: w.keyring}).planner
	receive(t, up)
	if _, err := c.Hello(within(t), status("n1")); err != nil {
		t.Errorf("hello after the restart: %v", err)
	}
	if err := p.PublishPlan(api.Plan{V: api.Version, Node: "n1", Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, plans); got.Epoch != 2 {
		t.Errorf("the subscription did not survive: %+v", got)
	}
}

func TestWaitConnectsToAPlannerThatComesLater(t *testing.T) {
	both(t, testWaitConnectsToAPlannerThatComesLater)
}

func testWaitConnectsToAPlannerThatComesLater(t *testing.T, run starter) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	up := make(chan bool, 1)
	keyring := bus.NewKeyring()
	c := dial(t, bus.Options{Address: address, Credential: keyring.Lend(asUser("ann", api.RoleView)), Wait: true, OnUp: func() { up <- true }})
	if c.Connected() {
		t.Error("connected to nobody")
	}
	planner(t, run, bus.ServerConfig{Listen: address, Keyring: keyring})
	receive(t, up)
	if _, err := c.Control(within(t), api.VerbPing, api.ControlRequest{}); err != nil {
		t.Error(err)
	}
}

func TestASecondServerOnTheSamePortSaysSo(t *testing.T) {
	s := start(t, bus.ServerConfig{})
	_, err := bus.StartServer(bus.ServerConfig{Listen: s.Address()})
	if err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), s.Address()) {
		t.Errorf("%v", err)
	}
}

func TestAForeignAddressNeedsTLS(t *testing.T) {
	for listen, wants := range map[string]string{
		"127.0.0.1:4222": "", "localhost:0": "", "[::1]:4222": "", "": "",
		"0.0.0.0:4222": "pacer auth init NAME", ":4222": "pacer auth init NAME", "10.1.2.3:4222": "pacer auth init 10.1.2.3",
		"127.0.0.1": "host:port", "127.0.0.1:http": "port",
	} {
		err := bus.ServerConfig{Listen: listen}.Validate()
		if (wants == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), wants)) {
			t.Errorf("%s: %v, want %q", listen, err, wants)
		}
	}
	for _, c := range []bus.ServerConfig{
		{Listen: "0.0.0.0:0", TLS: bus.TLS{Cert: "cert", Key: "key"}},
		{Listen: "0.0.0.0:0", Plaintext: true},
	} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	keyring := bus.NewKeyring()
	s, err := bus.StartServer(bus.ServerConfig{Listen: "127.0.0.1:0", Keyring: keyring})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	p, err := s.Connect(bus.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	if err := serve(p, keyring, echo(nil)); err != nil {
		b.Fatal(err)
	}
	c, err := bus.Dial(bus.Options{Address: s.Address(), Credential: keyring.Lend(asUser("ann", api.RoleView))})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for b.Loop() {
		if _, err := c.Control(b.Context(), api.VerbPing, api.ControlRequest{}); err != nil {
			b.Fatal(err)
		}
	}
}

// serve has c answer those that keyring knows as a planner, to the end of the test.
func serve(c *bus.Conn, keyring *bus.Keyring, h bus.Handlers) error {
	_, err := bus.ServePlanner(c, keyring, h)
	return err
}
