package config

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

func file(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The keys are as few as somebody can choose.
func TestKeysAreFew(t *testing.T) {
	if len(settings) > 68 {
		t.Errorf("%d keys, want 68 at the most: what nobody can choose is a field of a preset", len(settings))
	}
	seen := map[string]bool{}
	for _, s := range settings {
		if retired[s.key] != "" || seen[s.key] {
			t.Errorf("%s is there twice: %s", s.key, retired[s.key])
		}
		seen[s.key] = true
	}
}

// A preset is where the other keys begin, whichever way it is given: those that are
// given themselves win over it. The paper's is the simulator's.
func TestAPresetIsWhereTheOtherKeysBegin(t *testing.T) {
	got, err := Load(Sources{Environ: []string{"PACER_NODE_PRESET=paper"}, Sets: []string{"planner.branches=in-turn"},
		File: file(t, "planner:\n  preset: paper\nnode:\n  gamma: 0.5\n")})
	if err != nil {
		t.Fatal(err)
	}
	paper, err := sim.WithLaw(sim.Default(), controller.LawPI)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	release := want.Planner.Engine.Release
	want.Planner.Engine = paper.Planner
	want.Planner.Engine.Branches, want.Planner.Engine.Release = estimate.BranchesInTurn, release
	if d := cmp.Diff(want.Planner.Engine, got.Planner.Engine); d != "" {
		t.Error(d)
	}
	engine := want.Node.Engine
	engine.Controller.Law, engine.Meter.Progress = paper.Node.Controller.Law, paper.Node.Meter.Progress
	engine.Supervisor.Eq21, engine.Supervisor.Gamma = paper.Node.Supervisor.Eq21, 0.5
	if d := cmp.Diff(engine, got.Node.Engine); d != "" {
		t.Error(d)
	}
	if paper.Planner.Alpha != 1 || paper.Planner.Split != dag.SplitPaper || engine.Supervisor.Eq21 != supervisor.Eq21Printed || engine.Meter.Progress != meter.Tasks {
		t.Errorf("the paper's preset is %+v and %+v", paper.Planner, paper.Node)
	}
	got, err = Load(Sources{File: file(t, ""), Sets: []string{"node.preset=authors"}})
	if err != nil || !strings.Contains(fmt.Sprint(got.Check("node.")), `node.preset: "authors", want one of pacer, paper`) {
		t.Errorf("an unknown preset: %v, %v", err, got.Check("node."))
	}
}

func TestFlagsWinOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	path := file(t, "client:\n  timeout: 500ms\n  tls-ca: a\nplanner:\n  history: 5\n  max-pool: 3\nnode:\n  memory: 4g\n")
	got := Default()
	err := load(&got, Sources{File: path, Environ: []string{"HOME=/", "PACER_CONFIG=ignored", "PACER_PLANNER_HISTORY=6", "PACER_NODE_MEMORY=2g", "PACER_TEST_X=1"},
		Sets: []string{"node.memory=3g", "node.plaintext=true"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Client.TLS.CA, want.Client.Timeout = "a", 500*time.Millisecond
	want.Planner.Engine.MaxPool, want.Planner.Engine.History = 3, 6
	want.Node.Memory, want.Node.Plaintext = 3*units.GiB, true
	if d := cmp.Diff(valuesOf(want), valuesOf(got)); d != "" {
		t.Error(d)
	}
}

// valuesOf are c's values by key.
func valuesOf(c Config) map[string]any {
	out := map[string]any{}
	for _, s := range settings {
		out[s.key] = s.value(&c)
	}
	return out
}

func TestDurationsAndSizesAreInSparksNotation(t *testing.T) {
	c := Default()
	if err := load(&c, Sources{File: file(t, "client:\n  timeout: 2min\nnode: {memory: 512m}\n")}); err != nil {
		t.Fatal(err)
	}
	if c.Client.Timeout != 2*time.Minute || c.Node.Memory != 512*units.MiB {
		t.Errorf("%v, %v", c.Client.Timeout, c.Node.Memory)
	}
	// A bare number is seconds, not nanoseconds.
	if err := load(&c, Sources{File: file(t, "client:\n  timeout: 90\n")}); err != nil || c.Client.Timeout != 90*time.Second {
		t.Errorf("%v, %v", c.Client.Timeout, err)
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	c := Default()
	err := load(&c, Sources{
		File:    file(t, "client:\n  time-out: 1s\nplanner:\n  branches: [a]\n  max-pool: 2.5\n  quantum: 0.1\nnode: {memory: large, gamma: much, plaintext: 3.5x}\n"),
		Environ: []string{"PACER_PLANNER_GAMMA=1", "PACER_NODE_FLOOR_SHARE=0.1"}, Sets: []string{"nonsense", "client.beta=1", "node.total-cores=3"},
	})
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"unknown key client.time-out (is it client.timeout?)", "KEY=VALUE", "client.beta",
		"planner.branches: ", "planner.max-pool: ", "not a whole number", "node.memory: ", "large", "node.gamma: ", "node.plaintext: ",
		"planner.quantum can be set no more, it is fixed: 0.05", "PACER_NODE_FLOOR_SHARE: node.floor-share can be set no more", "node.offered-cores"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

// Every key refuses what is out of its range, and all that are wrong are named.
func TestCheckReportsEveryKey(t *testing.T) {
	c := Default()
	if err := c.Check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	err := load(&c, Sources{Sets: []string{"client.timeout=0", "log.level=loud", "log.format=xml", "planner.branches=all", "planner.max-pool=0",
		"planner.max-nodes=-1", "planner.placement=luck", "planner.history=-1", "planner.profiles=0", "node.offered-cores=-1", "node.memory=0", "node.runtime=podman",
		"node.log-bytes=1k", "node.keep-logs-apps=-1"}})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Check()
	for _, want := range []string{"client.timeout: 0s, want more than 0", `log.level: "loud", want one of debug`, "log.format", `planner.branches: "all"`,
		"planner.max-pool: 0, want 1 or more executors", "planner.max-nodes", "planner.placement", "planner.history", "planner.profiles", "node.offered-cores", "node.memory",
		"node.runtime", "node.log-bytes: 1k, want 0 or at least 1m", "node.keep-logs-apps"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestWhatIsNoYAMLIsRefused(t *testing.T) {
	c := Default()
	if err := load(&c, Sources{File: file(t, "client: [")}); err == nil {
		t.Error("taken")
	}
}

func TestTheConfigurationPrintsAsAFileThatLoadsBack(t *testing.T) {
	want := Default()
	want.Client.Planner, want.Planner.Engine.MaxPool, want.Node.Memory, want.Planner.Engine.RevokeGrace = "h:1", 9, 3*units.GiB, 90*time.Second
	body, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got := Default()
	if err := load(&got, Sources{File: file(t, string(body))}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(valuesOf(want), valuesOf(got)); d != "" {
		t.Error(d)
	}
}

// What a reload takes are the live keys, and each key is a place of its own.
func TestWithTakesWhatIsLive(t *testing.T) {
	for _, s := range settings {
		is, next := Default(), Default()
		if err := load(&next, Sources{Sets: []string{s.key + "=" + another(s.value(&is))}}); err != nil {
			t.Fatalf("%s: %v", s.key, err)
		}
		changed := is.Changed(next)
		if s.effect != restart && s.effect != live && s.effect != perCall || !slices.Contains(changed, s.key) || len(changed) != 1 {
			t.Fatalf("another %s, effect %q, changes %v", s.key, s.effect, changed)
		}
		if took := len(is.With(next).Changed(next)) == 0; took != (s.effect == live) {
			t.Errorf("%s: taken %v, effect %q", s.key, took, s.effect)
		}
	}
}

// another is a text for a value that is not that one.
func another(value any) string {
	switch v := value.(type) {
	case time.Duration:
		return (v + time.Second).String()
	case bool:
		return fmt.Sprint(!v)
	case string:
		return v + "x"
	case units.Bytes:
		return fmt.Sprint(int64(v) + 1)
	case int:
		return fmt.Sprint(v + 1)
	}
	return fmt.Sprint(reflect.ValueOf(value).Float() + 0.125)
}

// Configurations are shown: what is secret belongs into a file of its own, whose path is a
// key.
func TestNoKeyHoldsASecret(t *testing.T) {
	for _, s := range settings {
		if api.Masked(s.key, "shown") != "shown" && !strings.HasSuffix(s.key, ".credentials") {
			t.Errorf("%s looks like a secret, and config show prints it", s.key)
		}
	}
}

func TestLogsMaskWhatLooksSecret(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log := Log{Format: format, Level: "info"}.Logger(&out, &slog.LevelVar{}).With("spark.authenticate.secret", "hunter2")
		log.Info("started", "app", "shown", slog.Group("env", "DB_PASSWORD", "hunter2"))
		if s := out.String(); strings.Contains(s, "hunter2") || !strings.Contains(s, "shown") {
			t.Errorf("%s: %s", format, s)
		}
	}
}
