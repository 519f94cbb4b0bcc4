package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// apartEnv has this binary run a planner in place of tests: one that can be killed.
const apartEnv = "PACER_TEST_PLANNER"

// apart is a planner in a process of its own.
type apart struct {
	// NatsURL is "" for the embedded server.
	NatsURL, Credentials, State, Owned, Release string
}

// runApart runs the planner that text describes, and says each ready line.
func runApart(text string) error {
	var a apart
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0)
	return daemon.Planner(context.Background(), a.config(func(line string) { fmt.Println(line) }, os.Stderr))
}

func (a apart) config(ready func(string), log io.Writer) daemon.PlannerConfig {
	c := daemon.DefaultPlannerConfig()
	c.Listen, c.NatsURL, c.Credentials, c.State, c.HTTP = "127.0.0.1:0", a.NatsURL, a.Credentials, a.State, ""
	c.Owners = []daemon.Owner{{Name: "tester", UID: os.Geteuid(), GID: os.Getegid(), Dir: a.Owned}}
	c.Engine.Release, c.Ready, c.Logger = a.Release, ready, slog.New(slog.NewTextHandler(log, nil))
	return c
}

// killable is such a process.
type killable struct {
	*exec.Cmd
	lines chan string
	log   *logs
}

func (a apart) start(t *testing.T) *killable {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	k := &killable{Cmd: exec.Command(os.Args[0]), lines: make(chan string, 8), log: &logs{}}
	k.Env, k.Stderr = append(os.Environ(), apartEnv+"="+string(text)), k.log
	out, err := k.StdoutPipe()
	if err == nil {
		err = k.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for in := bufio.NewScanner(out); in.Scan(); {
			k.lines <- in.Text()
		}
	}()
	t.Cleanup(k.kill)
	return k
}

// kill ends it as kill -9 does.
func (k *killable) kill() {
	if k.ProcessState == nil {
		_ = k.Process.Kill()
		_ = k.Wait()
	}
}

func (k *killable) says(t *testing.T, want string) {
	t.Helper()
	select {
	case line := <-k.lines:
		if !strings.Contains(line, want) {
			t.Fatalf("it says %q, want %q\n%s", line, want, k.log)
		}
	case <-time.After(time.Minute):
		t.Fatalf("it does not say %q\n%s", want, k.log)
	}
}

// shared are planners that share their state on NATS servers, and a node.
type shared struct {
	t       *testing.T
	servers []*bustest.Server
	path    string // Of the planners' credential.
	own     bus.Credential
	owned   string // The owner's directory of credentials.
	world   *world
	cli     *bus.Conn
}

func newShared(t *testing.T, servers func(own bus.Credential) []*bustest.Server) *shared {
	t.Helper()
	s := &shared{t: t, own: bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login()), path: filepath.Join(t.TempDir(), "credentials"), owned: t.TempDir(), world: newWorld(t)}
	if err := os.WriteFile(s.path, s.own.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	s.servers = servers(s.own)
	return s
}

// alone is one server with JetStream.
func alone(t *testing.T) func(own bus.Credential) []*bustest.Server {
	return func(own bus.Credential) []*bustest.Server {
		return []*bustest.Server{bustest.Start(t, bustest.Config{Planner: own, Store: t.TempDir()})}
	}
}

// planner is one beside the server of that number.
func (s *shared) planner(server int, release string) apart {
	return apart{NatsURL: s.servers[server%len(s.servers)].URL(), Credentials: s.path, State: s.t.TempDir(), Owned: s.owned, Release: release}
}

