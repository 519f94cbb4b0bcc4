package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Retention says how long the logs of ended applications are kept: at most so long, at most
// so many, and while all applications together have no more than so many bytes.
type Retention struct {
	// Age counts from the last line logged; Apps is a number of applications; Bytes is what
	// all directories have on the disk, those of active applications too. 0 means no bound.
	Age   time.Duration
	Apps  int
	Bytes units.Bytes
}

// DefaultRetention is 7 days and 20 applications.
func DefaultRetention() Retention { return Retention{Age: 7 * 24 * time.Hour, Apps: 20} }

// AppLogs is an application's directory as Prune needs to know it.
type AppLogs struct {
	App api.AppID
	// Active says that executors of it are not removed yet.
	Active bool
	// Last is when something was last logged.
	Last time.Time
	// Bytes and Files are what it has on the disk (Usage); 0 when nobody has looked.
	Bytes units.Bytes
	Files int64
	// Uncounted says why some of its files are in neither number; "" when all are.
	Uncounted string
}

// Prune decides which applications' directories go, in order of id. These are ended ones whose last line is older than
// Age at now, of the others all but the newest Apps, and of those the oldest until Bytes holds. Active ones stay; they
// count for Bytes only. It is pure.
func (r Retention) Prune(now time.Time, listing []AppLogs) []api.AppID {
	ended := slices.DeleteFunc(slices.Clone(listing), func(a AppLogs) bool { return a.Active })
	slices.SortFunc(ended, func(a, b AppLogs) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		if a.App > b.App {
			return -1
		}
		return 1
	})
	var all units.Bytes
	for _, a := range listing {
		all += a.Bytes
	}
	var out []api.AppID
	for i, a := range slices.Backward(ended) { // The oldest first.
		if r.Apps > 0 && i >= r.Apps || r.Age > 0 && now.Sub(a.Last) > r.Age || r.Bytes > 0 && all > r.Bytes {
			out = append(out, a.App)
			all -= a.Bytes
		}
	}
	slices.Sort(out)
	return out
}

// Logs lists the applications that have a directory, in order of id. A directory that cannot be looked at counts as
// active, and the error names it.
func (l Layout) Logs() ([]AppLogs, error) {
	apps, err := l.apps()
	if err != nil {
		return nil, fmt.Errorf("executor: logs: %w", err)
	}
	var listing []AppLogs
	var faults []error
	for _, app := range apps {
		a, err := l.appLogs(app)
		if err != nil {
			a.Active = true
			faults = append(faults, fmt.Errorf("executor: logs of %s: %w", app, err))
		}
		listing = append(listing, a)
	}
	return listing, errors.Join(faults...)
}

func (l Layout) appLogs(app string) (AppLogs, error) {
	a := AppLogs{App: api.AppID(app)}
	dir := l.appDir(app)
	executors, err := l.executors(app)
	if err != nil {
		return a, err
	}
	files := []string{dir}
	for _, id := range executors {
		for _, name := range []string{"handle.json", "stdout", "stderr"} {
			files = append(files, filepath.Join(dir, id, name))
		}
	}
	for _, path := range files {
		st, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return a, err
		}
		switch filepath.Base(path) {
		case "handle.json":
			a.Active = true
		case "stdout", "stderr", app:
			if st.ModTime().After(a.Last) {
				a.Last = st.ModTime()
			}
		}
	}
	return a, nil
}

// Usage is Logs with what each application has on the disk. It walks through all its files, and
// leaves out what goes meanwhile. An application whose files cannot all be counted, as it has made
// them so, is no error: it has the reason in Uncounted.
func (l Layout) Usage() ([]AppLogs, error) {
	listing, err := l.Logs()
	for i := range listing {
		a := &listing[i]
		var uncounted, countErr error
		a.Bytes, a.Files, uncounted, countErr = count(l.appDir(string(a.App)))
		if uncounted != nil {
			a.Uncounted = uncounted.Error()
		}
		if countErr != nil {
			err = errors.Join(err, fmt.Errorf("executor: usage of %s: %w", a.App, countErr))
		}
	}
	return listing, err
}

// RemoveLogs removes what is left of applications, as Prune decided. It skips
// those that have become active since.
func (l Layout) RemoveLogs(apps []api.AppID) error {
	var errs []error
	for _, app := range apps {
		if err := checkName("application", string(app)); err != nil {
			errs = append(errs, err)
			continue
		}
		a, err := l.appLogs(string(app))
		if err != nil || a.Active {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, removeTree(l.appDir(string(app))))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("executor: remove logs: %w", err)
	}
	return nil
}
