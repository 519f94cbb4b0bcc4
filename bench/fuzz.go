package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/internal/benchline"
)

// fuzzCell is the cell of the fuzz targets.
const fuzzCell = "fuzz"

// target is a fuzz target in the directory of its package.
type target struct{ dir, name string }

var (
	fuzzFunction = regexp.MustCompile(`^(.+/)?[^/]+_test\.go:func (Fuzz\w+)\(`)
	fuzzExecs    = regexp.MustCompile(`execs: (\d+) `)
)

// targets are those of the module's tests.
func targets(ctx context.Context) ([]target, error) {
	out, err := exec.CommandContext(ctx, "git", "grep", "--untracked", "-E", `^func Fuzz\w+\(f \*testing\.F\)`, "--", "*_test.go").Output()
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

// fuzz runs each target for a time with one worker and keeps how many inputs were tried and
// how many targets have found one that fails. Such an input is below the package's testdata
// then, where every test run tries it.
func (c *campaign) fuzz(ctx context.Context, o options) error {
	all, err := targets(ctx)
	if err != nil {
		return err
	}
	if len(o.only) > 0 {
		all = slices.DeleteFunc(all, func(t target) bool { return !slices.Contains(o.only, t.name) })
		if len(all) == 0 {
			return fmt.Errorf("%w: -only %s: no such fuzz target", errUsage, strings.Join(o.only, ","))
		}
	}
	var execs []float64
	var faults []error
	for i, t := range all {
		fmt.Fprintf(c.w, "bench: [%d/%d] %s of %s, %v\n", i+1, len(all), t.name, t.dir, o.time)
		n, err := t.run(ctx, o.time, c.w)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		execs = append(execs, n)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s of %s: %w", t.name, t.dir, err))
		}
	}
	crashes := float64(len(faults))
	err = c.keepFigures(fuzzCell, []figure{{"fuzz.execs", benchline.Sum(execs), "inputs"},
		{"fuzz.crashes", benchline.Measured{Value: crashes, N: len(all), Spread: [2]float64{crashes, crashes}}, "targets"}})
	return errors.Join(append(faults, err)...)
}

// run runs t and returns how many inputs it has tried. Little is spent on shorter inputs with
// the same coverage: that would take up to a minute for each.
func (t target) run(ctx context.Context, limit time.Duration, w io.Writer) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", limit.String(), "-fuzzminimizetime", "20x", "-parallel", "1", t.dir)
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
		fmt.Fprintf(w, "%s", &out)
		return n, err
	}
	fmt.Fprintf(w, "bench: %s: %.0f inputs\n", t.name, n)
	return n, nil
}