// node starts a node controller, whose executors show a page, and connects as the owner; both end with the test.
func (s *shared) node(server int) {
	t, w := s.t, s.world
	n := w.node(t)
	at := s.servers[server%len(s.servers)].URL()
	n.Planner, n.HTTP = at, ""
	// The owner's credential is for the address by which it was made.
	n.Owners = []daemon.Owner{{Name: "tester", UID: os.Geteuid(), GID: os.Getegid(), Dir: s.owned}}
	first, err := bus.LoadCredential(bus.CredentialPath(s.owned, s.servers[0].URL()), api.PrincipalUser)
	if err != nil {
		t.Fatal(err)
	}
	if err := bus.WriteSecret(bus.CredentialPath(s.owned, at), first.Encode()); err != nil {
		t.Fatal(err)
	}
	n.Deps.Command = withSecret
	make := n.Deps.Runtime
	n.Deps.Runtime = func(l executor.Layout, g *cgroup.Hierarchy) (executor.Runtime, error) {
		r, err := make(l, g)
		w.runtime.OnStart = func(spec executor.Spec, h executor.Handle) {
			wantSecret(t, spec)
			s.show(l, h)
			w.started <- h
		}
		return r, err
	}
	ready, stop := background(t, func(ctx context.Context, ready func(string)) error {
		n.Ready = ready
		return daemon.Node(ctx, n)
	})
	t.Cleanup(func() { _ = stop() })
	soon(t, "the node", ready)
	if s.cli, err = bus.Dial(bus.Options{Address: at, Credential: first}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cli.Close)
}

// show shows an idle JVM on an executor's page until the test ends.
func (s *shared) show(l executor.Layout, h executor.Handle) {
	paths, err := l.Paths(h.App, h.ID)
	if err != nil {
		s.t.Error(err)
		return
	}
	w, err := progress.NewWriter(paths.Page, h.PID)
	if err != nil {
		s.t.Error(err)
		return
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			var at unix.Timespec
			_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &at)
			w.Publish(&meter.Page{At: units.Instant(at.Nano())})
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	}()
	s.t.Cleanup(func() { close(over); <-ended; _ = w.Close() })
}

// serves is the release of the planner that serves within a limit, and how long it took to be
// heard.
func (s *shared) serves(limit time.Duration) (string, time.Duration) {
	s.t.Helper()
	began := time.Now()
	for ; time.Since(began) < limit; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(s.t.Context(), 200*time.Millisecond)
		r, err := s.cli.Control(ctx, api.VerbPing, api.ControlRequest{})
		cancel()
		if err == nil {
			return r.Release, time.Since(began)
		}
	}
	return "nobody", limit
}

func (s *shared) ask(verb api.Verb, r api.ControlRequest) api.ControlReply {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	reply, err := s.cli.Control(ctx, verb, r)
	if err != nil {
		s.t.Fatalf("%s: %v", verb, err)
	}
	return reply
}

// app is a driver that speaks the protocol.
type app struct {
	s    *shared
	conn *bus.Conn
	id   api.AppID
	name string
	seq  uint64
	by   api.RegisterRequest
}

// chain is a profile of stages of six core-seconds, one after the other.
func chain(n int) *api.Profile {
	p := &api.Profile{Schema: api.ProfileSchema, Name: "chain", Runs: 1, Cores: 2, Duration: units.Seconds(n) * 4, Head: 1}
	for i := range n {
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Name: "s", Signature: fmt.Sprintf("s%d", i), Parents: []int{}, Tasks: 20,
			Duration: 4, Records: 1000, CoreSeconds: 6, NominalRate: 1000.0 / 6})
	}
	return p
}

