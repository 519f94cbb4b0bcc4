package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Lift takes the quota off every group below parent, whoever made it, and
// returns how many had one. Unlike a Hierarchy it makes nothing, keeps nothing
// open and touches nothing else: it is what is left to do when the writer of the
// quotas is gone. A parent or group that is not there is no error; of the groups
// that cannot be lifted all are named.
func Lift(root, parent string) (lifted int, err error) {
	root = cmp.Or(root, DefaultRoot)
	version, roots, err := detect(root)
	if err != nil {
		return 0, err
	}
	file, none := "cpu.cfs_quota_us", "-1"
	if version == V2 {
		file, none = "cpu.max", "max"
	}
	top := filepath.Join(roots[0], parent)
	var faults []error
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			faults = append(faults, fmt.Errorf("cgroup: %w", err))
			return nil
		case !d.IsDir() || path == top:
			return nil
		}
		had, err := lift(filepath.Join(path, file), none)
		if had && err == nil {
			lifted++
		}
		faults = append(faults, err)
		return nil
	})
	return lifted, errors.Join(append(faults, err)...)
}

// lift writes none into a quota file unless that is what it holds.
func lift(path, none string) (had bool, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		if text := strings.TrimSpace(string(data)); text == "" || strings.HasPrefix(text, none) {
			return false, nil
		}
		err = os.WriteFile(path, []byte(none), 0o644)
	}
	if errors.Is(err, fs.ErrNotExist) || isGone(err) {
		return false, nil // The group was removed meanwhile.
	}
	if err != nil {
		return true, fmt.Errorf("cgroup: lift the quota: %w", err)
	}
	return true, nil
}
