package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
)

const (
	// waitedRuns is how often somebody waits under each rule.
	waitedRuns = 3
	// waitedBatch is the size of the application that has both nodes: about 80 s on them.
	waitedBatch = "1"
)

// waitedNode is a node that holds one executor.
var waitedNode = []string{"--cores", "0.9", "--memory", "2g"}

// queueRows measure on real Spark who waits for whom.
func queueRows(o trialOptions) []row {
	if o.runs == 0 {
		o.runs = waitedRuns
	}
	measure := func(t testing.TB, add adder) { waited(t, add, o) }
	return []row{{name: "queue-live", minutes: 2 + 4*float64(o.runs), spark: true, measure: measure},
		{name: "slow-node", minutes: 8, spark: true, extra: true,
			measure: func(t testing.TB, add adder) { slowed(t, add, slowRuns) }},
		{name: "copies", minutes: 0.3, measure: copied}}
}

// waited measures how long a person waits for the first task on two nodes, each of which holds one executor and
// has one of a long application. It does so under two rules by turns: one that has the long application give a
// node back, and one that takes nothing back.
func waited(t testing.TB, add adder, o trialOptions) {
	want := realenv.Stock(t, app, waitedBatch)
	s := realenv.NewOn(t, realenv.NewNetwork(t, "n1", "n2"))
	s.StartPlanner()
	s.StartNamed("n1", waitedNode...)
	s.StartNamed("n2", waitedNode...)
	seconds := map[string][]float64{}
	for round := 1; round <= o.runs; round++ {
		rules := []string{assign.FlexiblePreemptive, assign.Backfill}
		for _, rule := range shuffled(rules, o.seed, fmt.Sprintf("queue-live %d", round)) {
			part(t, fmt.Sprintf("%s, round %d of %d", rule, round, o.runs), func(t testing.TB) {
				w := waiting{t: t, s: s, rule: rule, want: want, round: round}
				seconds[rule] = append(seconds[rule], w.run())
			})
		}
	}
	given, kept := seconds[assign.FlexiblePreemptive], seconds[assign.Backfill]
	worst := benchline.Quantile(given, 1)
	worst.Each = given
	add("queue.live.start_s.worst", worst, "s")
	add("queue.live.wait_ratio", benchline.Ratio(given, kept), "ratio")
	add("queue.live.backfill_start_s.median", benchline.Median(kept), "s")
}

// waiting is one run of the two applications.
type waiting struct {
	t          testing.TB
	s          *realenv.System
	rule, want string
	round      int
}

// run returns the seconds from the command of the one that a person waits for to its first task.
func (w waiting) run() float64 {
	t, s := w.t, w.s
	t.Helper()
	if code, out := s.Pacer("policy", "set", w.rule); code != 0 {
		t.Fatalf("pacer policy set %s: exit %d: %s", w.rule, code, out)
	}
	// A profile of its own: that of an earlier run would tell when it ends.
	profile := fmt.Sprintf("batch of %s, %d", w.rule, w.round)
	batch := s.Submit("--pacer-profile", profile, "--pacer-class", string(api.ClassBatch), app, waitedBatch)
	before, err := s.AwaitWhile(batch, "tasks on both nodes", func(a api.AppDetail) bool {
		return a.Profile == profile && len(busy(a)) == 2
	})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	person := s.Submit("--pacer-profile", "person", "--pacer-class", string(api.ClassInteractive), app, small)
	if code := person.Wait(runLimit); code != 0 {
		t.Fatalf("the one that a person waits for: exit %d: %s", code, person.LastWords())
	}
	log := s.Log(s.Newest().ID)
	if code := batch.Wait(runLimit); code != 0 {
		t.Fatalf("the long one: exit %d: %s", code, batch.LastWords())
	}
	if got := batch.Answer(); got != w.want {
		t.Fatalf("the long one answers\n%s\nstock Spark\n%s", got, w.want)
	}
	long := s.Log(before.ID)
	first := firstLaunch(log, began)
	failed, again := lost(long)
	t.Logf("%s: first task after %.1f s; the long one took %.1f s, executors %v left it, of its %d tasks %d failed and "+
		"%d ran again in another attempt of their stage", w.rule, first, batch.Took().Seconds(), long.Removed,
		len(long.Tasks), failed, again)
	s.Await("all executors to be gone", time.Minute, func() bool {
		for _, n := range s.Nodes() {
			if n.Executors > 0 {
				return false
			}
		}
		return true
	})
	return first
}

// lost is what an application has lost of its work: tasks that did not end well, and those of further attempts
// of their stages.
func lost(l sparklog.Log) (failed, again int) {
	for _, task := range l.Tasks {
		if !task.OK {
			failed++
		}
		if task.Attempt > 0 {
			again++
		}
	}
	return failed, again
}

// busy are the nodes on which an executor of a has worked for a stage.
func busy(a api.AppDetail) (nodes []string) {
	for _, stage := range a.Stages {
		for _, sample := range stage.Samples {
			i := slices.IndexFunc(a.Executors, func(x api.AppExecutor) bool { return x.ID == sample.Executor })
			if i >= 0 && sample.Used > 0 && !slices.Contains(nodes, a.Executors[i].Node) {
				nodes = append(nodes, a.Executors[i].Node)
			}
		}
	}
	return nodes
}
