package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/benchline"
)

// target is a fuzz target in the directory of its package.
type target struct{ dir, name string }

var (
	fuzzFunction = regexp.MustCompile(`^(.+/)?[^/]+_test\.go:func (Fuzz\w+)\(`)
	fuzzExecs    = regexp.MustCompile(`execs: (\d+) `)
)

// targets are those of the module's tests.
func targets(ctx context.Context) ([]target, error) {
	out, err := exec.CommandContext(ctx, "git", "grep", "--untracked", "-E", `^func Fuzz\w+\(f \*testing\.F\)`, "--",
		"*_test.go").Output()
	if err != nil {
		return nil, fmt.Errorf("look for fuzz targets: %w", err)
	}
	var all []target
	for line := range strings.Lines(string(out)) {
		if m := fuzzFunction.FindStringSubmatch(line); m != nil {
			all = append(all, target{"./" + filepath.Clean(m[1]), m[2]})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("look for fuzz targets: there is none")
	}
	return all, nil
}

// fuzz runs each target, or those of the names, for a time with one worker, and tells how many
// inputs were tried and how many targets have found one that fails. Such an input is below the
// package's testdata then, where every test run tries it.
func fuzz(t testing.TB, add adder, names []string, limit time.Duration) {
	all, err := targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 0 {
		all = slices.DeleteFunc(all, func(of target) bool { return !slices.Contains(names, of.name) })
	}
	if len(all) == 0 {
		t.Fatalf("-only %s: no such fuzz target", strings.Join(names, ","))
	}
	var execs []float64
	crashes := 0.0
	for i, of := range all {
		n, err := of.run(t.Context(), limit)
		if t.Context().Err() != nil {
			t.Fatal("interrupted")
		}
		t.Logf("[%d/%d] %s of %s: %.0f inputs in %v", i+1, len(all), of.name, of.dir, n, limit)
		execs = append(execs, n)
		if err != nil {
			crashes++
			t.Errorf("%s of %s: %v", of.name, of.dir, err)
		}
	}
	add("fuzz.execs", benchline.Sum(execs), "inputs")
	add("fuzz.crashes", benchline.Measured{Value: crashes, N: len(all), Spread: [2]float64{crashes, crashes}}, "targets")
}

// run runs t and returns how many inputs it has tried. Little is spent on shorter inputs with
// the same coverage: that would take up to a minute for each.
func (t target) run(ctx context.Context, limit time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", limit.String(),
		"-fuzzminimizetime", "20x", "-parallel", "1", t.dir)
	// Its workers are in its group: they end with it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	n := 0.0
	for _, m := range fuzzExecs.FindAllStringSubmatch(out.String(), -1) {
		n, _ = strconv.ParseFloat(m[1], 64)
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, &out)
	}
	return n, err
}
