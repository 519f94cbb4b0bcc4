package torture

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/testenv"
)

var (
	soakFor  = flag.Duration("soak", 0, "how long TestSoak runs; 0 skips it")
	every    = flag.Duration("every", 1800*time.Millisecond, "how often TestSoak submits an application")
	soakFile = flag.String("soakfile", "../../out/soak.jsonl", "where its slopes go")
)

// allowed is how much a quantity may grow by the hour. Of memory and work directories it is a
// tenth of a KiB for each of 2,000 applications and what the fakes keep of each executor.
var allowed = map[string]float64{RSS: 4, Heap: 2, Stores: 1, Work: 1, Descriptors: 4, Goroutines: 4}

// TestSoak runs applications of package driver one after the other, some at a time, on a real
// planner and two real node controllers whose executors are fakes, in one process and in real
// time: 1,000 in half an hour. Nothing that the process has grows: descriptors, goroutines,
// resident memory, stores, work directories.
func TestSoak(t *testing.T) {
	if *soakFor <= 0 {
		t.Skip("takes as long as is asked for: make soak ARGS='-soak 30m'")
	}
	var s Soak
	testenv.RunReal(t, func(e *testenv.Env) {
		e.Planner = func(c *daemon.PlannerConfig) { c.Sync = daemon.DefaultPlannerConfig().Sync }
		s = soak(e, *soakFor, *every, 5*time.Second)
	})
	report(t, s)
	keepSoak(t, s)
}

// keepSoak writes s to the file of soaks.
func keepSoak(t *testing.T, s Soak) {
	t.Helper()
	var err error
	if s.Sources, err = benchline.Sources("../.."); err == nil {
		err = AddSoak(*soakFile, s)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestSoakInVirtualTime is TestSoak without waiting: 20 minutes.
func TestSoakInVirtualTime(t *testing.T) {
	var s Soak
	testenv.Run(t, func(e *testenv.Env) { s = soak(e, 20*time.Minute, 6*time.Second, 20*time.Second) })
	// The first seconds of a process say nothing of its resident memory.
	delete(s.Slope, RSS)
	report(t, s)
}

func report(t *testing.T, s Soak) {
	t.Helper()
	for name, most := range allowed {
		if _, measured := s.Slope[name]; !measured {
			continue
		}
		line := fmt.Sprintf("%s: %.2f at the end, grows by %.3f +- %.3f an hour (%d applications, %d samples)", name, s.Last[name], s.Slope[name], s.Error[name], s.Applications, s.Samples)
		if !Flat(s.Slope[name], s.Error[name], most) {
			t.Error(line)
		} else {
			t.Log(line)
		}
	}
}

// kept is how many ended applications the planner keeps in a soak: it is full long before
// the first quarter is over.
const kept = 20

// soak submits an application each interval for a time, and measures.
func soak(e *testenv.Env, long, interval, each time.Duration) Soak {
	before := e.Planner
	e.Planner = func(c *daemon.PlannerConfig) {
		if before != nil {
			before(c)
		}
		c.Engine.History, c.Engine.DetailHistory = kept, 5
	}
	e.Node = func(c *daemon.NodeConfig) { c.Keep.Apps = kept }
	e.StartPlanner()
	for _, name := range []string{"n1", "n2"} {
		e.StartNode(testenv.NodeSpec{Name: name, Cores: 2})
	}
	s, all := Soak{Minutes: long.Minutes()}, series{}
	var running []*testenv.Driver
	began := time.Now()
	next, sample := interval, each
	for elapsed := time.Duration(0); elapsed < long; elapsed = time.Since(began) {
		if elapsed >= next {
			next += interval
			app := testenv.Chain(fmt.Sprintf("soak-%d", s.Applications%5), 2, 1.5)
			if s.Applications >= 10 {
				app.Deadline = 15
			}
			d := e.Submit(app)
			if err := d.Refused(); err != nil {
				e.T.Fatal(err)
			}
			running = append(running, d)
			s.Applications++
		}
		left := running[:0]
		for _, d := range running {
			if !d.Leave() {
				left = append(left, d)
			}
		}
		clear(running[len(left):])
		if running = left; len(running) > 20 {
			e.T.Fatalf("%d applications have not ended", len(running))
		}
		if elapsed >= sample {
			sample += each
			if elapsed > long/4 {
				all.add(elapsed, measure(e))
			}
		}
		e.Pass(100 * time.Millisecond)
	}
	for _, d := range running {
		d.Wait()
	}
	all.into(&s)
	r, err := e.Ask(api.VerbApps, api.ControlRequest{})
	if err != nil {
		e.T.Fatal(err)
	}
	for _, a := range r.Apps {
		if a.State != api.AppFinished {
			e.T.Errorf("%s has ended %s", a.ID, a.State)
		}
	}
	return s
}

// memoryClasses begin the names of what Go's runtime tells of its memory.
const memoryClasses = "/memory/classes/"

// measure is what the process has now. Beside what is judged there are the parts of its
// resident memory, as the kernel and as Go's runtime counts them: the cause of a growth.
func measure(e *testenv.Env) map[string]float64 {
	debug.FreeOSMemory() // What is not used any more is nobody's.
	out := processHas(os.Getpid(), e.Dir())
	out[Goroutines] = float64(runtime.NumGoroutine())
	classes := metrics.All()
	classes = slices.DeleteFunc(classes, func(d metrics.Description) bool { return !strings.HasPrefix(d.Name, memoryClasses) })
	samples := make([]metrics.Sample, len(classes))
	for i, d := range classes {
		samples[i].Name = d.Name
	}
	metrics.Read(samples)
	for _, m := range samples {
		name := "go_" + strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(m.Name, memoryClasses), ":bytes"), "/", "_") + "_mib"
		out[name] = float64(m.Value.Uint64()) / (1 << 20)
	}
	return out
}
