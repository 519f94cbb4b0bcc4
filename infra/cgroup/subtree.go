package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// subtreeFile is where v2 passes controllers down.
const subtreeFile = "cgroup.subtree_control"

// enableCPU lets the children of the v2 group dir have the cpu controller.
func enableCPU(dir string) error {
	// The kernel would let cpu be passed down beside processes and then take none
	// into the groups below, which are threaded.
	busy, err := hasProcesses(dir)
	if err != nil {
		return err
	}
	if busy {
		return fmt.Errorf(
			"cgroup: %s has processes of its own: move them into a group below it, then the cpu controller can be passed down",
			dir)
	}
	path := filepath.Join(dir, subtreeFile)
	have, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cgroup: %w", err)
	}
	for _, controller := range strings.Fields(string(have)) {
		if strings.TrimPrefix(controller, "+") == "cpu" {
			return nil
		}
	}
	err = os.WriteFile(path, []byte("+cpu"), 0o644)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s has none: is +cpu in its parent's cgroup.subtree_control, and cpu no mount of v1? (%w)",
			ErrUnavailable, dir, err)
	}
	return fmt.Errorf("cgroup: enable cpu in %s: %w", dir, err)
}

// hasProcesses reports whether the v2 group dir has processes outside the groups
// below it. The machine's root group, which has no type, may.
func hasProcesses(dir string) (bool, error) {
	if !exists(filepath.Join(dir, "cgroup.type")) {
		return false, nil
	}
	procs, err := os.ReadFile(filepath.Join(dir, procsFile))
	if err != nil {
		return false, fmt.Errorf("cgroup: %w", err)
	}
	return len(procs) > 0, nil
}
