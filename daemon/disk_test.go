package daemon_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

// An application whose files pass the node's bound is ended with a line that names it and the
// bound, and its neighbour runs on.
func TestWhoFillsItsPartOfTheDiskIsEnded(t *testing.T) {
	w, text := newWorld(t), &logs{}
	cfg := daemon.UpConfig{Planner: plannerConfig(t), Node: w.node(t)}
	cfg.Planner.Logger, cfg.Node.Logger = text.logger(), text.logger()
	cfg.Node.Files.App = units.MiB
	line, _ := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Up(ctx, cfg)
	})
	_, address, _ := strings.Cut(line, "planner on ")
	address, _, _ = strings.Cut(address, ",")
	conn, err := bus.Dial(bus.Options{Address: address, Credential: own(t, cfg.Planner, address)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	secret := bus.NewCredential("")
	register := func(name string) api.AppID {
		reply, err := conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: name, Name: name, Key: secret.Key(),
			Launch: api.Launch{DriverURL: "spark://x", Heap: 512 * units.MiB, SparkVersion: "4.2.0"}})
		if err != nil {
			t.Fatal(err)
		}
		<-w.started
		return reply.AppID
	}
	write := func(app api.AppID, path string, size int) {
		path = filepath.Join(cfg.Node.State, "work", "apps", string(app), path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, make([]byte, size), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	big, neighbour := register("big"), register("neighbour")
	heard := make(chan api.Directive, 64)
	secret.Login = string(big)
	driver, err := bus.Dial(bus.Options{Address: address, Credential: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close()
	if err := driver.SubscribeDirective(big, func(d api.Directive) { heard <- d }); err != nil {
		t.Fatal(err)
	}
	write(neighbour, "local/spilled", 512<<10)
	write(big, "local/spilled", 2<<20)
	want := "killed by node n1: its files take"
	for dead := ""; !strings.HasPrefix(dead, want); {
		select {
		case d := <-heard:
			dead = d.Dead
		case <-ctx.Done():
			t.Fatalf("nobody has told it: %s", text)
		}
	}
	reply, err := conn.Control(ctx, api.VerbApps, api.ControlRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range reply.Apps {
		if a.ID == neighbour && a.State != api.AppRunning {
			t.Errorf("its neighbour: %+v", a)
		}
	}
}
