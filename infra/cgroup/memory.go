package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/units"
)

const (
	// MemoryMargin is what a memory limit leaves above what cannot be taken from a group when
	// it is lowered: less would have the kernel end a process that asks for a little more.
	MemoryMargin = 64 * units.MiB
	// lowerStep is the most page cache that one write makes the kernel give up: it returns
	// when that is done, and a raise waits for it.
	lowerStep = 32 * units.MiB
	// noLimit is from where on a value that the kernel shows for v1 is none.
	noLimit units.Bytes = 1 << 60
	// limitV1 is v1's file of a memory limit.
	limitV1 = "memory.limit_in_bytes"
)

// MemoryLimit returns the memory limit in force as last read or written, 0 where there is
// none: system calls only the first time and after ForgetMemoryLimit.
func (g *Group) MemoryLimit() units.Bytes {
	m := &g.memory
	if m.known.Load() || m.dir == "" && m.engine == "" {
		return units.Bytes(m.limit.Load())
	}
	dirs := g.limited()
	limit := noLimit
	for _, dir := range dirs {
		limit = min(limit, g.h.readLimit(dir))
	}
	if limit >= noLimit {
		limit = 0
	}
	m.limit.Store(int64(limit))
	m.known.Store(len(dirs) > 0) // A container may still come.
	return limit
}

// ForgetMemoryLimit has the next MemoryLimit read what is in force, whoever wrote it.
func (g *Group) ForgetMemoryLimit() { g.memory.known.Store(false) }

// RaiseMemory sets the memory limit to limit if that is more than what is in force, or if
// there is none. It waits for one step of a lowering at most.
func (g *Group) RaiseMemory(limit units.Bytes) error {
	m := &g.memory
	m.aim.Store(int64(limit))
	m.mu.Lock()
	defer m.mu.Unlock()
	now := g.MemoryLimit()
	if now >= limit {
		return nil
	}
	return g.setMemory(limit, now > 0) // The first limit comes down from none.
}

// AimMemory says that LowerMemory is to lower the limit to that, unless a raise comes first.
func (g *Group) AimMemory(limit units.Bytes) { g.memory.aim.Store(int64(limit)) }

// LowerMemory lowers the memory limit to what AimMemory said, but not below what cannot be
// taken from the group and MemoryMargin. The kernel gives page cache up for it, which may
// take long: it is for a goroutine of its own.
func (g *Group) LowerMemory() error {
	for {
		lowered, err := g.lowerMemory()
		if err != nil || !lowered {
			return err
		}
	}
}

// lowerMemory is one step, and reports whether it did anything.
func (g *Group) lowerMemory() (bool, error) {
	m := &g.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	now := g.MemoryLimit()
	if now == 0 {
		return false, nil
	}
	use, err := g.Memory()
	if err != nil {
		return false, err
	}
	next := max(units.Bytes(m.aim.Load()), use.Needed+MemoryMargin, min(now, use.Charged)-lowerStep)
	if next >= now {
		return false, nil
	}
	err = g.setMemory(next, false)
	if errors.Is(err, unix.EBUSY) {
		return false, nil // Memory in use does not go that fast: the next one finds less.
	}
	return err == nil, err
}

