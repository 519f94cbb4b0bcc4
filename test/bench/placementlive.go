package main

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// Two nodes have a link of linkRate bytes a second each; what waits reads linkSize over it, about 45 s alone, and what
// computes takes about as long alone on its node.
const (
	linkRate      = 8 << 20
	linkSize      = 360 << 20
	computedRows  = "9000000"
	placementRuns = 3
	placedLimit   = 10 * time.Minute
)

// placedMemory is what one of the nodes gives: it holds two executors, with what each has off the heap.
const placedMemory = 4 * units.GiB

// placedNode is one of the nodes.
var placedNode = []string{"--cores", "0.9", "--memory", placedMemory.String(), "--set", "node.net-rate=8m"}

// placementLiveRow is about where executors go on real Spark.
func placementLiveRow(o trialOptions) row {
	runs := o.runs
	if runs == 0 {
		runs = placementRuns
	}
	return row{name: "live", minutes: 4 + 6*float64(runs), spark: true, extra: true, always: true,
		measure: func(t testing.TB, add adder) { placedLive(t, add, o, runs) }}
}

// placed are what applications are run by, and the profiles that their runs alone have left.
type placed struct {
	order    string
	profiles [][]byte
}

// placedLive measures how long two applications that wait for a link and two that compute take together, which come in
// turn, by the order prophet beside least-committed, and how far the verdicts of those that wait are from what they
// take: alone, and beside another.
func placedLive(t testing.TB, add adder, o trialOptions, runs int) {
	var profiles [][]byte
	var wrong []float64
	part(t, "alone", func(t testing.TB) { profiles, wrong = placedAlone(t) })
	spans := map[string][]float64{}
	for round := 1; round <= runs; round++ {
		orders := []string{placement.Prophet, placement.LeastCommitted}
		for _, order := range shuffled(orders, o.seed, fmt.Sprintf("placement live %d", round)) {
			part(t, fmt.Sprintf("%s, round %d of %d", order, round, runs), func(t testing.TB) {
				took, off := placed{order, profiles}.run(t)
				spans[order], wrong = append(spans[order], took), append(wrong, off...)
			})
		}
	}
	add("placement.live_ratio", benchline.Ratio(spans[placement.Prophet], spans[placement.LeastCommitted]), "ratio")
	worst := benchline.Quantile(wrong, 1)
	worst.Each = wrong
	add("placement.verdict_error_pct", worst, "%")
}

// start starts planner, nodes and link.
func (p placed) start(t testing.TB) (*realenv.System, *link) {
	t.Helper()
	n := realenv.NewNetwork(t, "n1", "n2")
	s := realenv.NewOn(t, n)
	s.StartPlanner("--set", "planner.placement="+p.order, "--set", "planner.max-nodes=1")
	l := startLink(t, n, linkSize, linkRate)
	s.StartNamed("n1", placedNode...)
	s.StartNamed("n2", placedNode...)
	for _, profile := range p.profiles {
		putProfile(t, s, profile)
	}
	return s, l
}

// reads and computes are the commands.
func reads(l *link) []string {
	return slices.Concat(memory, []string{filepath.Join(livePrograms, "waits.py"), "read", l.url()})
}

func computes() []string {
	return slices.Concat(memory, []string{filepath.Join(livePrograms, "waits.py"), "compute", computedRows})
}

// placedAlone records both, and runs what waits once more. It returns the profiles, and how far the verdict of the
// second run was off.
func placedAlone(t testing.TB) (profiles [][]byte, wrong []float64) {
	s, l := placed{order: placement.LeastCommitted}.start(t)
	for _, args := range [][]string{reads(l), computes(), reads(l)} {
		run := s.Submit(args...)
		if code := run.Wait(placedLimit); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, run.LastWords())
		}
		app := ended(s)
		t.Logf("%s took %.1f s: %s", app.Name, float64(app.Duration), app.Reason)
		if len(profiles) < 2 {
			profiles = append(profiles, profileOf(t, s, app.Profile))
			continue
		}
		wrong = append(wrong, offBy(t, app))
	}
	return profiles, wrong
}

// run runs the four by turns, each when the one before has its executors. It returns how long all took together, and
// how far the verdicts of those that wait were off. An application that is queued is a fault of the row: a node that
// comes free places it, not the order.
func (p placed) run(t testing.TB) (seconds float64, wrong []float64) {
	s, l := p.start(t)
	began := time.Now()
	var runs []*realenv.Process
	verdicts := map[api.AppID]string{} // As they are when it has its executor.
	for _, args := range [][]string{reads(l), computes(), reads(l), computes()} {
		run := s.Submit(args...)
		app := s.AwaitApp("an executor", realenv.Patience, func(a api.AppDetail) bool {
			return verdicts[a.ID] == "" && (a.State == api.AppQueued || len(a.Executors) > 0)
		})
		if app.State == api.AppQueued {
			t.Fatalf("%s waits for memory: %s", app.Name, app.Reason)
		}
		runs, verdicts[app.ID] = append(runs, run), app.Reason
	}
	for _, run := range runs {
		if code := run.Wait(placedLimit); code != 0 {
			t.Fatalf("exit %d: %s", code, run.LastWords())
		}
	}
	seconds = time.Since(began).Seconds()
	for _, a := range s.Apps() {
		app := s.App(a.ID)
		app.Reason = verdicts[a.ID]
		t.Logf("%s on %v took %.1f s: %s", app.Name, seatsOf(app), float64(app.Duration), app.Reason)
		if app.Name == "waits-read" {
			wrong = append(wrong, offBy(t, app))
		}
	}
	t.Logf("%s: all took %.1f s", p.order, seconds)
	return seconds, wrong
}

func seatsOf(app api.AppDetail) (nodes []string) {
	for _, x := range app.Executors {
		nodes = append(nodes, x.Node)
	}
	return nodes
}

var finishes = regexp.MustCompile(`would finish in ([0-9.]+)s`)

// offBy is by how many per cent of what an application took its verdict was off.
func offBy(t testing.TB, app api.AppDetail) float64 {
	t.Helper()
	m := finishes.FindStringSubmatch(app.Reason)
	if m == nil {
		t.Fatalf("the verdict of %s says no time: %s", app.ID, app.Reason)
	}
	said, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return 100 * math.Abs(said/float64(app.Duration)-1)
}
