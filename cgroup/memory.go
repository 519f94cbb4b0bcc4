package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
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

// MemoryMargin is what a memory limit leaves above the anonymous memory in use when it is
// lowered: less would have the kernel end a process that asks for a little more.
const MemoryMargin = 64 * units.MiB

// noLimit is from where on a value that the kernel shows for v1 is none.
const noLimit units.Bytes = 1 << 60

// limitV1 is v1's file of a memory limit.
const limitV1 = "memory.limit_in_bytes"

// memory is a Group's part in the memory controller, where there is one.
type memory struct {
	dir string // "" where there is none.
	// limit is what is in force as last read or written, 0 for none; aim is what it is to
	// be, so that a slow lowering does not undo a later raise.
	limit, aim atomic.Int64
	known      atomic.Bool
	mu         sync.Mutex // Held while limits are written.
}

// findMemory makes Pacer's parent group in the tree of the memory controller. It returns ""
// where there is none to use: groups then have no memory limits. It writes nothing to the
// groups above Pacer's but, in v2, the controllers that are passed down.
func (h *Hierarchy) findMemory() string {
	if h.version == V2 {
		dir := h.roots[0]
		for i, part := range append(strings.Split(h.parent, "/"), "") {
			if !h.passesMemory(dir, i > 0) {
				return ""
			}
			dir = filepath.Join(dir, part)
		}
		return h.cpu
	}
	root := firstWith(limitV1, h.root, "memory")
	if root == "" || os.MkdirAll(filepath.Join(root, h.parent), 0o755) != nil {
		return ""
	}
	return filepath.Join(root, h.parent)
}

// passesMemory lets the children of the v2 group dir have the memory controller, and
// reports whether they have it. Of groups that are not Pacer's own it asks only.
func (h *Hierarchy) passesMemory(dir string, own bool) bool {
	path := filepath.Join(dir, subtreeFile)
	has := func() bool {
		data, err := os.ReadFile(path)
		return err == nil && slices.ContainsFunc(strings.Fields(string(data)), func(s string) bool { return strings.TrimPrefix(s, "+") == "memory" })
	}
	if has() {
		return true
	}
	if !own || !h.kernel {
		return false
	}
	return os.WriteFile(path, []byte("+memory"), 0o644) == nil && has()
}

// openMemory makes g's directory in the memory controller's tree.
func (g *Group) openMemory() error {
	if g.h.memory == "" {
		return nil
	}
	dir := filepath.Join(g.h.memory, g.dir)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cgroup: %w", err)
	}
	if g.h.version == V2 && g.h.kernel && !exists(filepath.Join(dir, "memory.max")) {
		return nil
	}
	g.memory.dir = dir
	return nil
}

// limited are the directories whose limits hold g's processes: those of containers inside,
// which their engine has limited, else g's own.
func (m *memory) limited() []string {
	if dirs := inside(m.dir); len(dirs) > 0 {
		return dirs
	}
	return []string{m.dir}
}

// MemoryLimit returns the memory limit in force as last read or written, 0 where there is
// none: a system call the first time only.
func (g *Group) MemoryLimit() units.Bytes {
	m := &g.memory
	if m.dir == "" {
		return 0
	}
	if !m.known.Load() {
		limit := noLimit
		for _, dir := range m.limited() {
			limit = min(limit, g.h.readLimit(dir))
		}
		if limit >= noLimit {
			limit = 0
		}
		m.limit.Store(int64(limit))
		m.known.Store(true)
	}
	return units.Bytes(m.limit.Load())
}

// RaiseMemory sets the memory limit to limit if that is more than what is in force, or if
// there is none. It returns at once but for a lowering that goes on.
func (g *Group) RaiseMemory(limit units.Bytes) error {
	m := &g.memory
	if m.dir == "" {
		return nil
	}
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

// LowerMemory lowers the memory limit to what AimMemory said, but not below the anonymous
// memory in use and MemoryMargin. The kernel gives page cache up for it, which may take
// long: it is for a goroutine of its own.
func (g *Group) LowerMemory() error {
	m := &g.memory
	if m.dir == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	resident, _, err := g.Memory()
	if err != nil {
		return err
	}
	limit := max(units.Bytes(m.aim.Load()), resident+MemoryMargin)
	if now := g.MemoryLimit(); now > 0 && limit >= now {
		return nil
	}
	err = g.setMemory(limit, false)
	if errors.Is(err, unix.EBUSY) {
		return nil // What is in use does not go that fast: the next one finds less.
	}
	return err
}

func (g *Group) setMemory(limit units.Bytes, raise bool) error {
	for _, dir := range g.memory.limited() {
		if err := g.h.writeLimit(dir, limit, raise); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	g.memory.limit.Store(int64(limit))
	g.memory.known.Store(true)
	return nil
}

// Memory returns the group's anonymous memory and its page cache; 0 where no memory
// controller counts them.
func (g *Group) Memory() (resident, cache units.Bytes, err error) {
	if g.memory.dir == "" {
		return 0, 0, nil
	}
	anonymous, file := "rss ", "cache "
	if g.h.version == V2 {
		anonymous, file = "anon ", "file "
	}
	for _, dir := range g.memory.limited() {
		data, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
		if errors.Is(err, os.ErrNotExist) || isGone(err) {
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("cgroup: %w", err)
		}
		resident += stat(data, anonymous)
		cache += stat(data, file)
	}
	return resident, cache, nil
}

// stat returns the number behind key in a file of lines, 0 without one.
func stat(data []byte, key string) units.Bytes {
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
			if err == nil {
				return units.Bytes(n)
			}
		}
	}
	return 0
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
	if err != nil {
		return noLimit
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n <= 0 {
		return noLimit // "max", and a tree of ordinary files before the first write.
	}
	return min(units.Bytes(n), noLimit)
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
	value := []byte(strconv.FormatInt(min(int64(limit), math.MaxInt64), 10))
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}
