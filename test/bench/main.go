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

	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

// The commands that this binary runs itself with: a figure is their own memory.
const (
	scaleChild = "child-scale"
	fullChild  = "child-full-node"
	meshChild  = "child-mesh"
	hostsChild = "child-hosts"
	logChild   = "child-log"
	traceChild = "child-trace"

	versionsChild = "child-versions"
)

// interruptLimit is how long a row may take to end once it is told to.
const interruptLimit = time.Minute

func main() { os.Exit(bench(os.Args[1:])) }

// bench runs a command line and returns the exit code.
func bench(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(args) > 0 {
		switch args[0] {
		case "help", "-h", "-help", "--help":
			fmt.Print(help())
			return 0
		case scaleChild:
			return child(ctx, scaleChild, scaleCluster)
		case meshChild:
			return child(ctx, meshChild, meshWorld)
		case hostsChild:
			return child(ctx, hostsChild, hostsWorld)
		case logChild:
			if err := readLarge(args[1]); err != nil {
				return fail(err)
			}
			return 0
		case traceChild:
			if err := readTrace(args[1]); err != nil {
				return fail(err)
			}
			return 0
		case versionsChild:
			return child(ctx, versionsChild, versionsRead)
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
	// What the children of this process do when it is told to end is to end: the row
	// that waits for them fails then, and what it has started is cleaned up.
	go func() {
		<-ctx.Done()
		for _, pid := range realenv.Children(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		// A signal to the group of processes ends go run too, which makes a second signal of
		// it (endWithGo). One that comes later is final.
		time.Sleep(interruptLimit / 20)
		stop()
		time.Sleep(interruptLimit)
		os.Exit(fail(errors.New("interrupted: a row did not end; the figures so far are kept")))
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
	r := runner{file: o.file, commit: benchline.Commit("."), origin: benchline.Machine(os.Getenv("SPARK_HOME")), w: w}
	var err error
	if r.origin.Sources, err = benchline.Sources("."); err != nil {
		return err
	}
	if o.command == renderCommand {
		return render(o.file, r.origin.Sources, w)
	}
	todo, err := o.rows()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "bench: sources %s, seed %d\n", r.origin.Sources, o.trial.seed)
	err = r.measure(ctx, todo)
	if o.command == deadlinesCommand {
		err = errors.Join(err, r.conclude(o.trial.variant()))
	}
	return errors.Join(err, benchline.Table(w, r.done, goals()))
}

// render writes the figures as a document beside them, and leaves the newest of each name.
func render(file, sources string, w io.Writer) error {
	lines, err := benchline.Read(file)
	if err == nil {
		err = benchline.Put(file, lines...)
	}
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(file, filepath.Ext(file)) + ".md"
	var text strings.Builder
	if err := benchline.Render(&text, lines, sources, goals()); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintf(w, "bench: wrote %s from %d lines of %s\n", path, len(lines), file)
	return nil
}

// child prints the figures of what is measured in a process of its own.
func child(ctx context.Context, name string, measure func(testing.TB) []figure) int {
	var figures []figure
	err := run(ctx, name, os.Stderr, func(t testing.TB) { figures = measure(t) })
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(figures)
	}
	if err != nil {
		return fail(err)
	}
	return 0
}
