package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

const (
	// lookAtDisk is how often the work directory is looked at, or less often where that takes
	// long: lookPart of the time at most.
	lookAtDisk = 2 * time.Second
	lookPart   = 20
	// faultGrace is how long an application may stay that has to go; then its executors are
	// killed: the planner may be away.
	faultGrace = 30 * time.Second
)

// A disk is full when less than a diskMargin-th of its bytes or inodes is left, or what mostMargin
// and mostInodes say where that is less. Of an application that has less than a filledPart-th of
// what is used nobody can say that it filled it.
const (
	diskMargin = 50
	mostMargin = units.GiB
	mostInodes = 10_000
	filledPart = 10
)

// room is what a file system has. A file system that has no fixed number of inodes says 0.
type room struct {
	bytes, free        units.Bytes
	inodes, freeInodes int64
}

func roomAt(path string) (room, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return room{}, fmt.Errorf("disk of %s: %w", path, err)
	}
	block := units.Bytes(st.Bsize)
	return room{bytes: units.Bytes(st.Blocks) * block, free: units.Bytes(st.Bavail) * block, inodes: int64(st.Files),
		freeInodes: int64(st.Ffree)}, nil
}

// Room is how many bytes are free on the disk of path, and below how many a node holds it for full.
func Room(path string) (free, least units.Bytes, err error) {
	r, err := roomAt(path)
	least, _ = r.least()
	return r.free, least, err
}

// least is how many bytes and inodes have to be left.
func (r room) least() (bytes units.Bytes, inodes int64) {
	return min(r.bytes/diskMargin, mostMargin), min(r.inodes/diskMargin, mostInodes)
}

// full reports whether less is left.
func (r room) full() bool {
	bytes, inodes := r.least()
	return r.free < bytes || r.freeInodes < inodes
}

// diskBounds are what the work directory may have, each 0 for no bound.
type diskBounds struct{ app, all units.Bytes }

// offenders are the active applications that cannot go on, in order of App, with the bound that
// each has passed. Ended ones have gone where that was enough. Where a bound is set or the disk is
// full, one whose files cannot be counted goes too: nobody hides what it has. It is pure.
func (b diskBounds) offenders(listing []executor.AppLogs, r room) []api.AppFault {
	var faults []api.AppFault
	add := func(a *executor.AppLogs, format string, args ...any) {
		if a != nil && !slices.ContainsFunc(faults, func(f api.AppFault) bool {
			return f.App == a.App
		}) && len(faults) < api.MostFaults {
			faults = append(faults, api.AppFault{App: a.App, Reason: fmt.Sprintf(format, args...)})
		}
	}
	var largest, most *executor.AppLogs
	var all units.Bytes
	for i := range listing {
		a := &listing[i]
		all += a.Bytes
		if !a.Active {
			continue
		}
		if a.Uncounted != "" && (b != diskBounds{} || r.full()) {
			add(a, "its files there cannot be counted: %s", a.Uncounted)
		}
		if b.app > 0 && a.Bytes > b.app {
			add(a, "its files take %v there, more than the %v of node.work-app-bytes", a.Bytes, b.app)
		}
		if largest == nil || a.Bytes > largest.Bytes {
			largest = a
		}
		if most == nil || a.Files > most.Files {
			most = a
		}
	}
	if b.all > 0 && all > b.all && largest != nil {
		add(largest, "its files take %v of the %v that all applications have there, more than the %v of node.work-bytes",
			largest.Bytes, all, b.all)
	}
	leastBytes, leastInodes := r.least()
	if r.free < leastBytes && largest != nil && largest.Bytes >= (r.bytes-r.free)/filledPart {
		add(largest, "its files take %v and have filled the disk: %v are left, and %v have to be", largest.Bytes, r.free,
			leastBytes)
	}
	if r.freeInodes < leastInodes && most != nil && most.Files >= (r.inodes-r.freeInodes)/filledPart {
		add(most, "its %d files have filled the disk: %d inodes are left, and %d have to be", most.Files, r.freeInodes,
			leastInodes)
	}
	slices.SortFunc(faults, func(a, b api.AppFault) int { return strings.Compare(string(a.App), string(b.App)) })
	return faults
}

