package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// Retention says how long the logs of ended applications are kept: until both
// bounds have been passed by either, that is at most so long and at most so many.
type Retention struct {
	// Age counts from the last line logged; Apps is a number of applications.
	// 0 means no bound.
	Age  time.Duration
	Apps int
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
}

// Prune decides which applications' directories go, in order of id: ended ones
// whose last line is older than Age at now, and of the others all but the newest
// Apps. Active ones stay and do not count. It is pure.
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
	var out []api.AppID
	for i, a := range ended {
		if r.Apps > 0 && i >= r.Apps || r.Age > 0 && now.Sub(a.Last) > r.Age {
			out = append(out, a.App)
		}
	}
	slices.Sort(out)
	return out
}

// Logs lists the applications that have a directory, in order of id.
func (l Layout) Logs() ([]AppLogs, error) {
	apps, err := l.apps()
	if err != nil {
		return nil, fmt.Errorf("executor: logs: %w", err)
	}
	var listing []AppLogs
	for _, app := range apps {
		a, err := l.appLogs(app)
		if err != nil {
			return nil, fmt.Errorf("executor: logs: %w", err)
		}
		listing = append(listing, a)
	}
	return listing, nil
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
		errs = append(errs, os.RemoveAll(l.appDir(string(app))))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("executor: remove logs: %w", err)
	}
	return nil
}
