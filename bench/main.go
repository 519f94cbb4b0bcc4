package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
)

// The commands that this binary runs itself with: a figure is their own memory.
const scaleChild, fullChild = "child-scale", "child-full-node"

// interruptLimit is how long a cell may take to end once it is told to.
const interruptLimit = time.Minute

func main() { os.Exit(bench(os.Args[1:])) }

// bench runs a command line and returns the exit code.
func bench(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(args) > 0 {
		switch args[0] {
		case "help", "-h", "-help", "--help":
			fmt.Print(usage)
			return 0
		case scaleChild:
			return child(ctx)
		case fullChild:
			if err := runFullNode(ctx); err != nil {
				return fail(err)
			}
			return 0
		}
	}
	endWithGo()
	o, err := parse(args)
	if err == nil {
		err = toRoot()
	}
	if err != nil {
		return fail(err)
	}
	// What the children of this process do when it is told to end is to end: the cell
	// that waits for them fails then, and what it has started is cleaned up.
	go func() {
		<-ctx.Done()
		for _, pid := range realenv.Children(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		// Who ends a group of processes ends go run too, which makes a second signal of
		// it (endWithGo). One that comes later is final.
		time.Sleep(interruptLimit / 20)
		stop()
		time.Sleep(interruptLimit)
		os.Exit(fail(errors.New("interrupted: a cell did not end; the lines so far are kept")))
	}()
	defer realenv.Remove()
	if err := do(ctx, o, os.Stdout); err != nil {
		return fail(err)
	}
	return 0
}

// endWithGo has this process told to end when `go run`, which passes no SIGTERM on, is
// ended by one.
func endWithGo() {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	if err == nil && strings.TrimSpace(string(name)) == "go" {
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0)
	}
}

// toRoot makes the module's root the working directory: paths are relative to it.
func toRoot() error {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	return os.Chdir(filepath.Dir(strings.TrimSpace(string(out))))
}

// do carries a command out.
func do(ctx context.Context, o options, w io.Writer) error {
	origin := benchline.Machine(os.Getenv("SPARK_HOME"))
	var err error
	if origin.Sources, err = benchline.Sources("."); err != nil {
		return err
	}
	if o.command == "render" {
		return render(o, origin, w)
	}
	c, err := begin(o, origin, benchline.Commit("."), w)
	if err != nil {
		return err
	}
	switch o.command {
	case "list":
		return c.list()
	case "deadlines":
		err = c.trials(ctx, o.trial)
	case "contention":
		err = c.contend(ctx, o)
	case fuzzCell:
		err = c.fuzz(ctx, o)
	case trustCommand:
		err = c.trust(ctx, o)
	default:
		err = c.figures(ctx, o)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: the lines so far are kept, the same command goes on")
	}
	if err != nil {
		return err
	}
	return benchline.Table(w, benchline.Newest(c.Lines), goals())
}

// render writes docs/figures.md from the lines.
func render(o options, origin benchline.Origin, w io.Writer) error {
	log, err := benchline.Open(o.file)
	if err != nil {
		return err
	}
	lines, faults, err := log.Read()
	if err != nil {
		return err
	}
	for _, said := range benchline.Others(lines, faults, origin) {
		fmt.Fprintln(w, "bench:", said)
	}
	path := strings.TrimSuffix(o.file, filepath.Ext(o.file)) + ".md"
	var text strings.Builder
	if err := benchline.Render(&text, lines, origin.Sources, goals()); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintf(w, "bench: wrote %s from %d lines of %s\n", path, len(lines), o.file)
	return nil
}

// child prints the figures of a cluster.
func child(ctx context.Context) int {
	var figures []figure
	err := run(ctx, scaleChild, os.Stderr, func(t testing.TB) { figures = scaleCluster(t) })
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(figures)
	}
	if err != nil {
		return fail(err)
	}
	return 0
}