// diskLimits are what the work directory is kept within.
type diskLimits struct {
	keep   executor.Retention
	bounds diskBounds
	logs   units.Bytes // Most of a log.
}

// disk keeps the work directory within its bounds. Its methods faults and bound are safe for
// concurrent use.
type disk struct {
	layout executor.Layout
	log    *slog.Logger
	// kill ends all executors of an application here.
	kill func(context.Context, api.AppID) error

	said  string
	since map[api.AppID]time.Time

	mu     sync.Mutex
	limits diskLimits
	now    []api.AppFault
}

// bound keeps the work directory within what cfg says from the next look on.
func (d *disk) bound(cfg NodeConfig) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limits = diskLimits{keep: cfg.Keep, bounds: diskBounds{cfg.Files.App, cfg.Keep.Bytes}, logs: cfg.Files.Log}
}

func (d *disk) within() diskLimits {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limits
}

// faults are the applications that have to go, as a status tells them.
func (d *disk) faults() []api.AppFault {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// run looks at the disk until ctx ends.
func (d *disk) run(ctx context.Context) error {
	for {
		began := time.Now()
		text := ""
		if err := d.look(ctx, began); err != nil {
			text = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if text != "" && text != d.said {
			d.log.Warn("the work directory cannot be kept within its bounds", "error", text)
		}
		d.said = text
		if !pause(ctx, max(lookAtDisk, lookPart*time.Since(began))) {
			return nil
		}
	}
}

// look trims logs, removes what ended applications have left, and says who has to go.
func (d *disk) look(ctx context.Context, now time.Time) error {
	limits := d.within()
	_, err := d.layout.TrimLogs(limits.logs)
	listing, listErr := d.list(limits)
	if err = errors.Join(err, listErr); len(listing) == 0 {
		d.tell(nil)
		return err
	}
	gone := limits.keep.Prune(now, listing)
	err = errors.Join(err, d.layout.RemoveLogs(gone))
	listing = slices.DeleteFunc(listing, func(a executor.AppLogs) bool { return slices.Contains(gone, a.App) })
	r, roomErr := roomAt(d.layout.Root)
	if err = errors.Join(err, roomErr); roomErr != nil {
		return err
	}
	faults := limits.bounds.offenders(listing, r)
	d.tell(faults)
	return errors.Join(err, d.insist(ctx, now, faults))
}

// list is what applications have, in bytes only where somebody asks for them: to count all files
// takes long.
func (d *disk) list(limits diskLimits) ([]executor.AppLogs, error) {
	r, err := roomAt(d.layout.Root)
	if err != nil || r.full() || limits.bounds != (diskBounds{}) || limits.keep.Bytes > 0 {
		return d.layout.Usage()
	}
	return d.layout.Logs()
}

// tell has statuses tell of faults, whose reasons may name files as an application has named them.
func (d *disk) tell(faults []api.AppFault) {
	s := api.NodeStatus{Faults: slices.Clone(faults)}
	s.Fit()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = s.Faults
}

// insist kills what should have gone long ago.
func (d *disk) insist(ctx context.Context, now time.Time, faults []api.AppFault) error {
	before := d.since
	d.since = map[api.AppID]time.Time{}
	var errs []error
	for _, f := range faults {
		since, known := before[f.App]
		if !known {
			since = now
			d.log.Warn("an application has to go", "app", string(f.App), "reason", f.Reason)
		}
		d.since[f.App] = since
		if now.Sub(since) >= faultGrace {
			errs = append(errs, d.kill(ctx, f.App))
		}
	}
	return errors.Join(errs...)
}
