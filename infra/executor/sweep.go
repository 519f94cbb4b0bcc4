package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
)

// Swept is a group that Sweep has removed, with the processes that were in it.
type Swept struct {
	Group     string
	Processes int
}

// Sweep ends what a start has left that was interrupted before its handle was saved: nobody would
// ever stop it. It kills what is in groups of executors that have no handle, removes these groups,
// and the files of such executors but for their logs. An executor whose handle cannot be read is
// left alone. Call it after Recover and before the first Start, by whoever has claimed groups.
func Sweep(ctx context.Context, l Layout, groups *cgroup.Hierarchy) ([]Swept, error) {
	known, err := l.known()
	if err != nil {
		return nil, err
	}
	names, err := groups.Names()
	if err != nil {
		return nil, err
	}
	var swept []Swept
	for _, name := range names {
		if known[name] {
			continue
		}
		group, err := groups.Group(name)
		if err != nil {
			return swept, fmt.Errorf("executor: sweep %s: %w", name, err)
		}
		pids, err := group.Procs()
		if err == nil {
			err = group.Remove(ctx)
		}
		if err != nil {
			return swept, fmt.Errorf("executor: sweep %s: %w", name, err)
		}
		swept = append(swept, Swept{Group: name, Processes: len(pids)})
	}
	return swept, l.sweep()
}

// known are the names of the groups of executors that have a handle.
func (l Layout) known() (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(l.Root, "apps", "*", "*", "handle.json"))
	if err != nil {
		return nil, fmt.Errorf("executor: %w", err)
	}
	known := map[string]bool{}
	for _, file := range files {
		dir := filepath.Dir(file)
		known[cgroup.GroupName(api.AppID(filepath.Base(filepath.Dir(dir))), api.ExecutorID(filepath.Base(dir)))] = true
	}
	return known, nil
}

// sweep removes the files of executors that have no handle, but for their logs.
func (l Layout) sweep() error {
	made, err := filepath.Glob(filepath.Join(l.Root, "apps", "*", "*", "*"))
	if err != nil {
		return fmt.Errorf("executor: %w", err)
	}
	var faults []error
	for _, file := range made {
		dir, name := filepath.Split(filepath.Clean(file))
		temporary := strings.HasPrefix(name, handlePrefix)
		if temporary {
			faults = append(faults, RemoveFile(file))
		}
		if name != "work" && name != "progress" && !temporary {
			continue
		}
		paths, err := l.Paths(api.AppID(filepath.Base(filepath.Dir(filepath.Clean(dir)))), api.ExecutorID(filepath.Base(dir)))
		if err != nil {
			continue // It is none of ours.
		}
		if _, err := os.Lstat(paths.Handle); errors.Is(err, os.ErrNotExist) {
			faults = append(faults, paths.clean())
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("executor: sweep: %w", err)
	}
	return nil
}
