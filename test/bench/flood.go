package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// floodFor is for how long each flood lasts, floodStages how many stages its profiles have, floodWaits how many
// applications with such a profile wait.
const (
	floodFor    = 15 * time.Second
	floodStages = 2000
	floodWaits  = 40
)

// flooded is a planner in a process of its own, with who stands by and who floods it.
type flooded struct {
	t        testing.TB
	address  string
	http     string
	process  *realenv.Process
	operator *bus.Conn
	cut      atomic.Int64 // Connections of who stands by.
}

// floods are what one principal sends, again and again, until ctx ends: each is a worker's.
var floods = map[string]struct {
	workers int
	by      api.Role
	begin   func(f *flooded, by bus.Credential) (send func(ctx context.Context, worker int) error)
}{
	"viewer": {8, api.RoleView, func(f *flooded, by bus.Credential) func(context.Context, int) error {
		conns, large := f.dials(by, 8), strings.Repeat("x", 7<<20)
		return func(ctx context.Context, worker int) error {
			_, err := conns[worker%8].Control(ctx, api.VerbPing, api.ControlRequest{Login: large})
			return err
		}
	}},
	"batches": {8, api.RoleSubmit, func(f *flooded, by bus.Credential) func(context.Context, int) error {
		id, driver := f.application(by, "evil", 0)
		conns, large := f.dials(driver, 8), strings.Repeat("x", 2<<20-1000)
		return func(ctx context.Context, worker int) error {
			_, err := conns[worker%8].SendEvents(ctx, api.Events{V: api.Version, AppID: id, Submission: "evil",
				Events: []api.Event{{Seq: 1, Type: api.EventUnpaced, Reason: large}}})
			return err
		}
	}},
	"stages": {8, api.RoleSubmit, func(f *flooded, by bus.Credential) func(context.Context, int) error {
		id, driver := f.application(by, "evil", 1e6)
		conn := f.dials(driver, 1)[0]
		var seq atomic.Uint64
		return func(ctx context.Context, _ int) error {
			events := make([]api.Event, api.MostEvents)
			for i := range events {
				n := seq.Add(1)
				events[i] = ready(int(n), "1")
				events[i].Seq = n
			}
			_, err := conn.SendEvents(ctx, api.Events{V: api.Version, AppID: id, Submission: "evil", Events: events})
			return err
		}
	}},
	"deadlines": {64, api.RoleSubmit, func(f *flooded, by bus.Credential) func(context.Context, int) error {
		conn, body := f.dials(by, 1)[0], wide(floodStages)
		_, err := f.operator.Control(f.t.Context(), api.VerbProfilePut, api.ControlRequest{Body: &body, Shared: true})
		if err != nil {
			f.t.Fatal(err)
		}
		var last api.AppID
		for i := range floodWaits { // Each of a user of its own: they have all their parts of the planner's time.
			one := by
			if i < floodWaits-1 {
				one = f.principal(api.Principal{Kind: api.PrincipalUser, Name: fmt.Sprint("u", i), Role: api.RoleSubmit})
			}
			last, _ = f.registered(one, body.Name, fmt.Sprint("waits-", i), 1e6, 7*units.GiB)
		}
		var n atomic.Int64
		return func(ctx context.Context, _ int) error {
			_, err := conn.Control(ctx, api.VerbDeadline,
				api.ControlRequest{App: last, Deadline: 1e6 + units.Seconds(n.Add(1))})
			return err
		}
	}},
	"profiles": {8, api.RoleSubmit, func(f *flooded, by bus.Credential) func(context.Context, int) error {
		conns, body := f.dials(by, 8), wide(floodStages)
		return func(ctx context.Context, worker int) error {
			_, err := conns[worker%8].Control(ctx, api.VerbProfilePut, api.ControlRequest{Body: &body})
			return err
		}
	}},
	"http": {64, api.RoleSubmit, func(f *flooded, by bus.Credential) func(context.Context, int) error {
		token := ask(f.t, f.dials(by, 1)[0], api.VerbToken,
			api.ControlRequest{Query: &api.Query{Token: api.TokenRequest{For: api.MostTokenFor}}}).Token.Token
		return func(ctx context.Context, worker int) error {
			path := []string{"applications", "watch", "applications/app-1/kill", "report"}[worker%4]
			method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[worker%4 == 2]
			request, err := http.NewRequestWithContext(ctx, method, "http://"+f.http+"/api/v1/"+path, nil)
			if err != nil {
				return err
			}
			request.Header.Set("Authorization", "Bearer "+token)
			reply, err := http.DefaultClient.Do(request)
			if err == nil {
				err = reply.Body.Close()
			}
			return err
		}
	}},
}

