package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/test/benchline"
)

// eventLogRows measure the reader of event logs.
func eventLogRows() []row {
	return []row{
		{name: "logs", minutes: 1, measure: logsCounted},
		{name: "log-speed", minutes: 3, measure: logSpeed},
	}
}

// logFigure is a figure that a test of the reader has logged, with its unit.
var logFigure = regexp.MustCompile(`(eventlog\.[a-z_]+) ([0-9.]+)( pct)?`)

// logsCounted has the reader's tests count kinds of logs, complete stages, panics and signatures.
func logsCounted(t testing.TB, add adder) {
	out, err := exec.Command("go", "test", "-count", "1", "-v", "-run", "Kind|CutAnywhere|AnotherEnds|AreSignedAlike",
		"./infra/eventlog").CombinedOutput()
	if err != nil {
		t.Fatalf("the reader's tests: %v: %s", err, out)
	}
	units := map[string]string{"eventlog.kinds": "kinds", "eventlog.panics": "panics", "eventlog.complete_pct": "pct",
		"eventlog.signatures_pct": "pct"}
	for _, found := range logFigure.FindAllSubmatch(out, -1) {
		value, err := strconv.ParseFloat(string(found[2]), 64)
		if err != nil {
			t.Fatalf("%s: %v", found[0], err)
		}
		add(string(found[1]), benchline.One(value), units[string(found[1])])
		delete(units, string(found[1]))
	}
	if len(units) > 0 {
		t.Fatalf("the reader's tests said nothing of %v", units)
	}
}

const (
	// logBytes is how much JSON a large log has, logPairs how often both read it.
	logBytes = 1 << 30
	logPairs = 5
	// logSample is a log with tasks.
	logSample = "infra/eventlog/testdata/logs/3.5.9-single-plain"
	// pythonReader reads each line of a plain log, as scripts do.
	pythonReader = "import json, sys\nfor line in open(sys.argv[1], 'rb'):\n    json.loads(line)\n"
)

// logSpeed compares the reader, of a log in zstd, with Python's json, of the same log unpacked.
func logSpeed(t testing.TB, add adder) {
	packed, plain := largeLog(t)
	var ratios, rss, rates []float64
	for range logPairs {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(self, logChild, packed).Output()
		var ours logRead
		if err != nil || json.Unmarshal(out, &ours) != nil {
			t.Fatalf("%s: %v: %s", logChild, err, out)
		}
		began := time.Now()
		if out, err := exec.Command("python3", "-c", pythonReader, plain).CombinedOutput(); err != nil {
			t.Fatalf("python3: %v: %s", err, out)
		}
		python := time.Since(began).Seconds()
		t.Logf("the reader took %.1f s and %.0f MiB, Python %.1f s", ours.Seconds, ours.MiB, python)
		ratios, rss, rates = append(ratios, python/ours.Seconds), append(rss, ours.MiB),
			append(rates, logBytes/1e6/ours.Seconds)
	}
	add("eventlog.python_ratio", benchline.Median(ratios), "times")
	add("eventlog.rss_mib", benchline.Median(rss), "MiB")
	add("eventlog.read_mb_per_s", benchline.Median(rates), "MB/s")
}

// largeLog writes a log of logBytes, packed and plain: that of a small application whose tasks come again and again.
func largeLog(t testing.TB) (packed, plain string) {
	t.Helper()
	paths, err := eventlog.Logs(logSample)
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	sample, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(sample, []byte("\n"))
	dir := t.TempDir()
	packed, plain = filepath.Join(dir, "large.zstd"), filepath.Join(dir, "large")
	files := make([]io.Writer, 2)
	for i, path := range []string{packed, plain} {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = bufio.NewWriterSize(f, 1<<20)
	}
	zip, err := zstd.NewWriter(files[0], zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	out := io.MultiWriter(zip, files[1])
	written := 0
	put := func(line []byte) {
		n, err := out.Write(line)
		if written += n; err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range lines {
		put(line)
		task, submitted := []byte(`{"Event":"SparkListenerTask`), []byte(`{"Event":"SparkListenerStageSubmitted"`)
		if bytes.HasPrefix(line, submitted) {
			for written < logBytes/7*(bytes.Count(sample[:bytes.Index(sample, line)], []byte("StageSubmitted"))+1) {
				for _, l := range lines {
					if bytes.HasPrefix(l, task) {
						put(l)
					}
				}
			}
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := f.(*bufio.Writer).Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return packed, plain
}

// logRead is what a process that has read a log prints.
type logRead struct{ Seconds, MiB float64 }

// readLarge is the process: its resident memory is a figure.
func readLarge(path string) error {
	began := time.Now()
	sources, err := eventlog.Open(path)
	if err != nil {
		return err
	}
	if _, err = eventlog.Read(sources, nil); err != nil {
		return err
	}
	return tellRead(began)
}

// tellRead prints what it took to read a file since then, for the process that measures it.
func tellRead(began time.Time) error {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return fmt.Errorf("ask for the memory used: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(logRead{time.Since(began).Seconds(), float64(used.Maxrss) / 1024})
}
