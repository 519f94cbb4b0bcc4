package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// lendRuns is how often the applications run with memory that is lent, and with none.
	lendRuns = 3
	// lendApps come one after another, each lendEvery; every fourth has a deadline. Each takes lendSeconds of its own.
	lendApps, lendEvery, lendSeconds = 12, 3 * time.Second, 90
	// lendMemory holds three of their executors, of which each uses about a fifth of its claim.
	lendMemory = 4500
	// lendSlice is what each takes in a run that is shortened.
	lendSlice = 20
	// lendDeadline is what is left to those that are due: nothing but a wait behind batch work could make them late.
	lendDeadline = "6m"
)

// lendRow measures what batch work is lent.
func lendRow(o trialOptions) row {
	if o.runs == 0 {
		o.runs = lendRuns
	}
	return row{name: "lend", minutes: 12 * float64(o.runs), spark: true,
		measure: func(t testing.TB, add adder) { lent(t, add, o) }}
}

// lent runs twelve applications on a node that holds three of them, with memory that is lent and with none by turns.
func lent(t testing.TB, add adder, o trialOptions) {
	took, slack := map[string][]float64{}, map[string][]float64{}
	var late, ended, back []float64
	for round := 1; round <= o.runs; round++ {
		for _, mode := range shuffled([]string{lending.Off, "peak"}, o.seed, fmt.Sprintf("lend %d", round)) {
			part(t, fmt.Sprintf("lend %s, round %d of %d", mode, round, o.runs), func(t testing.TB) {
				seconds := lendSeconds
				if o.slice {
					seconds = lendSlice
				}
				r := lendRun{t: t, mode: mode, seconds: seconds}
				r.run()
				took[mode], slack[mode] = append(took[mode], benchline.Median(r.took).Value), append(slack[mode], r.slack())
				if mode != lending.Off {
					late, ended, back = append(late, r.late), append(ended, r.ended), append(back, r.back...)
				}
			})
		}
	}
	add("lend.turnaround_ratio", benchline.Ratio(took["peak"], took[lending.Off]), "ratio")
	add("lend.slack_ratio", benchline.Ratio(slack["peak"], slack[lending.Off]), "ratio")
	add("lend.late", benchline.Sum(late), "runs")
	add("lend.ended", benchline.Sum(ended), "executors")
	add("lend.back_s.max", benchline.Quantile(back, 1), "s")
}

// lendRun is one run of all applications.
type lendRun struct {
	t       testing.TB
	mode    string
	seconds int
	s       *realenv.System
	// took is from each one's command to its end, used what executors have resident, in MiB, once a second.
	took, used  []float64
	late, ended float64
	// back is from the registration of each one that is due to its executor's start.
	back []float64
}

func (r *lendRun) run() {
	t := r.t
	r.s = realenv.New(t)
	r.s.Env = []string{"PACER_PLANNER_LEND=" + r.mode, daemon.LendEveryEnv + "=1s"}
	r.s.StartUp("--memory", fmt.Sprintf("%dm", lendMemory))
	var all []*realenv.Process
	unseen, seen := map[api.AppID]time.Time{}, map[api.AppID]bool{}
	began, looked := time.Now(), time.Now()
	for over := 0; over < lendApps; time.Sleep(time.Second) {
		if len(all) < lendApps && time.Since(began) >= time.Duration(len(all))*lendEvery {
			flags := []string{"--pacer-class", string(api.ClassBatch)}
			if len(all)%4 == 3 {
				flags = []string{"--pacer-deadline", lendDeadline}
			}
			flags = append(flags, "--pacer-profile", fmt.Sprintf("lend-%d", len(all)), "test/bench/testdata/lend.py",
				strconv.Itoa(r.seconds))
			all = append(all, r.s.Submit(flags...))
		}
		for _, a := range r.s.Apps() {
			if !seen[a.ID] {
				seen[a.ID], unseen[a.ID] = true, looked
			}
		}
		looked = time.Now()
		r.used = append(r.used, resident(r.s.Dir))
		if over = 0; len(all) == lendApps {
			for _, p := range all {
				select {
				case <-p.Exited():
					over++
				default:
				}
			}
		}
		if time.Since(began) > 4*runLimit {
			t.Fatalf("%d of %d applications have ended after %v", over, lendApps, time.Since(began))
		}
	}
	for i, p := range all {
		if code := p.Wait(runLimit); code != 0 {
			t.Fatalf("application %d: exit %d: %s", i, code, p.LastWords())
		}
		if want := fmt.Sprintf("RESULT %d", 2*r.seconds); !strings.Contains(p.Answer(), want) {
			t.Fatalf("application %d answers %s, want %s", i, p.Answer(), want)
		}
		r.took = append(r.took, p.Took().Seconds())
	}
	for _, a := range r.s.Apps() {
		if a.Deadline > 0 {
			r.due(r.s.App(a.ID), unseen[a.ID])
		}
	}
	t.Logf("lend %s: took %.0f s, %.0f %% of the memory unused, back in %.1f s, %v late, %v ended", r.mode, r.took,
		100*r.slack(), r.back, r.late, r.ended)
	r.s.Up.Stop()
}

// due looks at an application with a deadline that registered after that moment.
func (r *lendRun) due(a api.AppDetail, registered time.Time) {
	if a.ErrorPct == nil || *a.ErrorPct < 0 {
		r.late++
	}
	r.ended += float64(len(a.Executors) - 1)
	files, err := filepath.Glob(filepath.Join(r.s.Dir, "*", "work", "apps", string(a.ID), "1", "stderr"))
	if err != nil || len(files) != 1 {
		r.t.Fatalf("the log of the executor of %s: %v, %v", a.ID, files, err)
	}
	made, err := os.Stat(filepath.Join(filepath.Dir(files[0]), "stdout")) // Made at the start, and never written to.
	if err != nil {
		r.t.Fatal(err)
	}
	r.back = append(r.back, made.ModTime().Sub(registered).Seconds())
}

// slack is the part of the node's memory that executors do not use, in the mean.
func (r *lendRun) slack() float64 { return 1 - benchline.Mean(r.used).Value/lendMemory }

// resident is what the executors below a directory have resident, in MiB, with the Python workers that they start. Of
// pages that several processes share each counts its part.
func resident(dir string) (mib float64) {
	found, _ := filepath.Glob("/proc/[0-9]*/stat")
	children, executors := map[string][]string{}, []string(nil)
	for _, path := range found {
		stat, err := os.ReadFile(path)
		_, after, named := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		if err != nil || !named || len(fields) < 2 {
			continue // It has ended.
		}
		process := filepath.Dir(path)
		children["/proc/"+fields[1]] = append(children["/proc/"+fields[1]], process)
		line, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		if text := string(line); strings.Contains(text, "CoarseGrainedExecutorBackend") && strings.Contains(text, dir) {
			executors = append(executors, process)
		}
	}
	seen := map[string]bool{}
	for len(executors) > 0 {
		process := executors[0]
		if executors = append(executors[1:], children[process]...); seen[process] {
			continue
		}
		seen[process] = true
		rollup, _ := os.ReadFile(filepath.Join(process, "smaps_rollup"))
		_, after, _ := strings.Cut(string(rollup), "\nPss:")
		if fields := strings.Fields(after); len(fields) > 0 {
			kib, _ := strconv.ParseFloat(fields[0], 64)
			mib += kib / 1024
		}
	}
	return mib
}
