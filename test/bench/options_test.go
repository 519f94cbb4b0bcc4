package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOptions(t *testing.T) {
	of := func(args ...string) (out []string) {
		o, err := parse(args)
		if err != nil {
			t.Fatal(err)
		}
		all, err := o.rows()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			out = append(out, r.name)
		}
		return out
	}
	if n := of("deadlines"); len(n) != 10 || slices.Contains(n, "group-by-zipf-1") || !slices.Contains(n, "diamond") {
		t.Errorf("by default %v", n)
	}
	if d := cmp.Diff([]string{"group-by", "group-by-zipf-2"}, of("deadlines", "-only", "group-by-zipf-2,group-by")); d != "" {
		t.Error(d)
	}
	o, err := parse([]string{"deadlines", "-only", "diamond", "-slack", "0,40", "-runs", "1", "-slice", "-set", "planner.preset=paper", "-seed", "7"})
	if err != nil || o.trial.runs != 1 || !slices.Equal(o.trial.slacks, []int{0, 40}) || o.trial.seed != 7 {
		t.Errorf("%+v, %v", o, err)
	}
	if v := o.trial.variant(); v != "slice,planner.preset=paper" {
		t.Errorf("variant %q", v)
	}
	for args, want := range map[string]string{"sql -certainty 0.5": "certainty=0.5", "sql -certainty 0.95 -scale 0.1": "scale=0.1",
		"deadlines -certainty 0.95": "certainty=0.95", "deadlines -certainty 0.5": "", "sql": ""} {
		if o, err := parse(strings.Fields(args)); err != nil || o.trial.variant() != want {
			t.Errorf("%s: variant %q, %v", args, o.trial.variant(), err)
		}
	}
	if n := of("sql"); !slices.Equal(n, []string{"sql"}) {
		t.Errorf("by default %v", n)
	}
	if o, err := parse(nil); err != nil || o.command != "figures" || o.file != "docs/figures.jsonl" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range []string{"deadlines -only KMeans", "deadlines -runs -1", "deadlines -slack -5", "deadlines -slack x", "deadlines group-by",
		"-fast", "figures -slack 20", "figures -only nothing", "everything", "deadlines -slice -scale 2", "deadlines -scale 0", "sql -certainty 1", "sql -certainty x",
		"contention -certainty 0.95", "sql -slice", "-seed x"} {
		if o, err := parse(strings.Fields(wrong)); !errors.Is(err, errUsage) {
			t.Errorf("%s: %+v, %v", wrong, o, err)
		}
	}
}

func TestWorkloadsHaveTheirSlacks(t *testing.T) {
	want := map[string][]int{"diamond": {0, 10, 20, 40}, "short-stages": {0, 10, 20, 40}, "kmeans": {0, 20, 40}}
	for _, w := range workloads() {
		if slacks, named := want[w.name]; named && !slices.Equal(slacks, (trialOptions{}).slacksOf(w)) {
			t.Errorf("%s: %v, want %v", w.name, w.slacks, slacks)
		}
		if got := (trialOptions{slacks: []int{5}}).slacksOf(w); !slices.Equal(got, []int{5}) {
			t.Errorf("%s: asked for 5, got %v", w.name, got)
		}
	}
}

func TestCommandsOfWorkloads(t *testing.T) {
	zipf := named("group-by-zipf-2")
	for want, o := range map[string]trialOptions{"--zipf 2 --scale 0.5": {}, "--zipf 2 --slice": {slice: true}, "--zipf 2 --scale 0.1": {scale: "0.1"}} {
		if got := strings.Join(o.command(zipf[0]), " "); !strings.HasSuffix(got, "group-by "+want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (trialOptions{slice: true}).command(demonstrated()); !slices.Equal(got, []string{app, "0.3"}) {
		t.Errorf("the demonstration: %v", got)
	}
}
