package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// grant adds to a permission error what an administrator has to do.
func (h *Hierarchy) grant(err error) error {
	if !errors.Is(err, os.ErrPermission) && !errors.Is(err, unix.EROFS) {
		return err
	}
	script := h.grantV1()
	if h.version == V2 {
		script = h.grantV2()
	}
	return fmt.Errorf("%w: run the node controller as root, or let root grant it once: %s "+
		"(cgroup v2 under systemd: Delegate=cpu and DelegateSubgroup=controller in the unit, whose group is then the "+
		"cgroup root; "+
		"in a container: mount cgroups writable)", err, script)
}

func (h *Hierarchy) grantV1() string {
	var dirs []string
	for _, root := range h.roots {
		dirs = append(dirs, filepath.Join(root, h.top()))
	}
	// Groups below another group than the first go with the maker of that.
	if root := firstWith(limitV1, h.root, "memory"); root != "" && ownMemory(root) == root {
		dirs = append(dirs, filepath.Join(root, h.top()))
	}
	list := strings.Join(dirs, " ")
	return fmt.Sprintf("mkdir -p %s && chown -R %d %s", list, os.Getuid(), list)
}

// grantV2 gives the controller before the files, which are root's otherwise. A
// process may only be moved by who may write to the group above both places: the
// node controller, and so what it starts, has to be below Pacer's group.
func (h *Hierarchy) grantV2() string {
	top := filepath.Join(h.root, h.top())
	return fmt.Sprintf(
		"echo +cpu > %s && mkdir -p %s/controller && chown -R %d %s && echo $$ > %s/controller/cgroup.procs, and start it "+
			"from that shell",
		filepath.Join(h.root, subtreeFile), top, os.Getuid(), top, top)
}

// top is the first element of the parent.
func (h *Hierarchy) top() string {
	top, _, _ := strings.Cut(h.parent, "/")
	return top
}