// flood measures what an operator, a node and a driver have of a planner that one principal floods.
func flood(t testing.TB, add adder) {
	var pings, rss []float64
	var lost, cut int64
	for _, name := range floodNames() {
		part(t, "flood of "+name, func(t testing.TB) {
			f := startFlooded(t)
			took, gone := f.under(name)
			slices.Sort(took)
			peak := f.peak()
			t.Logf("%d pings, the worst %.0f ms; %d heartbeats lost, %d connections cut, %.0f MiB", len(took),
				took[len(took)-1], gone, f.cut.Load(), peak)
			pings, rss = append(pings, benchline.Quantile(took, 0.99).Value), append(rss, peak)
			lost, cut = lost+gone, cut+f.cut.Load()
		})
	}
	if len(pings) < len(floods) {
		t.Fatalf("%d of %d floods have been measured", len(pings), len(floods))
	}
	add("flood.ping_ms.p99", benchline.Quantile(pings, 1), "ms")
	add("flood.heartbeats_lost", benchline.One(float64(lost)), "heartbeats")
	add("flood.connections_cut", benchline.One(float64(cut)), "connections")
	add("flood.rss_mib", benchline.Quantile(rss, 1), "MiB")
	turns := loopTurns(t)
	add("loop.turn_ms.p99", benchline.Quantile(turns, 0.99), "ms")
}

func floodNames() (names []string) {
	for name := range floods {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func startFlooded(t testing.TB) *flooded {
	owned := t.TempDir()
	f := &flooded{t: t, address: realenv.FreePort(t), http: realenv.FreePort(t)}
	f.process = realenv.Start(t, []string{config.CredentialDirEnv + "=" + owned}, realenv.Binary(t, "planner"),
		"--listen", f.address, "--http", f.http, "--state-dir", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := f.process.Process.Await(ctx, "planner ready"); err != nil {
		t.Fatal(err)
	}
	own, err := bus.LoadCredential(bus.CredentialPath(owned, f.address), api.PrincipalUser)
	if err != nil {
		t.Fatal(err)
	}
	f.operator = f.standsBy(own)
	return f
}

// dials connects n times.
func (f *flooded) dials(own bus.Credential, n int) (conns []*bus.Conn) {
	f.t.Helper()
	for range n {
		conns = append(conns, f.dial(bus.Options{Address: f.address, Credential: own, Wait: true}))
	}
	return conns
}

// standsBy is a connection that nobody is to cut.
func (f *flooded) standsBy(own bus.Credential) *bus.Conn {
	f.t.Helper()
	return f.dial(bus.Options{Address: f.address, Credential: own, OnDown: func(error) {
		if f.t.Context().Err() == nil {
			f.cut.Add(1)
		}
	}})
}

func (f *flooded) dial(options bus.Options) *bus.Conn {
	f.t.Helper()
	conn, err := bus.Dial(options)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(conn.Close)
	return conn
}

// principal is a credential of p.
func (f *flooded) principal(p api.Principal) bus.Credential {
	f.t.Helper()
	own := bus.NewCredential(p.Login())
	ask(f.t, f.operator, api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: p, Key: own.Key()}})
	return own
}

// application is one of by's that runs, with its driver's credential.
func (f *flooded) application(by bus.Credential, name string, deadline units.Seconds) (api.AppID, bus.Credential) {
	f.t.Helper()
	return f.registered(by, name, name, deadline, units.GiB)
}

// registered is one more application of by's, with its driver's credential.
func (f *flooded) registered(by bus.Credential, name, submission string, deadline units.Seconds,
	heap units.Bytes) (api.AppID, bus.Credential) {
	f.t.Helper()
	secret, conn := bus.NewCredential(""), f.dials(by, 1)[0]
	reply, err := conn.Register(f.t.Context(), registrationOf(name, submission, secret.Key(), deadline, heap))
	if err != nil {
		f.t.Fatal(err)
	}
	secret.Login = string(reply.AppID)
	return reply.AppID, secret
}

func registrationOf(name, submission, key string, deadline units.Seconds, heap units.Bytes) api.RegisterRequest {
	return api.RegisterRequest{V: api.Version, Submission: submission, Name: name, Key: key, Deadline: deadline,
		Launch: api.Launch{DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:1", Heap: heap, SparkVersion: "4.3.0"}}
}

// under is how long an operator's pings took in milliseconds during the flood of that name, and how many heartbeats of
// a driver were not answered within 2 s.
func (f *flooded) under(name string) (took []float64, lost int64) {
	n := &nodeSpeaker{t: f.t, conn: f.standsBy(f.principal(api.Principal{Kind: api.PrincipalNode, Name: "n1"})),
		status: api.NodeStatus{V: api.Version, Node: "n1", Host: "127.0.0.1", Offered: 4, Total: 4, Memory: 16 * units.GiB,
			Division: api.Division{Strategy: "edf-pure"}}}
	n.speak()
	defer n.hush()
	ann := f.principal(api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit})
	hers, secret := f.application(ann, "hers", 0)
	driver, shape := f.standsBy(secret), floods[name]
	send := shape.begin(f, f.principal(api.Principal{Kind: api.PrincipalUser, Name: "mallory", Role: shape.by}))
	ctx, cancel := context.WithTimeout(f.t.Context(), floodFor)
	defer cancel()
	var all sync.WaitGroup
	for worker := range shape.workers {
		all.Go(func() {
			for ctx.Err() == nil {
				soon, done := context.WithTimeout(ctx, 100*time.Millisecond) // It waits for no answer.
				if send(soon, worker) != nil {
					time.Sleep(100 * time.Millisecond) // It is cut, or told to wait.
				}
				done()
			}
		})
	}
	beat := func(ask func(ctx context.Context) error) (float64, error) {
		ctx, done := context.WithTimeout(f.t.Context(), 2*time.Second)
		defer done()
		began := time.Now()
		err := ask(ctx)
		return 1000 * time.Since(began).Seconds(), err
	}
	all.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			if _, err := beat(func(ctx context.Context) error {
				_, err := driver.SendEvents(ctx, api.Events{V: api.Version, AppID: hers, Submission: "hers"})
				return err
			}); err != nil {
				lost++
			}
		}
	})
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		ms, err := beat(func(ctx context.Context) error {
			_, err := f.operator.Control(ctx, api.VerbPing, api.ControlRequest{})
			return err
		})
		if err != nil {
			f.t.Logf("an operator's ping: %v", err)
		}
		took = append(took, ms)
	}
	all.Wait()
	return took, lost
}

