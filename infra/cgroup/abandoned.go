package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// nodeParents is where node controllers have their parents that are not told another one.
const nodeParents = "pacer"

// NodeParent returns the parent of the node controller of that name.
func NodeParent(name string) string { return nodeParents + "/node-" + name }

// abandonedAfter is how long a group beside h's parent has to be there to count as abandoned:
// another node controller may have made it and not claimed it yet.
const abandonedAfter = time.Minute

// RemoveAbandoned removes what node controllers that died have left beside h's parent, as
// RemoveAbandoned does, and returns its paths. It looks where NodeParent is only: elsewhere
// groups are others'.
func (h *Hierarchy) RemoveAbandoned() ([]string, error) {
	if !h.kernel || filepath.Dir(h.parent) != nodeParents {
		return nil, nil
	}
	left, err := RemoveAbandoned(h.root, NodeParent("*"), abandonedAfter)
	more, faults := RemoveAbandoned(h.root, driversParent(NodeParent("*")), abandonedAfter)
	return append(left, more...), errors.Join(err, faults)
}

// RemoveAbandoned removes the groups of which the path below a tree of root ("" is DefaultRoot) matches pattern, with
// all that is in them, from all trees. It removes those that have no process in any tree, that nobody has claimed and
// that are there for so long. It returns their paths. The kernel refuses to remove a group that has a process, so none
// loses its group even if it enters meanwhile.
func RemoveAbandoned(root, pattern string, age time.Duration) ([]string, error) {
	h, err := trees(root)
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(h.roots[0], pattern))
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	var removed []string
	var faults []error
	for _, dir := range found {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < age {
			continue
		}
		path, err := filepath.Rel(h.roots[0], dir)
		if err != nil {
			return nil, fmt.Errorf("cgroup: %w", err)
		}
		all := []string{dir}
		if h.version == V1 {
			if all, err = filepath.Glob(filepath.Join(h.root, "*", globSafe(path))); err != nil {
				return nil, fmt.Errorf("cgroup: %w", err)
			}
			if own := ownMemory(filepath.Join(h.root, "memory")); own != "" {
				all = append(all, filepath.Join(own, path)) // Limits are made there.
			}
		}
		if slices.ContainsFunc(all, inUse) {
			continue
		}
		if err := removeEmpty(all); err != nil {
			faults = append(faults, err)
			continue
		}
		removed = append(removed, path)
	}
	return removed, errors.Join(faults...)
}

// inUse reports whether a group or one inside it has a process or a claim.
func inUse(dir string) bool {
	return slices.ContainsFunc(append(inside(dir), dir), func(dir string) bool {
		procs, err := os.ReadFile(filepath.Join(dir, procsFile))
		return err == nil && len(procs) > 0 || claimed(dir)
	})
}

// removeEmpty removes groups and those inside them, the deepest first.
func removeEmpty(trees []string) error {
	var seen []string
	for _, tree := range trees {
		for _, dir := range append(inside(tree), tree) {
			real, err := filepath.EvalSymlinks(dir) // Joined trees have several names.
			if err != nil || slices.Contains(seen, real) {
				continue
			}
			seen = append(seen, real)
			if err := unix.Rmdir(real); err != nil && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("cgroup: remove %s: %w", strings.TrimPrefix(real, DefaultRoot+"/"), err)
			}
		}
	}
	return nil
}