func (s *shared) register(name string, deadline units.Seconds, heap units.Bytes) (*app, api.RegisterReply) {
	s.t.Helper()
	secret := bus.NewCredential("")
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	by := api.RegisterRequest{V: api.Version, Submission: name, Name: "chain", Key: secret.Key(), Deadline: deadline,
		Launch: api.Launch{DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:1", Heap: heap, SparkVersion: "4.3.0", Env: secretEnv()}}
	reply, err := s.cli.Register(ctx, by)
	if err != nil {
		s.t.Fatal(err)
	}
	secret.Login, by.AppID = string(reply.AppID), reply.AppID
	a := &app{s: s, id: reply.AppID, name: name, by: by}
	if a.conn, err = bus.Dial(bus.Options{Address: s.cli.Address(), Credential: secret}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(a.conn.Close)
	return a, reply
}

// send delivers an event, again and again until it is acknowledged.
func (a *app) send(e api.Event) {
	a.s.t.Helper()
	a.seq++
	e.Seq, e.At = a.seq, units.Seconds(a.seq)
	a.deliver(e)
}

// deliver is send of numbered events, or of a heartbeat. A driver whose planner does not know it
// registers again.
func (a *app) deliver(events ...api.Event) {
	a.s.t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(a.s.t.Context(), time.Second)
		_, err = a.conn.SendEvents(ctx, api.Events{V: api.Version, AppID: a.id, Submission: a.name, Events: events})
		if api.KindOf(err) == api.KindNotFound {
			_, _ = a.conn.Register(ctx, a.by)
		}
		cancel()
		if err == nil {
			return
		}
	}
	a.s.t.Fatalf("event %d is not taken: %v", a.seq, err)
}

// stage has a stage become ready on an executor.
func (a *app) stage(i int, x api.ExecutorID) {
	a.s.t.Helper()
	a.send(api.Event{Type: api.EventStageReady, Stage: &api.StageReady{StageKey: api.StageKey{Stage: i}, Job: i, Name: "s", Signature: fmt.Sprintf("s%d", i),
		Parents: []int{}, Tasks: 20, Records: 1000, Bytes: api.Unknown, Bindings: []api.Binding{{Executor: x, Weight: 20, Tasks: 20}}}})
}

func (a *app) done(i int) {
	a.s.t.Helper()
	a.send(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: api.StageKey{Stage: i}, Tasks: 20}})
}

// limited waits until an executor has a quota: for a moment, for it runs no tasks.
func (s *shared) limited(a *app, x api.ExecutorID) {
	s.t.Helper()
	groups, err := cgroup.Open(s.world.tree.Root, "pacer/node-n1")
	if err != nil {
		s.t.Fatal(err)
	}
	realenv.Await(s.t, fmt.Sprintf("a quota after event %d", a.seq), func() bool {
		g, err := groups.Group(cgroup.GroupName(a.id, x))
		if err != nil {
			return false
		}
		defer g.Close()
		q, err := g.Quota()
		return err == nil && !q.IsUnlimited()
	})
}

// The planner is killed in the middle of a run. Then the one that stands by serves with all
// that the first one knew: the application stays paced, who waits keeps its place, profiles and
// credentials are there, and what the first one still sends counts for nothing. release is that of
// the second one. How long it takes is measured (make bench-trust, failover_s).
func (s *shared) failover(first, second *killable, release string) {
	t := s.t
	p := chain(40)
	s.ask(api.VerbProfilePut, api.ControlRequest{Profile: p.Name, Body: p})
	a, reply := s.register("one", 320, units.GiB)
	x := reply.Directive.Executors[0].ID
	soon(t, "an executor", s.world.started)
	a.send(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x}})
	a.stage(0, x)
	s.limited(a, x)
	waiting, queued := s.register("two", 0, 2*units.GiB)
	if queued.Directive.Queued == nil {
		t.Fatalf("the second application does not wait: %+v", queued)
	}
	friend := api.Principal{Kind: api.PrincipalUser, Name: "friend", Role: api.RoleView}
	theirs := bus.NewCredential(friend.Login())
	s.ask(api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: friend, Key: theirs.Key()}})
	before := *s.ask(api.VerbApp, api.ControlRequest{App: a.id}).App

	first.kill()
	serves, took := s.serves(30 * time.Second)
	if serves != release {
		t.Fatalf("%s serves after %v\n%s", serves, took, second.log)
	}
	if t.Logf("the standby serves %v after the kill", took); took > 5*time.Second {
		t.Logf("it says:\n%s", second.log)
	}
	after := *s.ask(api.VerbApp, api.ControlRequest{App: a.id}).App
	if after.Pacing != before.Pacing || after.Pacing != "paced" || after.Verdict != before.Verdict || after.Deadline != before.Deadline || after.State != before.State {
		t.Errorf("the application is %+v, was %+v", after.AppSummary, before.AppSummary)
	}
	if d := *s.ask(api.VerbApp, api.ControlRequest{App: waiting.id}).App; d.State != api.AppQueued {
		t.Errorf("who waits is %s", d.State)
	}
	if r := s.ask(api.VerbProfiles, api.ControlRequest{}); len(r.Listed) != 1 || r.Listed[0].Name != "chain" {
		t.Errorf("profiles %+v", r.Listed)
	}
	a.done(0)
	a.stage(1, x)
	s.limited(a, x)
	conn, err := bus.Dial(bus.Options{Address: s.cli.Address(), Credential: theirs})
	if err != nil {
		t.Errorf("a credential that the first planner has issued: %v", err)
	} else {
		conn.Close()
	}
	a.done(1)
	a.send(api.Event{Type: api.EventEnd})
	a.send(api.Event{Type: api.EventExit, Clean: true})
	waiting.deliver()
	// Its memory is free, and who waited starts.
	if h := soon(t, "an executor of the one that waited", s.world.started); h.App != waiting.id {
		t.Errorf("an executor of %s starts", h.App)
	}
	waiting.send(api.Event{Type: api.EventEnd})
	waiting.send(api.Event{Type: api.EventExit, Clean: true})
}

