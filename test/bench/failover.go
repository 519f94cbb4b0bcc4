package main

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// failovers are how often the planner that serves is killed.
const failovers = 12

// planners are planners that share their state in a cluster of three NATS servers.
type planners struct {
	t           testing.TB
	servers     []*bustest.Server
	credentials string // The planners' credential.
	owned       string // Directory of their owner's.
}

// start runs one beside the server of that number, and returns it once it has said text.
func (p planners) start(server int, text string) *realenv.Process {
	p.t.Helper()
	s := realenv.Start(p.t, []string{config.CredentialDirEnv + "=" + p.owned}, realenv.Binary(p.t, "planner"),
		"--nats-url", p.servers[server].URL(), "--http", "", "--state-dir", p.t.TempDir(), "--credentials", p.credentials)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Process.Await(ctx, text); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// nodeSpeaker speaks as a node controller without executors does.
type nodeSpeaker struct {
	t      testing.TB
	conn   *bus.Conn
	status api.NodeStatus
	quit   chan struct{}
	done   sync.WaitGroup
}

// node is the node of that name, silent so far, as a principal of its own.
func (p planners) node(client *bus.Conn, name string) *nodeSpeaker {
	p.t.Helper()
	who := api.Principal{Kind: api.PrincipalNode, Name: name}
	own := bus.NewCredential(who.Login())
	ask(p.t, client, api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: who, Key: own.Key()}})
	conn, err := bus.Dial(bus.Options{Address: p.servers[2].URL(), Credential: own, Name: name})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(conn.Close)
	return &nodeSpeaker{t: p.t, conn: conn, status: api.NodeStatus{V: api.Version, Node: name, Host: "127.0.0.1",
		Offered: 4, Total: 4, Memory: units.GiB,
		Division: api.Division{Strategy: "edf-pure"}}}
}

// speak introduces it as one that has just started, and says a status each second from then on.
func (n *nodeSpeaker) speak() {
	n.t.Helper()
	n.status.Incarnation, n.status.Seq = rand.Text(), 1
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := n.conn.Hello(ctx, n.status); err != nil {
		n.t.Fatal(err)
	}
	n.quit = make(chan struct{})
	n.done.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-n.quit:
				return
			case <-ticker.C:
			}
			n.status.Seq++
			if err := n.conn.PublishStatus(n.status); err != nil {
				n.t.Error(err)
			}
		}
	})
}

// hush has it say nothing any more, as kill -9 does.
func (n *nodeSpeaker) hush() {
	close(n.quit)
	n.done.Wait()
}

// ask is what a planner answers within 5 s.
func ask(t testing.TB, client *bus.Conn, verb api.Verb, r api.ControlRequest) api.ControlReply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	reply, err := client.Control(ctx, verb, r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// lostSince times until a planner counts one node as lost; the other one must not be.
func lostSince(t testing.TB, client *bus.Conn, began time.Time, lost, lives string) float64 {
	t.Helper()
	for time.Since(began) < time.Minute {
		state := map[string]string{}
		for _, n := range ask(t, client, api.VerbNodes, api.ControlRequest{}).Nodes {
			state[n.Node] = n.State
		}
		if state[lives] != "ready" {
			t.Fatalf("node %s, which speaks, is %q", lives, state[lives])
		}
		if state[lost] == "lost" {
			return time.Since(began).Seconds()
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("node %s is not lost", lost)
	return 0
}

// failover kills the planner that serves, as kill -9 does, and times until the one that stands by
// has stored a request and answered it; and until it knows that a node is lost which has died at
// the same moment. Kills are at all phases of the lease's renewals.
func failover(t testing.TB, add adder) {
	own := bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
	p := planners{t: t, servers: bustest.StartCluster(t, 3, bustest.Config{Planner: own}),
		credentials: filepath.Join(t.TempDir(), "planner"), owned: t.TempDir()}
	if err := os.WriteFile(p.credentials, own.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	serves := p.start(0, "planner ready on")
	operator, err := bus.LoadCredential(bus.CredentialPath(p.owned, p.servers[0].URL()), api.PrincipalUser)
	if err != nil {
		t.Fatal(err)
	}
	client, err := bus.Dial(bus.Options{Address: p.servers[2].URL(), Credential: operator, Name: "bench"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	body := chain(20)
	dies, lives := p.node(client, "dies"), p.node(client, "lives")
	lives.speak()
	defer lives.hush()
	var took, lost []float64
	for i := range failovers {
		standby := p.start(1-i%2, "stands by")
		dies.speak()
		time.Sleep(2*time.Second + time.Duration(i)*time.Second/failovers)
		began := time.Now()
		dies.hush()
		if err := serves.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for ; ; time.Sleep(20 * time.Millisecond) {
			ctx, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond)
			_, err := client.Control(ctx, api.VerbProfilePut, api.ControlRequest{Profile: body.Name, Body: &body})
			cancel()
			if err == nil {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("nobody serves: %v", err)
			}
		}
		took = append(took, time.Since(began).Seconds())
		lost = append(lost, lostSince(t, client, began, "dies", "lives"))
		serves = standby
	}
	add("failover_s.median", benchline.Median(took), "s")
	add("failover_s.worst", benchline.Quantile(took, 1), "s")
	add("failover.node_lost_s.median", benchline.Median(lost), "s")
	add("failover.node_lost_s.worst", benchline.Quantile(lost, 1), "s")
}
