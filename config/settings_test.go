package config

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
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
	"github.com/sparkpacer/pacer/meter"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

type inner struct {
	MaxPool int
	Alpha   float64
}

type sample struct {
	Client struct {
		HTTPAddress string
		Timeout     time.Duration
	}
	Engine struct {
		Own    string
		Nested inner `mapstructure:",squash"`
	}
	Memory units.Bytes
	Cores  units.Cores
	Flag   bool
	Hook   func()
}

func defaultSample() sample {
	var s sample
	s.Client.HTTPAddress, s.Client.Timeout = "127.0.0.1:1", time.Second
	s.Engine.Nested = inner{MaxPool: 4, Alpha: 0.97}
	s.Memory, s.Cores = units.GiB, 2
	return s
}

func file(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysAreTheFieldsInLowerCaseWithHyphens(t *testing.T) {
	s := defaultSample()
	want := []string{"client.http-address", "client.timeout", "cores", "engine.alpha", "engine.max-pool", "engine.own", "flag", "memory"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(flatten(&s)))); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]string{"MaxPool": "max-pool", "HTTP": "http", "HTTPAddress": "http-address", "P": "p", "Ti": "ti", "JavaHome": "java-home"} {
		if got := kebab(name); got != want {
			t.Errorf("%s has key %s, want %s", name, got, want)
		}
	}
}

// A preset is where the other keys begin, whichever way it is given: those that are
// given themselves win over it. The paper's is the simulator's.
func TestAPresetIsWhereTheOtherKeysBegin(t *testing.T) {
	got, err := Load(Sources{Environ: []string{"PACER_NODE_PRESET=paper"}, Sets: []string{"planner.alpha=0.95"},
		File: file(t, "planner:\n  preset: paper\nnode:\n  gamma: 0.5\n  progress: work\n")})
	if err != nil {
		t.Fatal(err)
	}
	paper, err := sim.WithLaw(sim.Default(), controller.LawPI)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Planner.Preset, want.Node.Preset = "paper", "paper"
	release := want.Planner.Engine.Release
	want.Planner.Engine = paper.Planner
	want.Planner.Engine.Alpha, want.Planner.Engine.Release = 0.95, release
	want.Node.Law, want.Node.Eq21, want.Node.Gamma = paper.Node.Controller.Law, paper.Node.Supervisor.Eq21, 0.5
	if d := cmp.Diff(want.Planner.Engine, got.Planner.Engine); d != "" {
		t.Error(d)
	}
	for _, c := range []*Config{&want, &got} {
		c.Node.InstallJar = nil // A function compares as unequal.
	}
	if d := cmp.Diff(want.Node, got.Node); d != "" {
		t.Error(d)
	}
	if paper.Planner.Alpha != 1 || paper.Planner.Split != dag.SplitPaper || want.Node.Eq21 != supervisor.Eq21Printed || paper.Node.Meter.Progress != meter.Tasks {
		t.Errorf("the paper's preset is %+v and %+v", paper.Planner, paper.Node)
	}
	got, err = Load(Sources{File: file(t, ""), Sets: []string{"node.preset=authors"}})
	if err != nil || !strings.Contains(fmt.Sprint(got.Node.Validate()), `preset "authors": want one of pacer, paper`) {
		t.Errorf("an unknown preset: %v, %v", err, got.Node.Validate())
	}
}

func TestFlagsWinOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	path := file(t, "client:\n  timeout: 500ms\n  http-address: 'a:1'\nengine:\n  alpha: 0.9\n  max-pool: 3\nmemory: 4g\n")
	s := defaultSample()
	err := load(&s, Sources{File: path, Environ: []string{"HOME=/", "PACER_CONFIG=ignored", "PACER_ENGINE_ALPHA=0.95", "PACER_MEMORY=2g", "PACER_TEST_X=1"},
		Sets: []string{"memory=3g", "flag=true"}})
	if err != nil {
		t.Fatal(err)
	}
	want := defaultSample()
	want.Client.HTTPAddress, want.Client.Timeout = "a:1", 500*time.Millisecond
	want.Engine.Nested = inner{MaxPool: 3, Alpha: 0.95}
	want.Memory, want.Flag = 3*units.GiB, true
	s.Hook = nil
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
}

