package sim

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/sim/des"
)

// TestBadScenariosSayWhereAndWhatWasExpected has a text and its error a case.
func TestBadScenariosSayWhereAndWhatWasExpected(t *testing.T) {
	app := "# p\napp a\n  stage s tasks=1 work=1\n"
	for text, want := range map[string]string{
		"":                   `f:1: "", expected a comment`,
		"seed 1":             `f:1: "seed 1", expected a comment`,
		"# p":                "f:1: nothing is submitted, expected",
		"# p\nsede 1":        `f:2: unknown word "sede", expected one of seed, law`,
		"# p\nseed -1":       `f:2: seed "-1", expected a whole number`,
		"# p\nlaw bang":      `f:2: law "bang", want one of`,
		"# p\n\nplant lag=1": `f:3: lag: "1", expected a number from 0 to 0.999`,
		"# p\nplant lag=NaN": `f:2: lag: "NaN", expected a number`,
		app + "set floor=9\nnodes 2 cores=8\nat 0s submit a":  "f:4: node configuration: floor: 9 cores, want 0 to what is offered",
		app + "set interval=1m\nseed 2\nat 0s submit a":       "f:4: node configuration: stale: ",
		"# p\nset strategy=fifo":                              `f:2: strategy: "fifo", expected one of edf-pure, edf-all, edf-prop, proportional, speed`,
		"# p\nset queue-rule=fair":                            `f:2: queue-rule: "fair", expected one of backfill, rigid`,
		"# p\nset queue=lifo":                                 `f:2: queue: "lifo", expected one of edf, fifo`,
		"# p\nset queue-size=heap":                            `f:2: queue-size: "heap", expected one of time, time-units`,
		"# p\napp a least=3 most=2\n  stage s tasks=1 work=1": "f:2: application a has executors on 3 nodes at least and on 2 at most",
		"# p\nplant mass=1":                                   `f:2: unknown word "mass", expected one of bend, byte-cost`,
		"# p\nnodes 0 cores=1":                                `f:2: "0" nodes, expected 1 to 20000`,
		"# p\nnodes 2":                                        "f:2: no cores are given",
		"# p\nnetwork delay=fast":                             `f:2: delay: "fast", expected a duration`,
		"# p\nnetwork loss=1.5":                               `f:2: loss: "1.5", expected a number from 0 to 0.9`,
		"# p\nstage s tasks=1 work=1":                         "f:2: a stage without an application",
		"# p\napp a\nseed 1":                                  "f:2: application a has no stages",
		"# p\napp a\nstage s work=1":                          "f:3: stage s has no tasks",
		"# p\napp a\nstage s tasks=1 work=1 after=t":          `f:3: stage s comes after "t", which is no stage`,
		"# p\napp a\nstage s tasks=1 work=1 after=u\nstage t tasks=1 work=1 after=s\nstage u tasks=1 work=1 after=t\n": "f:3: stages wait for each other: s after u after t after s, expected a graph without cycles",
		"# p\xff":                                                                      "f:1: \"# p\\xff\", expected text in UTF-8",
		"# p\nseed 1\nseed 2":                                                          "f:3: seed is there twice, first in line 2",
		"# p\nset alpha=1\nset beta=0 alpha=1":                                         "f:3: set alpha is there twice, first in line 2",
		"# p\nnode n2 cores=1\nnodes 2 cores=1":                                        `f:3: node "n2" is there twice`,
		"# p\nnodes 2 cores=4 others=4":                                                "f:2: others take 4 of 4 cores, expected less",
		"# p\nplant pause-every=1e-9":                                                  "f:2: plant: a collection every 1e-09 core-seconds, want 0 or at least 0.01",
		"# p\nat 0s submit a":                                                          `f:2: unknown application "a", expected an app or a workload line before it`,
		app + "at 0s submit a deadline=0s":                                             `f:4: deadline: "0s", expected a duration from 100ms`,
		app + "at 0s submit a count=2 every=1s poisson=1s":                             "f:4: every and poisson are both there",
		app + "limit 10s\nat 0s submit a count=3 every=5s":                             "f:5: a comes after 10s, expected less than the limit of 10s",
		app + "at 0s submit a every=1s":                                                "f:4: every or poisson is there without a count",
		app + "at 0s submit a\nexpect a error 0 to 1":                                  "f:5: a has no error without a deadline, expected one in line 4",
		app + "at 0s submit a\nat 1s others n1 17":                                     "f:5: others take 17 cores of n1, expected at most its 16",
		app + "  stage t tasks=1 work=1 after=s,s":                                     `f:4: stage t comes after "s" twice`,
		"# p\napp a\n  stage t tasks=1 work=1 job=1\n  stage s tasks=1 work=1 after=t": "f:4: stage s of job 0 comes after t of job 1, expected no later job",
		app + "at 0s submit b":                                                         `f:4: unknown application "b", expected one of a`,
		app + "at noon submit a":                                                       `f:4: "noon", expected a duration`,
		app + "at 0s explode":                                                          `f:4: unknown event "explode", expected submit, kill or one of planner-down`,
		app + "at 0s submit a deadline=0x":                                             `f:4: deadline: "0", expected a number from 0.01`,
		app + "at 0s submit a\nat 1s node-lost n9":                                     `f:5: unknown node "n9"`,
		app + "at 0s submit a\nat 1s others n1":                                        `f:5: "n1", expected others NODE SIZE`,
		app + "at 0s submit a\nexpect a error high":                                    "f:5: ",
		app + "at 0s submit a deadline=9s\nexpect a#2 error 0 to 1":                    "f:5: a is submitted 1 times, expected a run up to that",
		app + "at 0s submit a deadline=9s\nexpect a#x error 0 to 1":                    `f:5: run of a: "x", expected a whole number`,
		app + "at 0s submit a\nexpect b error 0 to 1":                                  `f:5: application "b" is never submitted`,
		app + "app a\n  stage s tasks=1 work=1\nat 0s submit a":                        `f:4: application "a" is there twice`,
		"# p\napp a\n  stage s tasks=1 work=1\n  stage s tasks=1 work=1":               `f:4: stage "s" is there twice`,
		"# p\napp a\n  stage s tasks=1 work=1 tasks=2":                                 "f:3: tasks is there twice",
		"# p\napp a\n  stage s tasks=1 work=1 job=2\n  stage t tasks=1 work=x":         `f:4: work: "x", expected a number`,
	} {
		_, err := ParseScenario("f", text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s...", text, err, want)
		}
	}
}