// peak is the most memory that the planner had, in MiB.
func (f *flooded) peak() float64 {
	f.t.Helper()
	body, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(f.process.PID()), "status"))
	if err != nil {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				f.t.Fatal(err)
			}
			return kib / 1024
		}
	}
	f.t.Fatal("the planner has no VmHWM")
	return 0
}

// nowhere takes everything that a loop says and stores.
type nowhere struct{}

func (nowhere) PublishPlan(api.Plan) error                      { return nil }
func (nowhere) PublishDirective(api.AppID, api.Directive) error { return nil }
func (nowhere) Deaf() bool                                      { return false }
func (nowhere) Apply([]api.Pair) error                          { return nil }

// loopTurns is how long the turns of a planner's loop take in milliseconds, beside a principal that registers with and
// puts profiles of floodStages as fast as it is let, and an operator who asks 200 times a second.
func loopTurns(t testing.TB) (took []float64) {
	e, err := planner.New(planner.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := planner.NewLoop(e, nowhere{}, nowhere{}, nil)
	l.Turned = func(d time.Duration) { took = append(took, 1000*d.Seconds()) }
	ctx, cancel := context.WithTimeout(t.Context(), floodFor)
	defer cancel()
	l.Hello(api.NodeStatus{V: api.Version, Node: "n1", Incarnation: "1", Seq: 1, Host: "127.0.0.1", Offered: 4, Total: 4,
		Memory: 16 * units.GiB}, func(api.HelloReply) {})
	mallory, op := api.Principal{Kind: api.PrincipalUser, Name: "mallory", Role: api.RoleSubmit},
		api.Principal{Kind: api.PrincipalUser, Name: "op", Role: api.RoleOperate}
	body := wide(floodStages)
	var senders sync.WaitGroup
	senders.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			l.Control(mallory, api.VerbProfilePut, api.ControlRequest{V: api.Version, Body: &body}, func(api.ControlReply) {})
			l.Register(mallory, registrationOf(body.Name, fmt.Sprint(i), "", 1e6, units.GiB),
				func(api.RegisterReply) {})
			time.Sleep(time.Millisecond)
		}
	})
	senders.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			l.Control(op, api.VerbPing, api.ControlRequest{V: api.Version}, func(api.ControlReply) {})
		}
	})
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	senders.Wait()
	return took
}
