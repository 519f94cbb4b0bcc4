package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/registry"
)

// claimed are two sources whose experiments have given these values, until they are stopped.
func claimed() []registry.Source {
	turnaround := experiment.Claim{Table: "Table 3.1", Case: "FIFO", Measure: "mean turnaround, ratio", Theirs: 0.9,
		Band: experiment.Band{Least: new(0.7), Most: new(0.97), Reason: "the trace is made up"}, Why: "not to be read"}
	pending := experiment.Claim{Table: "Fig 3.4", Case: "FIFO over SJF", Measure: "pending, ratio", Theirs: 10,
		Band: experiment.Band{Least: new(3.0), Reason: "an order of magnitude, on a logarithmic scale"}, Why: "the load is lower"}
	late := experiment.Claim{Table: "Sec 7.1", Case: "alpha 0.95", Measure: "latest, %",
		Band: experiment.Band{Most: new(0.0), Reason: "the bound that the source states"}}
	gives := func(claims ...experiment.Claim) []experiment.Experiment {
		return []experiment.Experiment{{Claims: func(o experiment.Options) ([]experiment.Claim, error) {
			select {
			case <-o.Stop:
				return nil, des.ErrStopped
			default:
				return claims, nil
			}
		}}}
	}
	return []registry.Source{
		{Name: "000", Title: "A thesis", Experiments: gives(turnaround.Tried([]float64{0.8, 0.9}), pending.Tried([]float64{2, 2.5}))},
		{Name: "003", Title: "A paper", Experiments: gives(late.Tried([]float64{1.25}))},
	}
}

// reproduce runs the command on claimed.
func reproduce(t *testing.T, ctx context.Context, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	c := reproCommand(&out, io.Discard, claimed())
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs(append([]string{}, args...)) // Without any, it would take the test's.
	err := c.ExecuteContext(ctx)
	return out.String(), err
}

// What claims look like, as a table and as JSON.
func TestReproShowsClaims(t *testing.T) {
	for file, args := range map[string][]string{"table.txt": {}, "json.txt": {"-o", "json"}, "one.txt": {"003"}} {
		got, err := reproduce(t, t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		path := "testdata/repro/" + file
		if *rewrite {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// A claim reads back from its JSON as it was.
func TestClaimsReadBack(t *testing.T) {
	got, err := reproduce(t, t.Context(), "000", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]tried
	if err := json.Unmarshal([]byte(got), &back); err != nil {
		t.Fatal(err)
	}
	want, _ := claimed()[0].Claims(experiment.Options{Seeds: 1}, nil)
	if d := cmp.Diff(want, back["000"].Claims); d != "" || len(back) != 1 {
		t.Error(d)
	}
	if left := back["000"].NotTried; len(left) == 0 || left[0].Where == "" || left[0].Reason == "" || left[0].Count == 0 {
		t.Errorf("%+v", left)
	}
}

func TestReproIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reproduce(t, ctx); command.ExitCode(err) != command.ExitSignal+2 {
		t.Errorf("%v", err)
	}
}

func TestReproRefusesInOneLine(t *testing.T) {
	for want, args := range map[string][]string{
		`invalid argument "009"`: {"repro", "009"},
		"--seeds is 0":           {"repro", "--seeds", "0"},
		"at most 1 arg":          {"repro", "003", "003"},
	} {
		if code, _, stderr := run(t, args...); code != command.ExitUsage || !strings.Contains(stderr, want) ||
			strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}