func TestDurationsAndSizesAreInSparksNotation(t *testing.T) {
	s := defaultSample()
	if err := load(&s, Sources{File: file(t, "client:\n  timeout: 2min\nmemory: 512m\n")}); err != nil {
		t.Fatal(err)
	}
	if s.Client.Timeout != 2*time.Minute || s.Memory != 512*units.MiB {
		t.Errorf("%v, %v", s.Client.Timeout, s.Memory)
	}
	// A bare number is seconds, not nanoseconds.
	if err := load(&s, Sources{File: file(t, "client:\n  timeout: 90\n")}); err != nil || s.Client.Timeout != 90*time.Second {
		t.Errorf("%v, %v", s.Client.Timeout, err)
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	s := defaultSample()
	err := load(&s, Sources{
		File:    file(t, "client:\n  time-out: 1s\nengine:\n  alpha: much\n  max-pool: 2.5\nmemory: large\nflag: 3.5x\n"),
		Environ: []string{"PACER_ENGINE_GAMMA=1"}, Sets: []string{"nonsense", "engine.beta=1"},
	})
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"unknown key client.time-out (is it client.timeout?)", "PACER_ENGINE_GAMMA", "KEY=VALUE", "engine.beta",
		"alpha", "not a whole number", "large"} {
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestWhatIsNoYAMLIsRefused(t *testing.T) {
	s := defaultSample()
	if err := load(&s, Sources{File: file(t, "client: [")}); err == nil {
		t.Error("taken")
	}
}

func TestTheConfigurationPrintsAsAFileThatLoadsBack(t *testing.T) {
	want := Default()
	want.Client.Planner, want.Planner.Engine.Alpha, want.Node.Memory, want.Planner.Engine.DriverLost = "h:1", 0.9, 3*units.GiB, 90*time.Second
	body, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got := Default()
	if err := load(&got, Sources{File: file(t, string(body))}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(flatten(&want), flatten(&got)); d != "" {
		t.Error(d)
	}
}

func TestDocumentationListsEveryKey(t *testing.T) {
	doc, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	keys := flatten(&cfg)
	for key := range keys {
		if !strings.Contains(string(doc), "| `"+key+"` |") {
			t.Errorf("docs/configuration.md has no row for %s", key)
		}
	}
	for _, line := range strings.Split(string(doc), "\n") {
		if key, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") && !strings.HasPrefix(key, "spark.") {
			if _, known := keys[key]; !known {
				t.Errorf("docs/configuration.md has a row for %s, which does not exist", key)
			}
		}
	}
}

// What the documentation calls live is what With takes, and nothing else.
func TestDocumentationListsWhatMayChangeLive(t *testing.T) {
	doc, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(doc), "Live keys hold")
	list, _, _ = strings.Cut(list, "needs a restart")
	cfg := Default()
	keys := flatten(&cfg)
	for key, value := range keys {
		next := Default()
		if err := load(&next, Sources{Sets: []string{key + "=" + another(value)}}); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if got := cfg.Changed(next, ""); !slices.Equal(got, []string{key}) {
			t.Fatalf("another %s changes %v", key, got)
		}
		live := len(cfg.With(next).Changed(next, "")) == 0
		if documented := strings.Contains(list, "`"+key+"`"); live != documented {
			t.Errorf("%s: may change live: %v, documented: %v", key, live, documented)
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
	cfg := Default()
	for key := range flatten(&cfg) {
		if api.Masked(key, "shown") != "shown" && !strings.HasSuffix(key, ".credentials") {
			t.Errorf("%s looks like a secret, and config show prints it", key)
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