// On one NATS server, and in a cluster of three with the node behind the third one, in which then the
// server is killed that the new planner is connected to.
func TestAStandbyTakesOverFromAKilledPlanner(t *testing.T) {
	t.Parallel()
	servers := alone(t)
	if !testing.Short() {
		servers = func(own bus.Credential) []*bustest.Server {
			return bustest.StartCluster(t, 3, bustest.Config{Planner: own})
		}
	}
	s := newShared(t, servers)
	a := s.planner(0, "a")
	first := a.start(t)
	first.says(t, "planner ready on "+s.servers[0].URL())
	if want := fmt.Sprintf("replicas=%d", len(s.servers)); !strings.Contains(first.log.String(), want) {
		t.Errorf("the state is not on all servers, want %s:\n%s", want, first.log)
	}
	second := s.planner(1, "b").start(t)
	second.says(t, "this one stands by until it is gone")
	s.node(2)
	s.failover(first, second, "b")
	second.says(t, "planner ready on ")
	if !strings.Contains(second.log.String(), "nodes_heard=1") {
		t.Errorf("it has not heard the node while it stood by:\n%s", second.log)
	}
	if len(s.servers) == 1 {
		// One that comes back stands by.
		a.start(t).says(t, "this one stands by until it is gone")
		if release, _ := s.serves(time.Second); release != "b" {
			t.Errorf("%s serves", release)
		}
		return
	}
	s.servers[1].Close()
	// While the servers elect, the planner is read-only.
	realenv.Await(t, "a profile to be stored", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		p := chain(3)
		_, err := s.cli.Control(ctx, api.VerbProfilePut, api.ControlRequest{Profile: p.Name, Body: p})
		return err == nil
	})
	c, reply := s.register("three", 60, units.GiB)
	x := reply.Directive.Executors[0].ID
	soon(t, "an executor", s.world.started)
	c.send(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x}})
	c.stage(0, x)
	s.limited(c, x)
	if release, _ := s.serves(10 * time.Second); release != "b" || strings.Contains(second.log.String(), "has taken the lease") {
		t.Errorf("%s serves after the death of a server:\n%s", release, second.log)
	}
}