func (g *Group) setMemory(limit units.Bytes, raise bool) error {
	dirs := g.limited()
	for _, dir := range dirs {
		if err := g.h.writeLimit(dir, limit, raise); err != nil && !errors.Is(err, os.ErrNotExist) {
			g.ForgetMemoryLimit()
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	if len(dirs) > 0 {
		g.memory.limit.Store(int64(limit))
		g.memory.known.Store(true)
	}
	return nil
}

// MemoryUse is what a group has of the machine's memory.
type MemoryUse struct {
	// Charged is all that counts against its limit: Resident is its anonymous memory, Cache
	// its page cache.
	Charged, Resident, Cache units.Bytes
	// Needed is what the kernel cannot take from it at once: Charged less the page cache
	// that is on the disk.
	Needed units.Bytes
	// Pressure is which part of the last ten seconds some of its tasks have waited for memory, 0 where nobody counts that.
	Pressure units.Fraction
}

// Memory reads what the group has; zeros where no memory controller counts it.
func (g *Group) Memory() (MemoryUse, error) {
	usage, anonymous, file := "memory.usage_in_bytes", "rss ", "cache "
	dirty, writeback := "dirty ", "writeback "
	if g.h.version == V2 {
		usage, anonymous, file = "memory.current", "anon ", "file "
		dirty, writeback = "file_dirty ", "file_writeback "
	}
	var use MemoryUse
	for _, dir := range g.limited() {
		all, err := os.ReadFile(filepath.Join(dir, usage))
		data, statErr := os.ReadFile(filepath.Join(dir, "memory.stat"))
		if err = errors.Join(err, statErr); err != nil {
			if errors.Is(err, os.ErrNotExist) || isGone(err) {
				continue
			}
			return use, fmt.Errorf("cgroup: %w", err)
		}
		charged, resident := sizeIn(all), stat(data, anonymous)
		idle := stat(data, "active_file ") + stat(data, "inactive_file ") - stat(data, dirty) - stat(data, writeback)
		use.Charged += charged
		use.Resident += resident
		use.Cache += stat(data, file)
		use.Pressure = max(use.Pressure, waits(dir))
		use.Needed += max(resident, charged-max(0, idle))
	}
	return use, nil
}

// MemoryKills returns how many processes of the group the kernel has killed since the group
// was made because it needed more than its limit; 0 where no memory controller counts it. Of a
// container that has ended it knows after LookInside only.
func (g *Group) MemoryKills() (int64, error) {
	file := "memory.oom_control"
	if g.h.version == V2 {
		file = "memory.events"
	}
	var kills int64
	for _, dir := range g.limited() {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, os.ErrNotExist) || isGone(err) {
			continue
		}
		if err != nil {
			return kills, fmt.Errorf("cgroup: %w", err)
		}
		kills += int64(stat(data, "oom_kill "))
	}
	return max(kills, g.memory.shortage.kills()), nil
}

// stat returns the number behind key in a file of lines, 0 without one.
func stat(data []byte, key string) units.Bytes {
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			return sizeIn(rest)
		}
	}
	return 0
}

// sizeIn reads a number of bytes, 0 for what is none.
func sizeIn(text []byte) units.Bytes {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return 0
	}
	return units.Bytes(n)
}

func (h *Hierarchy) limitFile() string {
	if h.version == V2 {
		return "memory.max"
	}
	return limitV1
}

// readLimit returns dir's limit, noLimit for none.
func (h *Hierarchy) readLimit(dir string) units.Bytes {
	data, err := os.ReadFile(filepath.Join(dir, h.limitFile()))
	n := sizeIn(data)
	if err != nil || n <= 0 {
		return noLimit // "max", and a tree of ordinary files before the first write.
	}
	return min(n, noLimit)
}

// writeLimit sets dir's limit, and leaves no swap beside it: what passes its limit ends, and does
// not slow the machine first. v2 counts swap alone, v1 with memory, where that is never below it.
// A machine without swap has neither file.
func (h *Hierarchy) writeLimit(dir string, limit units.Bytes, raise bool) error {
	value := strconv.FormatInt(int64(limit), 10)
	writes := [][2]string{{h.limitFile(), value}}
	swap := [2]string{"memory.memsw.limit_in_bytes", value}
	if h.version == V2 {
		swap = [2]string{"memory.swap.max", "0"}
	}
	if exists(filepath.Join(dir, swap[0])) {
		writes = append(writes, swap)
	}
	if raise {
		slices.Reverse(writes)
	}
	for _, w := range writes {
		if err := os.WriteFile(filepath.Join(dir, w[0]), []byte(w[1]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
