package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/spark"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// storeFiles of storeBytes each are what a job writes, one in each task; storeRuns how often its tail is measured.
	storeFiles = 200
	storeBytes = 1 << 20
	storeRuns  = 3
	// What calls and copies take of a store that is far.
	storePerCall = 30 * time.Millisecond
	storePerMiB  = 100 * time.Millisecond
	// storeSlack is a deadline over what the direct way takes at all cores.
	storeSlack = 1.3
	// storeTrials are jobs whose executors are killed, of storeTrialFiles each.
	storeTrials     = 20
	storeTrialFiles = 24
)

// storeWay is a way of writing into an object store: settings of Hadoop's.
type storeWay struct {
	name     string
	settings []string
}

// storeWays are Hadoop's classic committer by both algorithms, its magic one, and the direct way.
func storeWays() []storeWay {
	const factory = "mapreduce.outputcommitter.factory.scheme.s3a="
	classic := factory + "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory"
	algorithm := "mapreduce.fileoutputcommitter.algorithm.version="
	return []storeWay{
		{"v1", []string{classic, algorithm + "1"}},
		{"v2", []string{classic, algorithm + "2"}},
		{"magic", []string{factory + "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
			"fs.s3a.committer.name=magic", "fs.s3a.committer.magic.enabled=true"}},
		{"direct", []string{classic, algorithm + "1", "fs.s3a.impl=org.apache.spark.pacer.DirectFileSystem",
			"fs.s3a.impl.beneath=org.apache.hadoop.fs.s3a.S3AFileSystem", "fs.s3a.impl.beneath.disable.cache=false",
			"fs.s3a.impl.disable.cache=true"}},
	}
}

// objectStoreRows are about output to object stores: by Hadoop's committers as Spark drives them, and by Spark's jobs
// whose executors are killed.
func objectStoreRows(o trialOptions) []row {
	runs := o.runs
	if runs == 0 {
		runs = storeRuns
	}
	return []row{
		{name: "objectstore", minutes: 1 + 4*float64(runs), spark: true,
			measure: func(t testing.TB, add adder) { stored(t, add, runs) }},
		{name: "objectstore-kills", minutes: 12, spark: true, measure: storedWrong},
		{name: "objectstore-deadline", minutes: 6, spark: true, measure: storedLate},
	}
}

// storeTrial writes into one store.
type storeTrial struct {
	t     testing.TB
	store *realenv.ObjectStore
	path  string
	jobs  int
}