// inside runs a planner in this process until the function returned is called, and connects to it as
// its owner.
func (s *shared) inside(a apart) (log *logs, stop func()) {
	s.t.Helper()
	log = &logs{}
	ready, end := background(s.t, func(ctx context.Context, ready func(string)) error {
		return daemon.Planner(ctx, a.config(ready, log))
	})
	address := strings.TrimPrefix(soon(s.t, "the planner", ready), "planner ready on ")
	own, err := bus.LoadCredential(bus.CredentialPath(s.owned, address), api.PrincipalUser)
	if err == nil {
		s.cli, err = bus.Dial(bus.Options{Address: address, Credential: own})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.cli.Close)
	return log, func() {
		if err := end(); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *shared) put(name string) {
	s.t.Helper()
	p := chain(2)
	p.Name = name
	s.ask(api.VerbProfilePut, api.ControlRequest{Profile: name, Body: p})
}

func (s *shared) profiles() (names []string) {
	s.t.Helper()
	for _, p := range s.ask(api.VerbProfiles, api.ControlRequest{}).Listed {
		names = append(names, p.Name)
	}
	return names
}

// The state of a state directory goes into the bucket when its planner begins to share it; a backup
// of the bucket is restored into it; what is gone, or was damaged, is refused by name.
func TestASharedStateComesAndIsBackedUpAndRestored(t *testing.T) {
	t.Parallel()
	s := newShared(t, alone(t))
	a, b := s.planner(0, "a"), s.planner(0, "b")
	local := a
	local.NatsURL = ""
	_, stop := s.inside(local)
	s.put("before")
	stop()
	log, stop := s.inside(a)
	if got := s.profiles(); !slices.Equal(got, []string{"before"}) || !strings.Contains(log.String(), "planner.db.moved") {
		t.Errorf("it has %v\n%s", got, log)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	if err := daemon.Backup(t.Context(), s.cli, backup); err != nil {
		t.Fatal(err)
	}
	s.put("later")
	stop()
	if err := daemon.BackupStopped(a.State, backup+"2"); err == nil || !strings.Contains(err.Error(), bus.BucketName) {
		t.Errorf("of a planner that is stopped: %v", err)
	}
	// Another one has it all, and a state of its own is not mistaken for it.
	if err := os.WriteFile(filepath.Join(b.State, "planner.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log, stop = s.inside(b)
	if got := s.profiles(); !slices.Equal(got, []string{"before", "later"}) || !strings.Contains(log.String(), "planner.db.unused") {
		t.Errorf("the other one has %v\n%s", got, log)
	}
	if _, err := daemon.Restore(a.State, backup, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Planner(t.Context(), a.config(nil, log)); api.KindOf(err) != api.KindConflict || !strings.Contains(err.Error(), "a backup was restored") {
		t.Errorf("a backup beside a planner that serves: %v", err)
	}
	stop()
	_, stop = s.inside(a)
	if got := s.profiles(); !slices.Equal(got, []string{"before"}) {
		t.Errorf("after the restore it has %v", got)
	}
	stop()

	nc, err := nats.Connect(s.servers[0].URL(), s.own.Proves(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "$KV."+bus.BucketName+".d/profile/later", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Planner(t.Context(), a.config(nil, log)); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), bus.BucketName) {
		t.Errorf("with a damaged bucket: %v", err)
	}
	if err := js.DeleteKeyValue(t.Context(), bus.BucketName); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Planner(t.Context(), a.config(nil, log)); !errors.Is(err, bus.ErrNoBucket) && (err == nil || !strings.Contains(err.Error(), "is gone")) {
		t.Errorf("without the bucket: %v", err)
	}
}

// A server without JetStream is refused with what turns that on, and so is the embedded one of another
// planner.
func TestAServerWithoutJetStreamIsRefused(t *testing.T) {
	s := newShared(t, func(own bus.Credential) []*bustest.Server {
		return []*bustest.Server{bustest.Start(t, bustest.Config{Planner: own})}
	})
	err := daemon.Planner(t.Context(), s.planner(0, "a").config(nil, &logs{}))
	for _, want := range []string{"planner.nats-url " + s.servers[0].URL(), "-js", "jetstream {}"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
