package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/sparkpacer/pacer/units"
)

const (
	lowV2, highV2 = "memory.low", "memory.high"
	// softV1 is v1's file of how much of a group the kernel takes last when the machine is short.
	softV1 = "memory.soft_limit_in_bytes"
	// pressureV2 is v2's file of how long a group waits for memory.
	pressureV2 = "memory.pressure"
	// heldBack is the part of a yielding group's claim from which on the kernel takes its page cache, and slows it: the
	// limit, at which it ends, is the claim.
	heldBack = 15.0 / 16
)

// Shield is how the kernel treats a group where the machine is short of memory. Size is what its executor claims.
type Shield struct {
	Size units.Bytes
	// Yields says that the group gives back first, and has no protection: else its Size is promised.
	Yields bool
}

// Put has the kernel protect what is promised, and take from what yields first. In v2 a promised group keeps its Size
// (memory.low), for which the groups above it have the sums of theirs, and one that yields is held back a little below
// it (memory.high). In v1 a group that yields gives all but MemoryMargin first (the soft limit), which is what protects
// the others. It writes nothing where no memory controller counts the group, or the kernel has no such file
// (Hierarchy.Lacks).
func (s Shield) Put(g *Group) error {
	dirs, own := g.limited(), g.memory.dir
	if g.h.version == V2 && g.memory.own && (len(dirs) != 1 || dirs[0] != own) {
		// The kernel keeps for a container inside no more than for the group around it.
		dirs = append(dirs, own)
	}
	for _, dir := range dirs {
		if err := g.h.shields.write(dir, s); err != nil && !errors.Is(err, os.ErrNotExist) && !isGone(err) {
			return fmt.Errorf("cgroup: shield %s: %w", g.name, err)
		}
	}
	return g.h.shields.sum()
}

// shields are how a hierarchy writes them: dir is Pacer's parent group in the memory controller's tree, "" for none.
type shields struct {
	version     Version
	kernel      bool
	dir, parent string
	mu          sync.Mutex // Held while sums of what is promised are written.
}

func (h *shields) write(dir string, s Shield) error {
	if h.version == V1 {
		soft := int64(-1)
		if s.Yields {
			soft = int64(MemoryMargin)
		}
		return h.put(dir, softV1, strconv.FormatInt(soft, 10))
	}
	low, high := strconv.FormatInt(int64(s.Size), 10), "max"
	if s.Yields {
		low, high = "0", strconv.FormatInt(int64(float64(s.Size)*heldBack), 10)
	}
	return errors.Join(h.put(dir, lowV2, low), h.put(dir, highV2, high))
}

// put writes a file where the kernel has it.
func (h *shields) put(dir, name, value string) error {
	path := filepath.Join(dir, name)
	if h.kernel && !exists(path) {
		return nil
	}
	return os.WriteFile(path, []byte(value), 0o644)
}

// sum gives the groups above executors, up to the first element of the parent's path, what is promised below them: the
// kernel protects no group by more than the one around it. Other nodes of the machine have their parts in the sum.
func (h *shields) sum() error {
	if h.version == V1 || h.dir == "" || h.kernel && !exists(filepath.Join(h.dir, lowV2)) {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for dir, path := h.dir, h.parent; path != "."; dir, path = filepath.Dir(dir), filepath.Dir(path) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
		var sum units.Bytes
		for _, e := range entries {
			if e.IsDir() {
				sum += lowOf(filepath.Join(dir, e.Name()))
			}
		}
		if lowOf(dir) == sum {
			continue
		}
		if err := h.put(dir, lowV2, strconv.FormatInt(int64(sum), 10)); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	return nil
}

// lowOf is what is promised to dir, 0 where that cannot be read.
func lowOf(dir string) units.Bytes {
	data, _ := os.ReadFile(filepath.Join(dir, lowV2))
	if string(bytes.TrimSpace(data)) == "max" {
		return noLimit
	}
	return sizeIn(data)
}

// lacks says in one line each what the kernel cannot do for the memory of executors.
func (h *shields) lacks() (lacks []string) {
	const noPressure = "no pressure of each executor"
	if h.dir == "" {
		return append(lacks, "no memory controller: memory is neither limited nor protected", noPressure)
	}
	files := []string{lowV2, highV2}
	if h.version == V1 {
		lacks = append(lacks, "no memory.low (cgroup v1): what is promised is protected only from what is lent", noPressure)
		files = []string{softV1}
	}
	for _, file := range files {
		if h.kernel && !exists(filepath.Join(h.dir, file)) {
			lacks = append(lacks, "no "+file)
		}
	}
	if h.version == V2 && h.kernel && !exists(filepath.Join(h.dir, pressureV2)) {
		lacks = append(lacks, noPressure)
	}
	return lacks
}
