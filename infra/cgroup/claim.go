package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

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
	if err := lock(f); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return api.Errorf(api.KindConflict,
				"cgroup %s is in use by another node controller: stop it, or give this one another node.name or node.cgroup-parent",
				h.parent)
		}
		return fmt.Errorf("cgroup: claim %s: %w", h.parent, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claim = f
	return nil
}

// machineClaim is the group whose lock claims a machine's groups. Any process that can open a directory can lock it:
// this one its owner alone can open, and not everybody as those of other managers.
const machineClaim = "pacer-attached"

// claimMachine claims the groups of other managers below top, and waits for a claim that ends.
func claimMachine(top string) (*os.File, error) {
	dir := filepath.Join(top, machineClaim)
	for end := time.Now().Add(claimLeaves); ; time.Sleep(20 * time.Millisecond) {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("cgroup: %w", err)
		}
		claim, err := os.Open(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue // Its holder has removed it.
		}
		if err != nil {
			return nil, fmt.Errorf("cgroup: %w", err)
		}
		if err = lock(claim); err == nil && isStill(claim, dir) {
			return claim, nil
		}
		_ = claim.Close()
		switch {
		case err != nil && !errors.Is(err, unix.EWOULDBLOCK):
			return nil, fmt.Errorf("cgroup: claim %s: %w", dir, err)
		case time.Now().After(end):
			return nil, api.Errorf(api.KindConflict,
				"another node controller attaches to the executors of this machine: one does, stop the other")
		}
	}
}

// isStill reports whether f is what has that name now.
func isStill(f *os.File, name string) bool {
	is, err := f.Stat()
	has, statErr := os.Stat(name)
	return err == nil && statErr == nil && os.SameFile(is, has)
}

// claimTries is how often a claim is tried: who looks whether a group is claimed holds it
// for a moment.
const claimTries = 4

func lock(f *os.File) error {
	for try := 1; ; try++ {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || try == claimTries {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// claimed reports whether a node controller has claimed the parent group dir.
func claimed(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false // It is gone.
	}
	defer func() { _ = f.Close() }()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
