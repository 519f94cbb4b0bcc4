package cgroup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"

	cgroups "github.com/containerd/cgroups/v3"
	"golang.org/x/sys/unix"
)

// DefaultRoot is where Linux mounts cgroups.
const DefaultRoot = "/sys/fs/cgroup"

// Version tells the two cgroup interfaces apart.
type Version int

const (
	// V1 has one tree per controller; Pacer uses those of cpu and cpuacct.
	V1 Version = 1
	// V2 has one tree for all controllers.
	V2 Version = 2
)

// String returns "v1" or "v2".
func (v Version) String() string { return fmt.Sprintf("v%d", int(v)) }

// ErrUnavailable says that there is no usable cpu controller under the root.
var ErrUnavailable = errors.New("cgroup: no cpu controller to use")

// Hierarchy is Pacer's parent group and the groups below it: the one writer of
// their files. It is safe for concurrent use.
type Hierarchy struct {
	version Version
	// kernel is false for a tree of ordinary files, as tests use.
	kernel bool
	parent string
	// cpu and acct are the parent's directories in the trees of those
	// controllers: the same directory for v2 and for joined v1 mounts.
	cpu, acct string
	memory    memoryTree
	drivers   drivers
	shields   *shields
	// Lacks says in one line each what the kernel cannot do for the memory of executors; nothing where it can do all.
	Lacks []string
	// root is where cgroups are mounted, roots are the trees used.
	root  string
	roots []string

	mu     sync.Mutex
	groups map[string]*Group
	watch  *watch   // Nil without WatchQuotas.
	claim  *os.File // Nil without Claim.
}

// Open finds the cpu controller under root ("" is DefaultRoot) and makes the
// group parent below it, a relative path such as "pacer/node1"; what exists
// already is taken over as it is. The first element of parent, where it is new, gets
// ParentWeight(runtime.NumCPU()): one that is there has the weight that another node
// controller of the machine needs. For v2 root may also be a delegated group.
// A fault of permission comes back with what to grant.
func Open(root, parent string) (*Hierarchy, error) {
	root = cmp.Or(root, DefaultRoot)
	parts := strings.Split(parent, "/")
	if err := checkParent(parts); err != nil {
		return nil, fmt.Errorf("cgroup: parent %q: %w", parent, err)
	}
	version, roots, err := detect(root)
	if err != nil {
		return nil, err
	}
	h := &Hierarchy{version: version, kernel: isKernel(roots[0]), parent: parent, root: root, roots: roots,
		groups: map[string]*Group{}}
	h.cpu, h.acct = filepath.Join(roots[0], parent), filepath.Join(roots[len(roots)-1], parent)
	if err := h.create(parts); err != nil {
		return nil, h.grant(err)
	}
	h.memory = h.findMemory()
	h.shields = &shields{version: version, kernel: h.kernel, dir: h.memory.dir, parent: parent}
	h.Lacks = h.shields.lacks()
	return h, nil
}

// detect returns the version and the trees to use: the cpu tree first, then the
// cpuacct tree if that is another one.
func detect(root string) (Version, []string, error) {
	if exists(filepath.Join(root, "cgroup.controllers")) {
		return V2, []string{root}, nil
	}
	cpu := firstWith("cpu.shares", root, "cpu", "cpu,cpuacct", "cpuacct,cpu")
	acct := firstWith("cpuacct.usage", root, "cpuacct", "cpu,cpuacct", "cpuacct,cpu", "cpu")
	switch {
	case cpu == "" && root == DefaultRoot && cgroups.Mode() == cgroups.Unavailable:
		return 0, nil, fmt.Errorf("%w: %s is not mounted", ErrUnavailable, root)
	case cpu == "":
		return 0, nil, fmt.Errorf("%w: %s is neither a cgroup v2 tree nor has it a v1 cpu mount", ErrUnavailable, root)
	case acct == "":
		return 0, nil, fmt.Errorf("%w: %s has a v1 cpu mount but none of cpuacct", ErrUnavailable, root)
	case sameFile(cpu, acct):
		return V1, []string{cpu}, nil
	}
	return V1, []string{cpu, acct}, nil
}