// stored counts calls and bytes of each way, and measures the tail where calls take time.
func stored(t testing.TB, add adder, runs int) {
	trial := storeTrial{t: t, store: realenv.NewObjectStore(t)}
	ours, err := spark.Install(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	jars := append([]string{realenv.Compiled(t, filepath.Join(livePrograms, "Committers.java")), ours,
		filepath.Join(realenv.SparkHome(t), "jars", "*")}, trial.store.Jars(false)...)
	trial.path = strings.Join(jars, ":")
	direct := 0
	ways := storeWays()
	slices.Reverse(ways) // The direct one first, whose calls the others' are compared with.
	for _, way := range ways {
		calls, _, _ := trial.write(way, 1, 1)
		add("objectstore.calls."+way.name, benchline.One(float64(calls)), "calls")
		calls, bytes, _ := trial.write(way, storeFiles, storeBytes)
		if way.name == "direct" {
			direct = calls
		}
		t.Logf("%s: %d calls of %d files", way.name, calls, storeFiles)
		add("objectstore.calls_ratio."+way.name, benchline.One(float64(calls)/float64(direct)), "ratio")
		add("objectstore.bytes_ratio."+way.name, benchline.One(float64(bytes)/(storeFiles*storeBytes)), "ratio")
	}
	trial.store.PerCall, trial.store.PerMiB = storePerCall, storePerMiB
	for _, way := range ways {
		var tails []float64
		for range runs {
			_, _, tail := trial.write(way, storeFiles, storeBytes)
			tails = append(tails, tail)
		}
		add("objectstore.tail_s."+way.name, benchline.Median(tails), "s")
	}
}

// write has a job write, and returns its calls, the bytes that were written or copied, and the seconds between its
// last task's end and its own.
func (s *storeTrial) write(way storeWay, files, bytes int) (calls int, put int64, tail float64) {
	s.t.Helper()
	s.jobs++
	args := []string{"-cp", s.path, "Committers", s.store.URL(fmt.Sprintf("job%d", s.jobs)), strconv.Itoa(files),
		strconv.Itoa(bytes), fmt.Sprintf("spark.sql.sources.writeJobUUID=job-%d", s.jobs)}
	for key, value := range s.store.Settings() {
		args = append(args, key+"="+value)
	}
	s.store.Told()
	cmd := exec.Command("java", append(args, way.settings...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		_, err = fmt.Sscanf(string(out), "TAIL %g", &tail)
	}
	if err != nil {
		s.t.Fatalf("%s: %v\n%s%s", way.name, err, out, said.String())
	}
	told, put := s.store.Told()
	if n := len(s.store.Keys(fmt.Sprintf("job%d", s.jobs))); n != files {
		s.t.Errorf("%s: %d objects of %d files", way.name, n, files)
	}
	return len(told), put, tail
}

// storedWrong has Spark's jobs write directly, with speculation, while an executor of each is killed, and counts those
// whose output is not right.
func storedWrong(t testing.TB, add adder) {
	store := realenv.NewObjectStore(t)
	store.PerCall = storePerCall
	s := realenv.StartUp(t)
	var wrong []float64
	n := storeTrialFiles << 14
	want := fmt.Sprintf("RESULT %d %d", n, n*(n-1)/2)
	for k := range storeTrials {
		out := fmt.Sprintf("trial%d", k)
		run := s.Submit(slices.Concat(store.Flags(false), []string{"--pacer-mode", "off",
			"--conf", "spark.pacer.output=direct",
			"--conf", "spark.speculation=true", "--conf", "spark.speculation.multiplier=1.1",
			"--conf", "spark.speculation.quantile=0.3", "--conf", "spark.executor.cores=1",
			"test/e2e/testdata/objects.py", "lines", store.URL(out), strconv.Itoa(storeTrialFiles)})...)
		s.Await("files of "+out, liveLimit, func() bool { return len(store.Keys(out)) > k })
		pids := executorsBelow(s.Up.PID())
		if len(pids) == 0 {
			t.Fatalf("no executor runs while files of %s are written", out)
		}
		_ = syscall.Kill(pids[0], syscall.SIGKILL)
		code, bad := run.Wait(liveLimit), 0.0
		if got := realenv.Results(run.Answer()); code != 0 || got != want || len(store.Keys(out)) != storeTrialFiles {
			t.Logf("%s: exit %d, %q, %d objects: %s", out, code, got, len(store.Keys(out)), run.LastWords())
			bad = 1
		}
		wrong = append(wrong, bad)
	}
	add("objectstore.wrong", benchline.Sum(wrong), "runs")
}

// storedLate has a job of Spark write by each way, through its own classes, and counts late ones. The deadline leaves
// the direct way some time, and Hadoop's classic committer copies after the last task.
func storedLate(t testing.TB, add adder) {
	store := realenv.NewObjectStore(t)
	store.PerCall, store.PerMiB = storePerCall, storePerMiB
	s := realenv.StartUp(t)
	run := func(way storeWay, flags ...string) api.AppDetail {
		output := way.name
		if way.name == "v1" {
			output = "as-is"
			for _, setting := range way.settings {
				flags = append(flags, "--conf", "spark.hadoop."+setting)
			}
		}
		out := fmt.Sprintf("%s%d", way.name, len(s.Apps()))
		p := s.Submit(slices.Concat(store.Flags(way.name == "magic"), flags, []string{
			"--conf", "spark.pacer.output=" + output,
			"test/e2e/testdata/objects.py", "lines", store.URL(out), strconv.Itoa(storeFiles), "only"})...)
		if code := p.Wait(liveLimit); code != 0 || len(store.Keys(out)) != storeFiles {
			t.Fatalf("%s: exit %d, %d objects: %s", out, code, len(store.Keys(out)), p.LastWords())
		}
		return ended(s)
	}
	ways := slices.DeleteFunc(storeWays(), func(w storeWay) bool { return w.name == "v2" })
	slices.Reverse(ways)
	deadline := (run(ways[0]).Duration * storeSlack).Duration().Round(time.Millisecond).String()
	for _, way := range ways {
		app, late := run(way, "--pacer-deadline", deadline), 0.0
		if app.ErrorPct == nil || *app.ErrorPct < 0 {
			late = 1
		}
		t.Logf("%s with a deadline of %s: %.1f s, %s", way.name, deadline, float64(app.Duration), app.Headline)
		add("objectstore.late."+way.name, benchline.One(late), "runs")
	}
}

// executorsBelow are the executors among the descendants of a process.
func executorsBelow(pid int) (pids []int) {
	for _, child := range realenv.Children(pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if strings.Contains(string(line), "CoarseGrainedExecutorBackend") {
			pids = append(pids, child)
		}
		pids = append(pids, executorsBelow(child)...)
	}
	return pids
}
