package demo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/cli/demo"
)

// local starts a script in place of pacer, which finds the demonstration's directory in
// $DEMO.
func local(t *testing.T, ctx context.Context, script string) (*demo.Local, string, error) {
	t.Helper()
	dir := t.TempDir()
	pacer, out := filepath.Join(dir, "pacer"), filepath.Join(dir, "out")
	if err := os.WriteFile(pacer, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := demo.StartLocal(ctx, demo.LocalConfig{Pacer: pacer, Dir: out, Env: append(os.Environ(), "DEMO="+out), Scale: 0.5, Ready: time.Minute, Grace: time.Minute})
	return l, out, err
}

func TestALocalThatDoesNotComeUpIsNotLeftRunning(t *testing.T) {
	_, out, err := local(t, t.Context(), `echo "$@" >&2; echo "port taken" >&2; exit 78`)
	if err == nil || !strings.Contains(err.Error(), "exit status 78: port taken") {
		t.Errorf("%v, want the exit and the last line", err)
	}
	said, err := os.ReadFile(filepath.Join(out, "up.log"))
	for _, want := range []string{"up --listen 127.0.0.1:", "--node-name demo-", "--state-dir " + filepath.Join(out, "state")} {
		if err != nil || !strings.Contains(string(said), want) {
			t.Errorf("up.log, %v: no %q in %s", err, want, said)
		}
	}
	// It is ready, but no planner: the connection fails.
	_, out, err = local(t, t.Context(), `trap 'echo down >"$DEMO/down"; exit 0' TERM; echo "pacer is ready: nothing"; while :; do sleep 0.05; done`)
	if err == nil {
		t.Fatal("connected to nobody")
	}
	if body, err := os.ReadFile(filepath.Join(out, "down")); err != nil || string(body) != "down\n" {
		t.Errorf("it was not stopped in order: %q, %v", body, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err = local(t, ctx, `while :; do sleep 0.05; done`); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the interruption", err)
	}
}

// A demonstration removes what an earlier one has made, and nothing else.
func TestADemonstrationRemovesItsOwnDirectoryOnly(t *testing.T) {
	start := func(dir string) error {
		_, err := demo.StartLocal(t.Context(), demo.LocalConfig{Pacer: "/bin/false", Dir: dir, Ready: time.Minute, Grace: time.Minute})
		return err
	}
	theirs := t.TempDir()
	kept := filepath.Join(theirs, "thesis.tex")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := start(theirs); err == nil || !strings.Contains(err.Error(), theirs+" is there and no demonstration has made it") {
		t.Errorf("a directory of somebody's: %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
	for name, dir := range map[string]string{"none": filepath.Join(t.TempDir(), "out", "demo"), "an empty one": t.TempDir()} {
		for range 2 {
			if err := start(dir); err == nil || strings.Contains(err.Error(), "no demonstration") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "old")); err == nil {
				t.Errorf("%s: what the first one left is there", name)
			}
			if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
