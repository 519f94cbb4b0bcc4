package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// Whoever has passed a bound goes, and nobody else does.
func TestWhoHasToGo(t *testing.T) {
	const gib = units.GiB
	apps := func(list ...executor.AppLogs) []executor.AppLogs { return list }
	large := executor.AppLogs{App: "large", Active: true, Bytes: 40 * gib, Files: 100}
	small := executor.AppLogs{App: "small", Active: true, Bytes: gib, Files: 500_000}
	ended := executor.AppLogs{App: "ended", Bytes: 60 * gib}
	free := room{bytes: 200 * gib, free: 100 * gib, inodes: 1_000_000, freeInodes: 400_000}
	full, noInodes := free, free
	full.free, noInodes.freeInodes = gib-1, 9_999
	for name, c := range map[string]struct {
		bounds  diskBounds
		listing []executor.AppLogs
		room    room
		want    []string
	}{
		"no bound, and room":             {diskBounds{}, apps(large, small), free, nil},
		"one passes its bound":           {diskBounds{app: 39 * gib}, apps(small, large, ended), free, []string{"large: its files take 40g there, more than the 39g of node.work-app-bytes"}},
		"as much as the bound":           {diskBounds{app: 40 * gib, all: 41 * gib}, apps(small, large), free, nil},
		"all pass theirs":                {diskBounds{all: 40 * gib}, apps(small, large), free, []string{"large: its files take 40g of the 41g that all applications have there, more than the 40g of node.work-bytes"}},
		"the disk is full":               {diskBounds{}, apps(small, large), full, []string{"large: its files take 40g and have filled the disk: 1073741823b are left, and 1g have to be"}},
		"by somebody else":               {diskBounds{}, apps(small, ended), full, nil},
		"no inodes":                      {diskBounds{}, apps(small, large), noInodes, []string{"small: its 500000 files have filled the disk: 9999 inodes are left, and 10000 have to be"}},
		"a file system without a number": {diskBounds{}, apps(small, large), room{bytes: 200 * gib, free: 100 * gib}, nil},
		"a small disk":                   {diskBounds{}, apps(executor.AppLogs{App: "a", Active: true, Bytes: 8 << 20}), room{bytes: 16 << 20, free: 1 << 19}, nil},
		"both bounds, said once":         {diskBounds{app: gib, all: gib}, apps(large), full, []string{"large: its files take 40g there, more than the 1g of node.work-app-bytes"}},
	} {
		var got []string
		for _, f := range c.bounds.offenders(c.listing, c.room) {
			got = append(got, string(f.App)+": "+f.Reason)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Who makes directories that cannot be counted hides neither itself nor anybody else: both that
// pass a bound go, and what ended applications have left is pruned.
func TestDeepDirectoriesHideNobody(t *testing.T) {
	root := t.TempDir()
	for _, app := range []string{"deep", "ended", "greedy", "small"} {
		name := filepath.Join(root, "apps", app)
		if err := errors.Join(os.MkdirAll(filepath.Join(name, "1"), 0o755), os.MkdirAll(filepath.Join(name, "local"), 0o755)); err != nil {
			t.Fatal(err)
		}
		if app == "ended" {
			continue
		}
		if err := os.WriteFile(filepath.Join(name, "1", "handle.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "apps/deep/local", strings.Repeat("d/", 300)), 0o755),
		os.WriteFile(filepath.Join(root, "apps/greedy/local/big"), make([]byte, 2*units.MiB), 0o600)); err != nil {
		t.Fatal(err)
	}
	d := &disk{layout: executor.Layout{Root: root}, log: slog.New(slog.DiscardHandler), kill: func(context.Context, api.AppID) error { return nil },
		limits: diskLimits{keep: executor.Retention{Age: time.Hour}, bounds: diskBounds{app: units.MiB}}}
	if err := d.look(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
		t.Error(err)
	}
	var got []string
	for _, f := range d.faults() {
		got = append(got, string(f.App)+": "+f.Reason)
	}
	if len(got) != 2 || got[0] != "deep: its files there cannot be counted: a directory of it lies more than 256 levels deep" || !strings.HasPrefix(got[1], "greedy: ") {
		t.Errorf("%q has to go", got)
	}
	if _, err := os.Stat(filepath.Join(root, "apps/ended")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what has ended is there: %v", err)
	}
	d.limits.bounds = diskBounds{}
	if err := d.look(t.Context(), time.Now()); err != nil || len(d.faults()) != 0 {
		t.Errorf("where nothing is bounded: %+v, %v", d.faults(), err)
	}
}
