package daemon_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// A group's programs run as processes on a real node of a real planner: with its file, each other's addresses and their own
// numbers. The main one's exit code ends the application and all of it; a port that another program has fails it.
func TestAGroupOfProcesses(t *testing.T) {
	w := newWorld(t)
	cfg := daemon.UpConfig{Planner: plannerConfig(t), Node: w.node(t)}
	cfg.Node.Deps.Command, cfg.Node.Jar, cfg.Node.ExecutorUser = nil, filepath.Join(t.TempDir(), "pacer.jar"), fmt.Sprint(os.Geteuid())
	if os.Geteuid() == 0 {
		cfg.Node.ExecutorUser = "root"
	}
	cfg.Node.Deps.Runtime = func(l executor.Layout, g *cgroup.Hierarchy) (executor.Runtime, error) {
		return executor.NewProcess(executor.ProcessConfig{Layout: l, Groups: g, Grace: 100 * time.Millisecond})
	}
	line, _ := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Up(ctx, cfg)
	})
	address, _, _ := strings.Cut(strings.TrimPrefix(line, "pacer is ready: planner on "), ",")
	conn, err := bus.Dial(bus.Options{Address: address, Credential: own(t, cfg.Planner, address)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ask := func(verb api.Verb, q api.ControlRequest) api.ControlReply {
		t.Helper()
		r, err := conn.Control(ctx, verb, q)
		if err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		return r
	}
	body := []byte("a file of the group\n")
	sum := sha256.Sum256(body)
	file := api.ComponentFile{Name: "note.txt", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(body))}
	run := func(name, main string, port int) api.AppDetail {
		t.Helper()
		ask(api.VerbUpload, api.ControlRequest{Query: &api.Query{Submit: &api.Submit{Piece: &api.FilePiece{SHA256: file.SHA256, Size: file.Size, Data: body}}}}) // Files go with their applications.
		part := func(name string, count, port int, script string) api.Component {
			return api.Component{Name: api.ExecutorID(name), Class: api.ComponentCore, Cores: 0.1, Memory: 64 * units.MiB, Count: count, Port: port,
				Command: []string{"sh", "-c", script}, Env: map[string]string{"PEERS": `{{hosts "server"}}`, "N": `{{index}}/{{count "server"}}`}, Files: []api.ComponentFile{file}}
		}
		r := ask(api.VerbSubmit, api.ControlRequest{Query: &api.Query{Submit: &api.Submit{Register: &api.RegisterRequest{Submission: "of " + name, Name: name},
			Group: &api.Group{Main: "chief", Components: []api.Component{part("chief", 1, 0, main), part("server", 2, port, "exec sleep 600")}}}}})
		for ; ; time.Sleep(50 * time.Millisecond) { // A user may ask 100 times a second.
			d := ask(api.VerbApp, api.ControlRequest{App: r.Apps[0].ID})
			if d.App != nil && d.App.EndedBy == api.EndedByExit {
				return *d.App
			}
			if ctx.Err() != nil {
				t.Fatalf("it does not end: %+v", d.App)
			}
		}
	}
	taken, port := vacant(t)
	a := run("group", `cat note.txt; echo "$PEERS $N"; exit 3`, port+1)
	if a.State != api.AppFailed || a.ExitCode != 3 || len(a.Executors) != 3 {
		t.Errorf("it is %s with exit code %d: %+v", a.State, a.ExitCode, a.Executors)
	}
	log := ask(api.VerbLogs, api.ControlRequest{App: a.ID, Node: "n1", Log: &api.LogRequest{V: api.Version, App: a.ID, Executor: "chief-0", Stream: "stdout"}})
	if want := fmt.Sprintf("%s127.0.0.1:%d,127.0.0.1:%d 0/2\n", body, port+1, port+2); log.Log == nil || string(log.Log.Data) != want {
		t.Errorf("it says %q, want %q", log.Log.Data, want)
	}
	a = run("taken", "exec sleep 600", port) // Its end must not come before a port that is taken is told.
	defer taken.Close()
	if want := fmt.Sprintf("port %d of component server-", port); a.State != api.AppFailed || !strings.Contains(a.Headline+strings.Join(a.Notices, " "), want) {
		t.Errorf("with a port that is taken it is %s: %s %q", a.State, a.Headline, a.Notices)
	}
}

// vacant is a listener at a port, of which the two behind it are free.
func vacant(t *testing.T) (net.Listener, int) {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port, free := l.Addr().(*net.TCPAddr).Port, 0
		for k := 1; k <= 2; k++ {
			if next, err := net.Listen("tcp", fmt.Sprintf(":%d", port+k)); err == nil {
				_ = next.Close()
				free++
			}
		}
		if free == 2 {
			return l, port
		}
		_ = l.Close()
	}
	t.Fatal("no ports are free")
	return nil, 0
}
