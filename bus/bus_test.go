package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
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
		Register: func(r api.RegisterRequest, reply func(api.RegisterReply)) {
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
		Control: func(v api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
			switch r.App {
			case "huge":
				reply(api.ControlReply{V: api.Version, Message: strings.Repeat("x", bus.MaxPayload+1)})
			case "silent":
			default:
				reply(api.ControlReply{V: api.Version, Message: string(v) + " " + string(r.App)})
			}
		},
		PlanQuery: func(r api.PlanRequest, reply func(api.PlanReply)) {
			reply(api.PlanReply{V: api.Version, Reason: "about " + r.Profile})
		},
	}
}

// planner serves echo on a new server.
func planner(t *testing.T, run starter, cfg bus.ServerConfig) (server, *bus.Conn, chan api.NodeStatus) {
	t.Helper()
	s := run(t, cfg)
	c := inProcess(t, s)
	statuses := make(chan api.NodeStatus, 64)
	if err := serve(c, echo(statuses)); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(within(t)); err != nil {
		t.Fatal(err)
	}
	return s, c, statuses
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
	s, p, statuses := planner(t, run, bus.ServerConfig{})
	ctx := within(t)
	driver := dial(t, bus.Options{Address: s.Address(), Role: bus.RoleApplication})
	if r, err := driver.Register(ctx, registration("a")); err != nil || r.AppID != "app-a" {
		t.Errorf("register: %+v, %v", r, err)
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

	node := dial(t, bus.Options{Address: s.Address(), Role: bus.RoleNode})
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
	if d := cmp.Diff(status("n1"), receive(t, statuses)); d != "" {
		t.Error(d)
	}

	cli := dial(t, bus.Options{Address: s.Address(), Role: bus.RoleOperator})
	for _, v := range api.Verbs() {
		if r, err := cli.Control(ctx, v, api.ControlRequest{App: "x"}); err != nil || r.Message != string(v)+" x" {
			t.Errorf("%s: %+v, %v", v, r, err)
		}
	}
	if r, err := cli.PlanQuery(ctx, api.PlanRequest{Profile: "wc"}); err != nil || r.Reason != "about wc" {
		t.Errorf("plan: %+v, %v", r, err)
	}
	if r, err := cli.Logs(ctx, "n1", api.LogRequest{Executor: "1", Offset: 2}); err != nil || string(r.Data) != "hello" || r.Next != 7 {
		t.Errorf("logs: %+v, %v", r, err)
	}
	if _, err := cli.Logs(ctx, "n1", api.LogRequest{Executor: "2"}); api.KindOf(err) != api.KindNotFound {
		t.Errorf("logs of a missing executor: %v", err)
	}
}

func TestErrorsKeepTheirKindAcrossTheBus(t *testing.T) { both(t, testErrorsKeepTheirKindAcrossTheBus) }

func testErrorsKeepTheirKindAcrossTheBus(t *testing.T, run starter) {
	s, _, _ := planner(t, run, bus.ServerConfig{})
	ctx := within(t)
	c := dial(t, bus.Options{Address: s.Address()})
	soon := registration("a")
	soon.RequireFeasible = true
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
		}, api.KindTransient, "no answer from " + s.Address()},
		"nobody there": {func() error { _, err := c.Logs(ctx, "ghost", api.LogRequest{}); return err }, api.KindTransient, "nobody answers"},
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
	s := run(t, bus.ServerConfig{})
	faults := make(chan error, 8)
	p, err := s.Connect(bus.Options{OnFault: func(err error) { faults <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	statuses := make(chan api.NodeStatus, 8)
	if err := errors.Join(serve(p, echo(statuses)), p.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	raw, err := nats.Connect("nats://" + s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for _, request := range []struct{ subject, body, says string }{
		{"pacer.v1.app.register", "{", "not JSON"},
		{"pacer.v1.app.register", `{"v":1,"name":5}`, "does not decode"},
		{"pacer.v1.app.app-1.events", `{"v":1,"app_id":"app-2"}`, `sent for "app-1"`},
		{"pacer.v1.node.n1.hello", `{"v":1,"node":"n2"}`, `sent for "n1"`},
		{"pacer.v1.control.apps", `{"v":9}`, "version 9"},
		{"pacer.v1.app.register", `{"v":1,"name":"` + strings.Repeat("x", api.MostRegisterBytes) + `"}`, "at most 1048576"},
		{"pacer.v1.app.app-1.events", `{"v":1,"app_id":"app-1","reason":"` + strings.Repeat("x", api.MostEventBytes) + `"}`, "at most 2097152"},
		{"pacer.v1.control.apps", `{"v":1,"cap_cores":` + strings.Repeat("9", 1<<20) + `}`, "9..."},
	} {
		m, err := raw.Request(request.subject, []byte(request.body), 5*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", request.subject, err)
		}
		var reply struct{ Error *api.Error }
		if err := json.Unmarshal(m.Data, &reply); err != nil || reply.Error == nil || !strings.Contains(reply.Error.Message, request.says) {
			t.Errorf("%s %s: %s, want %q", request.subject, request.body, m.Data, request.says)
		}
	}
	if err := raw.Publish("pacer.v1.node.n1.status", []byte(`{"v":1,"node":"n2"}`)); err != nil {
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
	s := run(t, bus.ServerConfig{})
	p := inProcess(t, s)
	block := make(chan struct{})
	h := echo(nil)
	h.Status = func(api.NodeStatus) { <-block }
	if err := errors.Join(serve(p, h), p.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	defer close(block)
	c := dial(t, bus.Options{Address: s.Address()})
	for range 100 {
		if err := c.PublishStatus(status("n1")); err != nil {
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
	s, p, _ := planner(t, run, bus.ServerConfig{})
	up, down := make(chan bool, 8), make(chan error, 8)
	c := dial(t, bus.Options{Address: s.Address(), OnUp: func() { up <- true }, OnDown: func(err error) { down <- err }})
	receive(t, up)
	plans := make(chan api.Plan, 1)
	if err := c.SubscribePlan("n1", func(p api.Plan) { plans <- p }); err != nil {
		t.Fatal(err)
	}
	p.Close()
	s.Close()
	receive(t, down)
	if err := c.PublishStatus(status("n1")); api.KindOf(err) != api.KindTransient || err == nil {
		t.Errorf("publish while down: %v", err)
	}
	if _, err := c.Hello(within(t), status("n1")); api.KindOf(err) != api.KindTransient || err == nil {
		t.Errorf("request while down: %v", err)
	}
	_, p, _ = planner(t, run, bus.ServerConfig{Listen: s.Address()})
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
	c := dial(t, bus.Options{Address: address, Wait: true, OnUp: func() { up <- true }})
	if c.Connected() {
		t.Error("connected to nobody")
	}
	planner(t, run, bus.ServerConfig{Listen: address})
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

func TestAForeignAddressNeedsCredentialsAndTLS(t *testing.T) {
	for listen, wants := range map[string]string{
		"127.0.0.1:4222": "", "localhost:0": "", "[::1]:4222": "",
		"0.0.0.0:4222": "credentials", ":4222": "pacer auth init NAME", "10.1.2.3:4222": "pacer auth init 10.1.2.3",
		"127.0.0.1": "host:port", "127.0.0.1:http": "port",
	} {
		err := bus.ServerConfig{Listen: listen}.Validate()
		if (wants == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), wants)) {
			t.Errorf("%s: %v, want %q", listen, err, wants)
		}
	}
	for _, c := range []bus.ServerConfig{
		{Listen: "0.0.0.0:0", Credentials: "file", TLS: bus.TLS{Cert: "cert", Key: "key"}},
		{Listen: "0.0.0.0:0", Credentials: "file", Plaintext: true},
	} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func secrets(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRolesReachOnlyTheirSubjects(t *testing.T) { both(t, testRolesReachOnlyTheirSubjects) }

func testRolesReachOnlyTheirSubjects(t *testing.T, run starter) {
	file := secrets(t, "# Pacer\nnode:n-secret\napplication: a:secret \noperator:o-secret\n")
	s, p, statuses := planner(t, run, bus.ServerConfig{Credentials: file})
	ctx := within(t)
	if _, err := bus.Dial(bus.Options{Address: s.Address()}); err == nil || !strings.Contains(err.Error(), "refused the credentials") {
		t.Errorf("without credentials: %v", err)
	}
	wrong := secrets(t, "node:guess")
	if _, err := bus.Dial(bus.Options{Address: s.Address(), Role: bus.RoleNode, Credentials: wrong}); err == nil || !strings.Contains(err.Error(), "refused the credentials") {
		t.Errorf("with a wrong password: %v", err)
	}
	if _, err := bus.Dial(bus.Options{Address: s.Address(), Role: bus.RoleOperator, Credentials: wrong}); err == nil || !strings.Contains(err.Error(), "no line for the role operator") {
		t.Errorf("without the role's line: %v", err)
	}
	conn := func(role bus.Role) *bus.Conn {
		return dial(t, bus.Options{Address: s.Address(), Role: role, Credentials: file})
	}
	driver, node, cli := conn(bus.RoleApplication), conn(bus.RoleNode), conn(bus.RoleOperator)
	if _, err := driver.Register(ctx, registration("a")); err != nil {
		t.Errorf("a driver may not register: %v", err)
	}
	if _, err := node.Hello(ctx, status("n1")); err != nil {
		t.Errorf("a node may not say hello: %v", err)
	}
	if err := errors.Join(node.PublishStatus(status("n1")), node.Flush(ctx)); err != nil {
		t.Error(err)
	}
	receive(t, statuses)
	if _, err := cli.Control(ctx, api.VerbApps, api.ControlRequest{}); err != nil {
		t.Errorf("the CLI may not ask: %v", err)
	}
	plans := make(chan api.Plan, 1)
	read := func(api.LogRequest) (api.LogReply, error) { return api.LogReply{EOF: true}, nil }
	if err := errors.Join(node.SubscribePlan("n1", func(p api.Plan) { plans <- p }), node.ServeLogs("n1", read), node.Flush(ctx),
		p.PublishPlan(api.Plan{V: api.Version, Node: "n1"})); err != nil {
		t.Fatal(err)
	}
	receive(t, plans)
	if _, err := cli.Logs(ctx, "n1", api.LogRequest{}); err != nil {
		t.Errorf("the CLI may not read logs: %v", err)
	}
	forbidden := func(what string, call func(context.Context) error) {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		if err := call(short); err == nil {
			t.Errorf("%s was allowed", what)
		}
	}
	forbidden("an application's control request", func(ctx context.Context) error {
		_, err := driver.Control(ctx, api.VerbApps, api.ControlRequest{})
		return err
	})
	forbidden("an application's hello", func(ctx context.Context) error { _, err := driver.Hello(ctx, status("n1")); return err })
	forbidden("a node's registration", func(ctx context.Context) error { _, err := node.Register(ctx, registration("a")); return err })
	forbidden("the CLI's hello", func(ctx context.Context) error { _, err := cli.Hello(ctx, status("n1")); return err })
	if err := errors.Join(driver.PublishPlan(api.Plan{V: api.Version, Node: "n1", Epoch: 99}), driver.Flush(ctx), p.Flush(ctx)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.PublishPlan(api.Plan{V: api.Version, Node: "n1", Epoch: 1})); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, plans); got.Epoch != 1 {
		t.Errorf("an application published a plan: %+v", got)
	}
}

// A node keeps trying whatever is wrong, and says what is.
func TestWaitingWithWrongCredentialsSaysSo(t *testing.T) {
	both(t, testWaitingWithWrongCredentialsSaysSo)
}

func testWaitingWithWrongCredentialsSaysSo(t *testing.T, run starter) {
	s := run(t, bus.ServerConfig{Credentials: secrets(t, "node:right\n")})
	faults := make(chan error, 64)
	c := dial(t, bus.Options{Address: s.Address(), Role: bus.RoleNode, Credentials: secrets(t, "node:wrong\n"), Wait: true,
		OnFault: func(err error) { faults <- err }})
	if c.Connected() {
		t.Error("it is connected")
	}
	if err := receive(t, faults); !strings.Contains(err.Error(), "refused the credentials") {
		t.Errorf("fault %v", err)
	}
}

func TestCredentialFaultsAreAllNamedWithoutSecrets(t *testing.T) {
	path := secrets(t, "node:hunter2\nnode:again\nboss:hunter2\nno colon hunter2\noperator:\n")
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	_, err := bus.LoadCredentials(path)
	if err == nil {
		t.Fatal("six faults were taken")
	}
	for _, want := range []string{"chmod o-r", "chmod go-w", "line 2: role node is there twice", "line 3: the role", "line 4: want role:password", "line 5: role operator has an empty"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a password is in %q", err)
	}
	if _, err := bus.LoadCredentials(secrets(t, "\n# nothing\n")); err == nil {
		t.Error("an empty file was taken")
	}
	if _, err := bus.LoadCredentials(path + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func BenchmarkRequest(b *testing.B) {
	s, err := bus.StartServer(bus.ServerConfig{Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	p, err := s.Connect(bus.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	if err := serve(p, echo(nil)); err != nil {
		b.Fatal(err)
	}
	c, err := bus.Dial(bus.Options{Address: s.Address()})
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

// serve has c answer as a planner to the end of the test.
func serve(c *bus.Conn, h bus.Handlers) error {
	_, err := bus.ServePlanner(c, h)
	return err
}
