package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A container engine puts each container into a group of its own below the one
// it is told. When that is an executor's group, Pacer's quota binds whatever the
// engine makes of it, and the engine writes nothing that Pacer writes.

// sliceSuffix ends the names of groups that systemd keeps.
const sliceSuffix = ".slice"

// Path returns the group's path as container engines name a cgroup parent: from
// the top of the tree that is mounted.
func (g *Group) Path() string {
	path := filepath.Join("/", g.h.parent, g.dir)
	if below, err := filepath.Rel(DefaultRoot, g.h.root); err == nil && g.h.version == V2 &&
		!strings.HasPrefix(below, "..") {
		return filepath.Join("/", below, path)
	}
	return path
}

// Slice returns the group's name as a slice of systemd, such as
// "pacer-n1-app\\x2d1\\x2d1.slice"; false when its parent is none.
func (g *Group) Slice() (string, bool) { return g.dir, strings.HasSuffix(g.dir, sliceSuffix) }

// SliceParent returns the parent for Open under which groups are slices of
// systemd: name's own slice in pacer.slice. systemd reads the place of a slice
// from its name, in which "-" separates levels.
func SliceParent(name string) string {
	return "pacer" + sliceSuffix + "/pacer-" + escape(name) + sliceSuffix
}

// ContainerPath returns where an engine puts the container id below the cgroup
// parent it was given: PARENT/ID with its own driver, and with systemd's the
// scope docker-ID.scope in the slice, whose levels are spelt out.
func ContainerPath(parent, id string) string {
	if !strings.HasSuffix(parent, sliceSuffix) {
		return filepath.Join(parent, id)
	}
	parts := strings.Split(strings.TrimSuffix(filepath.Base(parent), sliceSuffix), "-")
	path := "/"
	for i := range parts {
		path = filepath.Join(path, strings.Join(parts[:i+1], "-")+sliceSuffix)
	}
	return filepath.Join(path, "docker-"+id+".scope")
}

func escape(name string) string { return strings.ReplaceAll(name, "-", `\x2d`) }

// dirName is the directory of the group name: the name itself, or the slice's
// where the parent is one.
func (h *Hierarchy) dirName(name string) string {
	if prefix, ok := h.slicePrefix(); ok {
		return prefix + escape(name) + sliceSuffix
	}
	return name
}

// nameOf is the inverse of dirName.
func (h *Hierarchy) nameOf(dir string) string {
	prefix, ok := h.slicePrefix()
	if !ok || !strings.HasPrefix(dir, prefix) {
		return dir
	}
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(dir, prefix), sliceSuffix), `\x2d`, "-")
}

func (h *Hierarchy) slicePrefix() (string, bool) {
	base, ok := strings.CutSuffix(filepath.Base(h.parent), sliceSuffix)
	return base + "-", ok
}

// inside lists the directories below dir, the deepest first.
func inside(dir string) []string {
	var dirs []string
	// A group that goes away while it is listed is not there: nobody has to know.
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if e.IsDir() && path != dir {
			dirs = append(dirs, path)
		}
		return nil
	})
	slices.Reverse(dirs)
	return dirs
}

// removeTree removes a group's directory and the groups inside it.
func removeTree(ctx context.Context, dir string, kernel bool) error {
	var errs []error
	for _, path := range append(inside(dir), dir) {
		errs = append(errs, removeDir(ctx, path, kernel))
	}
	return errors.Join(errs...)
}

// sweep removes the empty groups that an engine left in the trees of other v1
// controllers: it makes the parent it is told in each and removes it in none.
func (h *Hierarchy) sweep(path string) {
	if h.version != V1 || !h.kernel {
		return
	}
	for ; path != "."; path = filepath.Dir(path) {
		// Each tree has its own fate: what is in use there stays.
		dirs, _ := filepath.Glob(filepath.Join(h.root, "*", globSafe(path)))
		for _, dir := range dirs {
			if !slices.Contains(h.used(), dir) {
				_ = unix.Rmdir(dir)
			}
		}
		if path != h.parent {
			return // A group was removed: the parent serves others.
		}
	}
}

// used are the directories of h's own trees.
func (h *Hierarchy) used() []string {
	return []string{h.cpu, h.acct, h.memory.dir}
}

func globSafe(path string) string { return strings.ReplaceAll(path, `\`, `\\`) }

// checkParent accepts a parent whose elements are names, or slices each of which
// is in the one before it.
func checkParent(parts []string) error {
	slice := strings.HasSuffix(parts[len(parts)-1], sliceSuffix)
	for i, part := range parts {
		plain := part
		if slice {
			plain = strings.ReplaceAll(part, `\x2d`, "-")
		}
		if err := checkName(plain); err != nil {
			return err
		}
		if !slice {
			continue
		}
		in := i == 0 || strings.HasPrefix(part, strings.TrimSuffix(parts[i-1], sliceSuffix)+"-")
		if !in || !strings.HasSuffix(part, sliceSuffix) {
			return fmt.Errorf("%s is no slice in its place", part)
		}
	}
	return nil
}
