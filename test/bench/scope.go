package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// scope is where a row runs: like a test it ends at its first fatal fault, alone, and
// what it has started is stopped at its end. What tests use of the machine (package
// realenv) works on it. Its methods are those of testing.TB; those that are not here
// panic.
type scope struct {
	testing.TB
	name string
	ctx  context.Context
	log  io.Writer

	mu       sync.Mutex
	cleanups []func()
	faults   []string
	skipped  string
}

// errSkipped says that a row cannot be measured here.
var errSkipped = errors.New("skipped")

// run calls measure in a scope and returns its faults.
func run(ctx context.Context, name string, log io.Writer, measure func(t testing.TB)) error {
	s := &scope{name: name, ctx: ctx, log: log}
	s.within(func() { measure(s) })
	for {
		s.mu.Lock()
		n := len(s.cleanups)
		if n == 0 {
			s.mu.Unlock()
			break
		}
		last := s.cleanups[n-1]
		s.cleanups = s.cleanups[:n-1]
		s.mu.Unlock()
		s.within(last)
	}
	switch {
	case len(s.faults) > 0:
		return fmt.Errorf("%s: %s", name, strings.Join(s.faults, "; "))
	case s.skipped != "":
		return fmt.Errorf("%s: %w: %s", name, errSkipped, s.skipped)
	}
	return nil
}

// part calls f in a scope of its own within that of a row, which ends when it fails: what
// it has started is stopped before the row goes on.
func part(t testing.TB, name string, f func(t testing.TB)) {
	t.Helper()
	if err := try(t, name, f); err != nil {
		t.Fatal(err)
	}
}

// try is part of a row that goes on when it fails.
func try(t testing.TB, name string, f func(t testing.TB)) error {
	t.Helper()
	t.Log(name)
	s := t.(*scope)
	return run(s.ctx, name, s.log, f)
}

// within calls f on a goroutine of its own, which Fatal ends.
func (s *scope) within(f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if fault := recover(); fault != nil {
				s.Errorf("panic: %v\n%s", fault, debug.Stack())
			}
		}()
		f()
	}()
	<-ended
}

func (s *scope) Helper()                  {}
func (s *scope) Name() string             { return s.name }
func (s *scope) Context() context.Context { return s.ctx }

func (s *scope) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}

func (s *scope) TempDir() string {
	dir, err := os.MkdirTemp("", "pacer-bench-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Error(err)
		}
	})
	return dir
}

func (s *scope) Log(args ...any)                 { s.say(fmt.Sprintln(args...)) }
func (s *scope) Logf(format string, args ...any) { s.say(fmt.Sprintf(format, args...)) }

func (s *scope) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.log, "  %s\n", strings.TrimRight(text, "\n"))
}

func (s *scope) Error(args ...any) { s.fault(fmt.Sprintln(args...)) }

func (s *scope) Errorf(format string, args ...any) { s.fault(fmt.Sprintf(format, args...)) }

// fault notes a fault that the row goes on after, its figures notwithstanding: they
// are not kept.
func (s *scope) fault(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, strings.TrimSpace(text))
}

func (s *scope) Fatal(args ...any) {
	s.Error(args...)
	runtime.Goexit()
}

func (s *scope) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	runtime.Goexit()
}

func (s *scope) FailNow() {
	s.Error("failed")
	runtime.Goexit()
}

func (s *scope) Fail() { s.Error("failed") }

func (s *scope) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults) > 0
}

func (s *scope) Skip(args ...any) {
	s.mu.Lock()
	s.skipped = strings.TrimSpace(fmt.Sprintln(args...))
	s.mu.Unlock()
	runtime.Goexit()
}

func (s *scope) Skipf(format string, args ...any) { s.Skip(fmt.Sprintf(format, args...)) }
