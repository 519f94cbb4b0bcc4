package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/bus/bustest"
	"github.com/sparkpacer/pacer/config"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
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

// failover kills the planner that serves, as kill -9 does, and times until the one that stands by
// has stored a request and answered it. Kills are at all phases of the lease's renewals.
func failover(t testing.TB, add adder) {
	own := bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
	p := planners{t: t, servers: bustest.StartCluster(t, 3, bustest.Config{Planner: own}), credentials: filepath.Join(t.TempDir(), "planner"), owned: t.TempDir()}
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
	var took []float64
	for i := range failovers {
		standby := p.start(1-i%2, "stands by")
		time.Sleep(time.Duration(i) * time.Second / failovers)
		began := time.Now()
		if err := serves.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for {
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
		serves = standby
	}
	add("failover_s.median", benchline.Median(took), "s")
	add("failover_s.worst", benchline.Quantile(took, 1), "s")
}
