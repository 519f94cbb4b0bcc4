package cgroup

import (
	"bytes"
	"context"
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
)

// memory is a Group's part in the memory controller, where there is one.
type memory struct {
	// dir is where the group's own limit is, if it is own; engine is where a container engine
	// makes the groups of containers inside. "" is nowhere.
	dir, engine string
	own         bool
	// limit is what is in force as last read or written, 0 for none; aim is what it is to
	// be, so that a slow lowering does not undo a later raise.
	limit, aim atomic.Int64
	known      atomic.Bool
	mu         sync.Mutex // Held while a limit is written.
	shortage   shortage
}

// memoryTree is where Pacer's parent group is in the tree of the memory controller.
type memoryTree struct {
	// root is v1's tree, "" where there is none and in v2.
	root string
	// dir is the parent group of groups that Pacer limits, "" where it may limit none; engine
	// is where container engines have that group.
	dir, engine string
}

// findMemory finds the parent group in the tree of the memory controller, and makes it where
// groups of Pacer's own may have limits. It writes nothing to the groups above Pacer's but,
// in v2, the controllers that are passed down to Pacer's own.
//
// In v1 the parent is made below the group that this process is in: whoever put it there
// bounds it, and goes on to bound what it starts. A container engine makes its groups below
// the top of the tree whoever asks it.
func (h *Hierarchy) findMemory() memoryTree {
	if h.version == V2 {
		t := memoryTree{engine: h.cpu}
		path := h.roots[0]
		for i, part := range append(strings.Split(h.parent, "/"), "") {
			if !passesMemory(path, i > 0) {
				return t
			}
			path = filepath.Join(path, part)
		}
		t.dir = h.cpu
		return t
	}
	t := memoryTree{root: firstWith(limitV1, h.root, "memory")}
	if t.root == "" {
		return t
	}
	t.engine = filepath.Join(t.root, h.parent)
	top := t.root
	if h.kernel {
		top = ownMemory(t.root)
	}
	if dir := filepath.Join(top, h.parent); top != "" && os.MkdirAll(dir, 0o755) == nil &&
		unix.Access(dir, unix.W_OK) == nil {
		t.dir = dir
	}
	return t
}

// ownMemory returns this process's group in v1's tree of the memory controller; "" where it
// is not seen there, or does not count what is in the groups below it.
func ownMemory(root string) string {
	dir := memoryGroupOf(root, "/proc/self/cgroup", os.Getpid())
	if dir == "" {
		return ""
	}
	counts, err := os.ReadFile(filepath.Join(dir, "memory.use_hierarchy"))
	if err != nil || string(bytes.TrimSpace(counts)) != "1" {
		return ""
	}
	return dir
}

// memoryGroupOf returns the directory in v1's tree of memory groups of the process pid, whose list
// of groups is at list; "" where it is not found. The mount may begin anywhere on the way to the group, as it does in a
// container: the directory is the one that has the process.
func memoryGroupOf(root, list string, pid int) string {
	data, err := os.ReadFile(list)
	if err != nil {
		return ""
	}
	path, found := "", false
	for line := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), "memory") {
			path, found = strings.TrimPrefix(fields[2], "/"), true
		}
	}
	for ; found; _, path, _ = strings.Cut(path, "/") {
		dir := filepath.Join(root, path)
		if procs, err := os.ReadFile(filepath.Join(dir, procsFile)); err == nil &&
			slices.Contains(strings.Fields(string(procs)), strconv.Itoa(pid)) {
			return dir
		}
		if path == "" {
			break
		}
	}
	return ""
}

// passesMemory lets the children of the v2 group dir have the memory controller, and
// reports whether they have it. Of groups that are not Pacer's own it asks only.
func passesMemory(dir string, own bool) bool {
	path := filepath.Join(dir, subtreeFile)
	has := func() bool {
		data, err := os.ReadFile(path)
		return err == nil && slices.ContainsFunc(strings.Fields(string(data)), func(s string) bool {
			return strings.TrimPrefix(s, "+") == "memory"
		})
	}
	return has() || own && os.WriteFile(path, []byte("+memory"), 0o644) == nil && has()
}

// openMemory makes g's directory in the memory controller's tree, where it may have one, or
// finds where its processes are.
func (g *Group) openMemory() error {
	tree, m := g.h.memory, &g.memory
	if tree.engine != "" {
		m.engine = filepath.Join(tree.engine, g.dir)
	}
	if runs, dir := g.runsIn(); runs {
		m.dir, m.own = dir, dir != ""
		return nil
	}
	if tree.dir == "" {
		return nil
	}
	m.dir = filepath.Join(tree.dir, g.dir)
	if err := os.Mkdir(m.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cgroup: %w", err)
	}
	m.own = !g.h.kernel || exists(filepath.Join(m.dir, g.h.limitFile()))
	return nil
}

// runsIn reports whether g has processes of an earlier node controller, and where they are in
// v1's tree of the memory controller: that one may have been in another group. dir is "" where
// that is no group of Pacer's.
func (g *Group) runsIn() (runs bool, dir string) {
	if g.h.memory.root == "" || !g.h.kernel {
		return false, ""
	}
	procs, err := os.ReadFile(filepath.Join(g.cpu, procsFile))
	if err != nil {
		return false, ""
	}
	for _, field := range strings.Fields(string(procs)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			continue
		}
		// A process that has just ended is in no group any more, another one may be.
		if dir = memoryGroupOf(g.h.memory.root, fmt.Sprintf("/proc/%d/cgroup", pid), pid); dir == "" {
			continue
		}
		if !strings.HasSuffix(dir, "/"+filepath.Join(g.h.parent, g.dir)) {
			dir = ""
		}
		return true, dir
	}
	return false, ""
}

// removeMemory removes g's directory in v1's tree of the memory controller, and the parent
// group there where an earlier node controller had made it in another place and g was its last.
func (g *Group) removeMemory(ctx context.Context) error {
	dir := g.memory.dir
	if !g.memory.own || dir == g.cpu {
		return nil
	}
	if err := removeTree(ctx, dir, g.h.kernel); err != nil {
		return err
	}
	if above := filepath.Dir(dir); above != g.h.memory.dir {
		for path := g.h.parent; path != "." && unix.Rmdir(above) == nil; path = filepath.Dir(path) {
			above = filepath.Dir(above)
		}
	}
	return nil
}

// limited are the directories whose limits hold g's processes: those of containers inside,
// which their engine has limited, else g's own, if it has one.
func (g *Group) limited() []string {
	m := &g.memory
	var dirs []string
	if m.engine != "" {
		dirs = slices.DeleteFunc(inside(m.engine), func(dir string) bool {
			return !exists(filepath.Join(dir, g.h.limitFile()))
		})
	}
	if len(dirs) == 0 && m.own {
		return []string{m.dir}
	}
	return dirs
}
