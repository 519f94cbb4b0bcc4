package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Survey is what a machine's cgroups let a node controller do, as far as reading tells: it makes no group.
type Survey struct {
	Version Version
	// Memory says that the memory controller is there.
	Memory bool
	// Apart says that this process is in another cgroup name space than the machine's first processes.
	Apart bool
	// Denied is why Pacer's groups cannot be made, with what to grant; nil where they can.
	Denied error
}

// firstNamespace is the kernel's fixed number of the first cgroup name space (PROC_CGROUP_INIT_INO).
const firstNamespace = "cgroup:[4026531835]"

// Look surveys the cgroups below root ("" is DefaultRoot) for the group parent, which does not have to be there.
func Look(root, parent string) (Survey, error) {
	h, err := trees(root)
	if err != nil {
		return Survey{}, err
	}
	h.parent = parent
	s := Survey{Version: h.version, Memory: firstWith(limitV1, h.root, "memory") != ""}
	if h.version == V2 {
		text, err := os.ReadFile(filepath.Join(h.root, "cgroup.controllers"))
		controllers := strings.Fields(string(text))
		if err == nil && !slices.Contains(controllers, "cpu") {
			err = ErrUnavailable
		}
		if err != nil {
			return s, err
		}
		s.Memory = slices.Contains(controllers, "memory")
	}
	if namespace, err := os.Readlink("/proc/self/ns/cgroup"); err == nil {
		s.Apart = h.kernel && namespace != firstNamespace
	}
	for _, root := range h.roots {
		dir := filepath.Join(root, parent)
		for dir != root && !exists(dir) {
			dir = filepath.Dir(dir)
		}
		if err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			s.Denied = h.grant(&os.PathError{Op: "make groups in", Path: dir, Err: err}) // It names all trees.
			break
		}
	}
	return s, nil
}