// How a text was typed changes nothing: the ends of its lines, tabs, a mark of the
// byte order, comments, the place of seed, law and set.
func TestHowAScenarioIsTypedDoesNotMatter(t *testing.T) {
	const text = "# p\nseed 7\nlaw pi\nset alpha=0.9\napp a\n  stage s tasks=4 work=8\nat 0s submit a deadline=2x count=3 poisson=5s\n---\ngolden\n"
	want, err := ParseScenario("f", text)
	if err != nil || want.Golden() != "golden\n" || want.Config.Planner.Alpha != 0.9 || want.Law != "pi" {
		t.Fatalf("%+v, %v", want, err)
	}
	for name, other := range map[string]string{
		"CR LF":    strings.ReplaceAll(text, "\n", "\r\n"),
		"tabs":     strings.ReplaceAll(text, " tasks", "\ttasks"),
		"mark":     "\ufeff" + text,
		"comments": strings.ReplaceAll(text, "=8\n", "=8\t# much\n"),
		"order":    "# p\nset alpha=0.9\napp a\n  stage s tasks=4 work=8\nat 0s submit a deadline=2x count=3 poisson=5s\nlaw pi\nseed 7\n---\ngolden\n",
	} {
		got, err := ParseScenario("f", other)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range got.arrivals {
			got.arrivals[i].line = want.arrivals[i].line
		}
		if name == "order" { // Arrivals are drawn for their line.
			got.arrivals = want.arrivals
		}
		if d := cmp.Diff(want.Config, got.Config); d != "" || !slices.Equal(want.arrivals, got.arrivals) || got.Golden() != want.Golden() {
			t.Errorf("%s: %s %v, want %v, golden %q", name, d, got.arrivals, want.arrivals, got.Golden())
		}
	}
}

// An application that is refused or that fails has no error that could be as expected,
// and an expectation of one run is none of the others.
func TestARefusedApplicationIsNotAsExpected(t *testing.T) {
	s := Scenario{name: "f", expects: []expectation{{line: 3, app: "a", low: -1, high: 1}}}
	for _, c := range []struct {
		run, of int
		o       Outcome
		want    string
	}{
		{1, 0, Outcome{Pacing: refused}, "f:3: a was refused, expected an error of -1 to 1 %"},
		{1, 0, Outcome{Pacing: "failed"}, "f:3: run 1 of a failed, expected an error of -1 to 1 %"},
		{2, 0, Outcome{Pacing: "paced", Error: 2}, "f:3: the error of run 2 of a is +2.00 %, expected -1 to 1"},
		{2, 2, Outcome{Pacing: "paced", Error: 2}, "f:3: the error of run 2 of a is +2.00 %, expected -1 to 1"},
		{1, 2, Outcome{Pacing: "paced", Error: 2}, ""},
		{1, 0, Outcome{Pacing: "paced"}, ""},
	} {
		s.expects[0].run = c.of
		if got := strings.Join(s.unmet("a", c.run, c.o), "; "); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A Run that is stopped says so, and an application that never ends is named.
func TestARunEndsWhenItIsStopped(t *testing.T) {
	s, err := ParseScenario("f", "# p\nlimit 10s\napp long\n  stage s tasks=400 work=40000\nat 0s submit long")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(nil); err == nil || !strings.HasPrefix(err.Error(), "f:5: the run of long at all cores: ") || !strings.Contains(err.Error(), "application long has not ended by 10s") {
		t.Errorf("%v", err)
	}
	stop := make(chan struct{})
	close(stop)
	s.Config.Stop, s.Config.Limit = stop, time.Hour // It looks every so many events.
	if _, err := s.Run(nil); !errors.Is(err, des.ErrStopped) {
		t.Errorf("%v", err)
	}
}

// FuzzScenario: whatever the text, the parser answers with an error that names file
// and line, or with a scenario of which a world can be made and which reads the
// same when it is written again.
func FuzzScenario(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("# No line ends here.\napp a\n  stage s tasks=1 work=1\nat 0s submit a")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScenario("f", text, chain("aggr-by-key", 2, 100, 400))
		if err == nil && s.Proves == "" {
			t.Error("a scenario that proves nothing")
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("the error does not say where: %v", err)
			}
			return
		}
		again, err := ParseScenario("f", s.Rewritten(s.Golden()), chain("aggr-by-key", 2, 100, 400))
		if err != nil || again.Proves != s.Proves || strings.TrimSuffix(again.source, "\n") != strings.TrimSuffix(s.source, "\n") || again.golden != s.golden || len(again.arrivals) != len(s.arrivals) {
			t.Errorf("written again it reads as %+v, %v", again, err)
		}
		if len(s.Config.Nodes) > 4 || s.Config.Node.Interval < 100*time.Millisecond {
			return // Takes long.
		}
		if _, err := New(s.Config); err != nil {
			t.Errorf("what was read makes no world: %v", err)
		}
	})
}
