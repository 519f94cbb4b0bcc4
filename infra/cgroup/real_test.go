package cgroup_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

func realGroup(t testing.TB) *cgroup.Group {
	t.Helper()
	h := cgrouptest.Real(t)
	g := group(t, h, "app-1-1")
	t.Cleanup(func() {
		if err := g.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// shellIn runs a script in g and returns when it is there and has said a word.
func shellIn(t *testing.T, g *cgroup.Group, script string) *exec.Cmd {
	t.Helper()
	var join strings.Builder
	for _, file := range g.JoinFiles() {
		fmt.Fprintf(&join, "echo $$ > %s || exit 1; ", file)
	}
	return shell(t, join.String()+"echo there; "+script)
}

// shell runs a script and returns when it has said a word.
func shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, 6)
	if _, err := out.Read(word); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func TestRealQuota(t *testing.T) {
	g := realGroup(t)
	for _, quota := range []units.Cores{1.5, 0.5, 0.05, cgroup.MinQuota, 3, units.Unlimited} {
		if err := g.SetQuota(quota); err != nil {
			t.Fatal(err)
		}
		if got, err := g.Quota(); err != nil || got != quota {
			t.Errorf("quota %v is %v, %v", quota, got, err)
		}
	}
	for _, weight := range []cgroup.Weight{0.1, cgroup.WeightDefault, 1e9, 1e-9} {
		if err := g.SetWeight(weight); err != nil {
			t.Errorf("weight %v: %v", weight, err)
		}
	}
}

// The kernel holds a busy process back at its quota and counts what it used.
func TestRealQuotaThrottles(t *testing.T) {
	g := realGroup(t)
	if err := g.SetQuota(0.2); err != nil {
		t.Fatal(err)
	}
	shellIn(t, g, "while :; do :; done")
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		used, throttled, err := g.Usage()
		if err != nil {
			t.Fatal(err)
		}
		if used > 0.05 && throttled > 50*time.Millisecond {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("used %v, throttled %v after a minute", used, throttled)
		}
	}
}

func TestRealTakeOver(t *testing.T) {
	h := cgrouptest.Real(t)
	g := group(t, h, "app-1-1")
	if err := g.SetQuota(0.75); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	g = group(t, h, "app-1-1")
	if got, ok := g.Last(); !ok || got != 0.75 {
		t.Errorf("quota taken over is %v, %v", got, ok)
	}
	if err := g.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}

// Removing kills a family whose members have left their session and parent.
func TestRealRemoveKillsAll(t *testing.T) {
	h := cgrouptest.Real(t)
	g := group(t, h, "app-1-1")
	cmd := shellIn(t, g, "setsid sleep 600 & setsid sleep 601 & exec sleep 602")
	if err := g.SetQuota(cgroup.MinQuota); err != nil {
		t.Fatal(err)
	}
	if err := g.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the leader ended with %v", err)
	}
	if names, err := h.Names(); err != nil || len(names) > 0 {
		t.Errorf("groups %v, %v", names, err)
	}
	if err := g.SetQuota(1); !errors.Is(err, cgroup.ErrGone) {
		t.Errorf("write to a removed group: %v", err)
	}
	if err := g.Remove(t.Context()); err != nil {
		t.Errorf("second removal: %v", err)
	}
}

func TestRealKillEndsWithItsContext(t *testing.T) {
	g := realGroup(t)
	shellIn(t, g, "exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Kill(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestRealTickPathDoesNotAllocate(t *testing.T) {
	g := realGroup(t)
	quota := units.Cores(0.1)
	if n := testing.AllocsPerRun(20, func() {
		quota += 0.05
		_ = g.SetQuota(quota)
		_, _ = g.Quota()
		_, _, _ = g.Usage()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSetQuota(b *testing.B) {
	g := realGroup(b)
	b.ReportAllocs()
	quotas := [2]units.Cores{0.5, 0.55}
	i := 0
	for b.Loop() {
		if err := g.SetQuota(quotas[i&1]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkUsage(b *testing.B) {
	g := realGroup(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := g.Usage(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHostWork(b *testing.B) {
	h, err := cgroup.OpenHost("")
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Work(); err != nil {
			b.Fatal(err)
		}
	}
}