func firstWith(file, root string, dirs ...string) string {
	for _, dir := range dirs {
		if path := filepath.Join(root, dir); exists(filepath.Join(path, file)) {
			return path
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func isKernel(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	return st.Type == unix.CGROUP_SUPER_MAGIC || st.Type == unix.CGROUP2_SUPER_MAGIC
}

// create makes the parent's directories from the top, passes the v2 controller
// down, and gives the top one its weight if it is new.
func (h *Hierarchy) create(parts []string) error {
	top := filepath.Join(h.roots[0], parts[0])
	made := false
	for _, root := range h.roots {
		dir := root
		for i := range len(parts) + 1 {
			if i > 0 {
				dir = filepath.Join(dir, parts[i-1])
				err := os.Mkdir(dir, 0o755)
				if err != nil && !errors.Is(err, os.ErrExist) {
					return fmt.Errorf("cgroup: %w", err)
				}
				made = made || err == nil && dir == top
			}
			if h.version == V2 {
				if err := enableCPU(dir); err != nil {
					return err
				}
			}
		}
	}
	if !made {
		return nil
	}
	return h.setWeight(top, ParentWeight(runtime.NumCPU()))
}

// Kernel reports whether the root is the kernel's and no tree of ordinary files.
func (h *Hierarchy) Kernel() bool { return h.kernel }

// Version returns the interface in use.
func (h *Hierarchy) Version() Version { return h.version }

// Group makes the group name below the parent, or takes over the one that is
// there with the quota in force. Until the group is removed or closed the same
// value is returned for the same name, so that all users share its knowledge of
// what was written last.
func (h *Hierarchy) Group(name string) (*Group, error) {
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("cgroup: group %q: %w", name, err)
	}
	if strings.Contains(name, componentMark) {
		if of := h.drivers.open(h, true); of != nil {
			return of.Group(name)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if g := h.groups[name]; g != nil {
		return g, nil
	}
	g, err := openGroup(h, name)
	if err != nil {
		return nil, h.grant(err)
	}
	if h.watch != nil {
		// Without a mark, of which the kernel has so many, the group is read more
		// often: that is no reason to start no executor.
		_ = h.watch.add(g)
	}
	h.groups[name] = g
	return g, nil
}

// Names lists the groups that exist below the parent, sorted: those of an
// earlier node controller included.
func (h *Hierarchy) Names() ([]string, error) {
	entries, err := os.ReadDir(h.cpu)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, h.nameOf(e.Name()))
		}
	}
	if of := h.drivers.open(h, false); of != nil {
		more, err := of.Names()
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	sort.Strings(names)
	return names, nil
}

// Close ends WatchQuotas and Claim and closes the files of all groups; the groups
// and their quotas stay.
func (h *Hierarchy) Close() error {
	h.mu.Lock()
	groups, watch, claim := h.groups, h.watch, h.claim
	h.groups, h.watch, h.claim = map[string]*Group{}, nil, nil
	h.mu.Unlock()
	errs := []error{h.drivers.end((*Hierarchy).Close)}
	if watch != nil {
		errs = append(errs, watch.close())
	}
	for _, g := range groups {
		errs = append(errs, g.closeFiles())
	}
	if claim != nil {
		errs = append(errs, claim.Close())
	}
	return errors.Join(errs...)
}

// Remove closes h and removes the parent's directories as far up as they are
// empty; it leaves alone what has groups of somebody else. Groups of h that are
// still there are an error.
func (h *Hierarchy) Remove(ctx context.Context) error {
	names, err := h.Names()
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("cgroup: %s still has %s", h.parent, strings.Join(names, ", "))
	}
	remove := func(of *Hierarchy) error { return of.Remove(ctx) }
	if err := errors.Join(h.drivers.end(remove), h.Close()); err != nil {
		return err
	}
	defer h.sweep(h.parent)
	if h.memory.dir != "" && h.memory.dir != h.cpu {
		for dir, path := h.memory.dir, h.parent; path != "." &&
			removeDir(ctx, dir, h.kernel) == nil; path = filepath.Dir(path) {
			dir = filepath.Dir(dir)
		}
	}
	for _, root := range h.roots {
		own := true
		for path := h.parent; path != "."; path = filepath.Dir(path) {
			if err := removeDir(ctx, filepath.Join(root, path), h.kernel); err != nil {
				if own {
					return err
				}
				break
			}
			own = false
		}
	}
	return nil
}

// checkName accepts letters, digits, "-", "_" and inner dots: nothing that could
// leave the directory or be taken for a file of the kernel's.
func checkName(name string) error {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}
	if name == "" || len(name) > 200 || name[0] == '.' || strings.HasPrefix(name, "cgroup.") ||
		strings.HasPrefix(name, "cpu") || strings.ContainsFunc(name, odd) {
		return errors.New("want 1 to 200 letters, digits, - and _")
	}
	return nil
}
