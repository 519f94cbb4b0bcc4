package cgroup

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// Claim takes the parent group for this Hierarchy until Close or Remove. Two
// writers below one parent would end each other's executors: applications of two
// planners that register in the same second have the same id, and so have their
// groups. A parent that somebody else has claimed is api.KindConflict; the kernel
// ends a claim with its process. Claim is called once.
func (h *Hierarchy) Claim() error {
	f, err := os.Open(h.cpu)
	if err != nil {
		return fmt.Errorf("cgroup: claim %s: %w", h.parent, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return api.Errorf(api.KindConflict,
				"cgroup %s is in use by another node controller: stop it, or give this one another node.name or node.cgroup-parent", h.parent)
		}
		return fmt.Errorf("cgroup: claim %s: %w", h.parent, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claim = f
	return nil
}
