package daemon

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/executor"
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
