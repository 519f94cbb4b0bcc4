package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

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

// memory is a Group's part in the memory controller, where there is one.
type memory struct {
	// dir is where the group's limit is, or, if it is not own, where that of a container
	// inside would be; "" where there is no memory controller.
	dir string
	own bool
	// limit is what is in force as last read or written, 0 for none; aim is what it is to
	// be, so that a slow lowering does not undo a later raise.
	limit, aim atomic.Int64
	known      atomic.Bool
	mu         sync.Mutex // Held while a limit is written.
}

// findMemory finds the parent group's directory in the tree of the memory controller, and
// makes it where groups of Pacer's own may have limits. It writes nothing to the groups above
// Pacer's but, in v2, the controllers that are passed down to Pacer's own.
//
// In v1 a process that is in a group of the memory controller was put there by somebody who
// bounds it; an executor of it is not taken out.
func (h *Hierarchy) findMemory() (dir string, own bool) {
	if h.version == V2 {
		path := h.roots[0]
		for i, part := range append(strings.Split(h.parent, "/"), "") {
			if !passesMemory(path, i > 0) {
				return h.cpu, false
			}
			path = filepath.Join(path, part)
		}
		return h.cpu, true
	}
	root := firstWith(limitV1, h.root, "memory")
	if root == "" {
		return "", false
	}
	dir = filepath.Join(root, h.parent)
	if h.kernel && confined("/proc/self/cgroup") {
		return dir, false
	}
	return dir, os.MkdirAll(dir, 0o755) == nil
}

// confined reports whether a process, whose list of groups is at path, is in a group of v1's
// memory controller, or that it is not known.
func confined(path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), "memory") {
			return fields[2] != "/"
		}
	}
	return true
}

// passesMemory lets the children of the v2 group dir have the memory controller, and
// reports whether they have it. Of groups that are not Pacer's own it asks only.
func passesMemory(dir string, own bool) bool {
	path := filepath.Join(dir, subtreeFile)
	has := func() bool {
		data, err := os.ReadFile(path)
		return err == nil && slices.ContainsFunc(strings.Fields(string(data)), func(s string) bool { return strings.TrimPrefix(s, "+") == "memory" })
	}
	return has() || own && os.WriteFile(path, []byte("+memory"), 0o644) == nil && has()
}

// openMemory makes g's directory in the memory controller's tree, where it may have one.
func (g *Group) openMemory() error {
	if g.h.memory == "" {
		return nil
	}
	dir := filepath.Join(g.h.memory, g.dir)
	g.memory.dir = dir
	if !g.h.limits {
		return nil
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cgroup: %w", err)
	}
	g.memory.own = !g.h.kernel || exists(filepath.Join(dir, g.h.limitFile()))
	return nil
}

// limited are the directories whose limits hold g's processes: those of containers inside,
// which their engine has limited, else g's own, if it has one.
func (g *Group) limited() []string {
	m := &g.memory
	if m.dir == "" {
		return nil
	}
	dirs := slices.DeleteFunc(inside(m.dir), func(dir string) bool { return !exists(filepath.Join(dir, g.h.limitFile())) })
	if len(dirs) == 0 && m.own {
		return []string{m.dir}
	}
	return dirs
}

// MemoryLimit returns the memory limit in force as last read or written, 0 where there is
// none: system calls only the first time and after ForgetMemoryLimit.
func (g *Group) MemoryLimit() units.Bytes {
	m := &g.memory
	if m.known.Load() || m.dir == "" {
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
		return false, nil // What is in use does not go that fast: the next one finds less.
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
		use.Needed += max(resident, charged-max(0, idle))
	}
	return use, nil
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

// writeLimit sets dir's limit. Where v1 limits swap as well, that is never below it.
func (h *Hierarchy) writeLimit(dir string, limit units.Bytes, raise bool) error {
	names := []string{h.limitFile()}
	if swap := "memory.memsw.limit_in_bytes"; h.version == V1 && exists(filepath.Join(dir, swap)) {
		names = append(names, swap)
	}
	if raise {
		slices.Reverse(names)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strconv.FormatInt(int64(limit), 10)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
