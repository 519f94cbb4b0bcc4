package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/test/realenv"
)

// One file makes nodes of two machines, each with a credential of its own. It lets them in again after their state is
// lost. A node that has joined needs the file no more, and stays when the join credential is revoked.
func TestOneFileMakesNodesOfAllMachines(t *testing.T) {
	d := &desk{T: t, cfg: plannerConfig(t)}
	stop := d.start()
	join := d.issue(api.Principal{Kind: api.PrincipalJoin, Name: "k1", Join: api.Join{Nodes: []string{"worker-*"}, Times: 3}})
	file := filepath.Join(t.TempDir(), "join.key")
	if err := bus.WriteSecret(file, join.Encode()); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	runs := func(name, state string) (stop func() error) {
		n := newWorld(t).node(t)
		n.Name, n.State, n.Planner, n.Credentials = name, state, d.address, file
		files[n.Credentials] = true
		_, stop = launch(t, func(ctx context.Context, ready func(string)) error {
			n.Ready = ready
			return daemon.Node(ctx, n)
		})
		realenv.Await(t, name+" is ready", func() bool {
			r, err := d.owner.Control(t.Context(), api.VerbNodes, api.ControlRequest{})
			for _, n := range r.Nodes {
				if n.Node == name && n.State == "ready" {
					return err == nil
				}
			}
			return false
		})
		return stop
	}
	first, second := t.TempDir(), t.TempDir()
	stop1, stop2 := runs("worker-1", first), runs("worker-2", second)
	if err := stop2(); err != nil {
		t.Fatal(err)
	}
	stop3 := runs("worker-2", t.TempDir()) // Its state is lost.
	if list := d.principal("join-k1"); list.Joined != 3 {
		t.Errorf("the join credential has been used %d times", list.Joined)
	}
	if _, err := d.owner.Control(t.Context(), api.VerbRevoke, api.ControlRequest{Login: "join-k1"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(file), stop1()); err != nil {
		t.Fatal(err)
	}
	stop1 = runs("worker-1", first)
	if err := errors.Join(stop1(), stop3(), stop()); err != nil {
		t.Error(err)
	}
	if len(files) != 1 {
		t.Errorf("the nodes were given %d files", len(files))
	}
	fmt.Printf("keys.files_per_cluster %d\n", len(files))
	audited, err := os.ReadFile(filepath.Join(d.cfg.State, "audit.log"))
	if n := strings.Count(string(audited), `"who":"join-k1"`); err != nil || n != 3 {
		t.Errorf("the audit log has %d uses: %s", n, audited)
	}
}

// principal is how the planner lists a login.
func (d *desk) principal(login string) api.PrincipalSummary {
	d.Helper()
	r, err := d.owner.Control(d.Context(), api.VerbPrincipals, api.ControlRequest{})
	if err != nil {
		d.Fatal(err)
	}
	for _, p := range r.Principals {
		if p.Login == login {
			return p
		}
	}
	d.Fatalf("%s is not among %v", login, r.Principals)
	return api.PrincipalSummary{}
}

// A join credential is good for nothing but what it was issued for.
func TestAttackAJoinCredential(t *testing.T) {
	d := &desk{T: t, cfg: plannerConfig(t)}
	stop := d.start()
	held := d.issue(api.Principal{Kind: api.PrincipalNode, Name: "worker-0"})
	issued := api.Principal{Kind: api.PrincipalJoin, Name: "k1", Join: api.Join{Nodes: []string{"worker-*", "gpu-?"}, Times: 2}}
	join := d.dial(d.issue(issued))
	node := func(name string) api.Issue {
		return api.Issue{Principal: api.Principal{Kind: api.PrincipalNode, Name: name}, Key: bus.NewCredential("").Key(), Enrols: true}
	}
	ask := func(i api.Issue) error {
		_, err := join.Control(t.Context(), api.VerbIssue, api.ControlRequest{Issue: &i})
		return err
	}
	user, forever, expires, other := node("ann"), node("worker-1"), node("worker-1"), node("k2")
	user.Principal.Kind, user.Principal.Role = api.PrincipalUser, api.RoleOperate
	forever.Enrols = false
	expires.Principal.Until = time.Now().Add(time.Hour)
	other.Principal.Kind = api.PrincipalJoin
	for what, c := range map[string]struct {
		issue api.Issue
		says  string
	}{
		"a user": {user, "for a node to have its own issued"}, "a revoked node's way": {forever, "for a node to have its own issued"},
		"an end": {expires, "for a node to have its own issued"}, "another join credential": {other, "for a node to have its own issued"},
		"another name": {node("planner-1"), "for nodes named worker-*, gpu-?"}, "a node that was there": {node("worker-0"), "did not come by this one"},
	} {
		if err := ask(c.issue); api.KindOf(err) != api.KindDenied || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, verb := range []api.Verb{api.VerbApps, api.VerbPrincipals, api.VerbRevoke, api.VerbTicket} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if _, err := join.Control(ctx, verb, api.ControlRequest{Login: held.Login}); err == nil {
			t.Errorf("it may %s", verb)
		}
		cancel()
	}
	// Two machines of one name at once, and one more than it is good for.
	results := make(chan error, 3)
	for _, name := range []string{"worker-1", "worker-1", "gpu-1"} {
		go func() { results <- ask(node(name)) }()
	}
	var refused []string
	for range 3 {
		if err := <-results; err != nil {
			refused = append(refused, err.Error())
		}
	}
	if len(refused) != 1 || !strings.Contains(refused[0], "was issued with --times 2, and used as often") {
		t.Errorf("of three at once these were refused: %q", refused)
	}
	if _, err := d.owner.Control(t.Context(), api.VerbRevoke, api.ControlRequest{Login: "node-worker-1"}); err != nil {
		t.Fatal(err)
	}
	more := d.dial(d.issue(api.Principal{Kind: api.PrincipalJoin, Name: "k3"}))
	i := node("worker-1")
	if _, err := more.Control(t.Context(), api.VerbIssue, api.ControlRequest{Issue: &i}); err == nil || !strings.Contains(err.Error(), "were revoked") {
		t.Errorf("a revoked node joins again: %v", err)
	}
	if _, err := d.owner.Control(t.Context(), api.VerbRevoke, api.ControlRequest{Login: "join-k3"}); err != nil {
		t.Fatal(err)
	}
	i = node("worker-2")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	if _, err := more.Control(ctx, api.VerbIssue, api.ControlRequest{Issue: &i}); err == nil {
		t.Error("a revoked one goes on")
	}
	cancel()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A node that does not get in by the file that it has says so in one line, with the command that mends it.
func TestANodeSaysWhyItDoesNotJoin(t *testing.T) {
	d := &desk{T: t, cfg: plannerConfig(t)}
	stop := d.start()
	past := time.Now().Add(-time.Second)
	expired := d.issue(api.Principal{Kind: api.PrincipalJoin, Name: "k1", Until: past})
	expired.Until = past
	revoked := d.issue(api.Principal{Kind: api.PrincipalJoin, Name: "k2"})
	if _, err := d.owner.Control(t.Context(), api.VerbRevoke, api.ControlRequest{Login: "join-k2"}); err != nil {
		t.Fatal(err)
	}
	others := d.issue(api.Principal{Kind: api.PrincipalJoin, Name: "k3", Join: api.Join{Nodes: []string{"worker-*"}}})
	used := d.issue(api.Principal{Kind: api.PrincipalJoin, Name: "k4", Join: api.Join{Times: 1}})
	if _, err := d.dial(used).Control(t.Context(), api.VerbIssue, api.ControlRequest{Issue: &api.Issue{
		Principal: api.Principal{Kind: api.PrincipalNode, Name: "first"}, Key: bus.NewCredential("").Key(), Enrols: true}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		join bus.Credential
		says string
	}{
		{expired, "the credentials of join-k1 in FILE have expired at "},
		{revoked, "refused the credentials of join-k2 in FILE: ask its operator for `pacer auth issue --join`"},
		{others, "node n1: this join credential is for nodes named worker-*"},
		{used, "node n1: this join credential was issued with --times 1, and used as often: `pacer auth issue --join` makes another one"},
	} {
		n, text, file := newWorld(t).node(t), &logs{}, filepath.Join(t.TempDir(), "join.key")
		if err := bus.WriteSecret(file, c.join.Encode()); err != nil {
			t.Fatal(err)
		}
		n.Name, n.Planner, n.Credentials, n.Logger = "n1", d.address, file, text.logger()
		_, stop := background(t, func(ctx context.Context, ready func(string)) error {
			n.Ready = ready
			return daemon.Node(ctx, n)
		})
		says := strings.ReplaceAll(c.says, "FILE", file)
		realenv.Await(t, says, func() bool { return strings.Contains(text.String(), says) })
		if err := stop(); err != nil {
			t.Error(err)
		}
		if all := text.String(); strings.Count(all, "level=WARN") != 1 || strings.Contains(all, "level=ERROR") ||
			strings.Contains(all, "--user NAME") {
			t.Errorf("%s: %s", c.join.Login, all)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A token for scrapes is taken by a node on a server of one's own, and by the planner that stands by.
func TestOneTokenScrapesAStandbyAndItsNodes(t *testing.T) {
	x := newExternal(t)
	second := plannerConfig(t)
	second.NatsURL, second.Credentials, second.TLS, second.Owners = x.p.NatsURL, x.p.Credentials, x.p.TLS, x.p.Owners
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	second.HTTP = free.Addr().String()
	_ = free.Close()
	ready, stop := background(t, func(ctx context.Context, ready func(string)) error {
		second.Ready = ready
		return daemon.Planner(ctx, second)
	})
	if line := soon(t, "the standby", ready); !strings.Contains(line, "stands by") {
		t.Fatal(line)
	}
	token := tokenOf(t, x.dial(own(t, x.p, x.server.URL())), api.TokenRequest{Scrape: true})
	for component, url := range map[string]string{"standby": "http://" + second.HTTP, "node": httpOf(x.text.String(), "node")} {
		for given, want := range map[string]int{token: 200, token + "x": 401, "": 401} {
			if code, _ := get(t, url+"/metrics", given); code != want {
				t.Errorf("%s: %d, want %d", component, code, want)
			}
		}
	}
	if err := errors.Join(stop(), x.stopNode(), x.stopPlanner()); err != nil {
		t.Error(err)
	}
}
