package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Places are the directories in which executors may have their Spark, or their Java
// (docs/decisions/034).
type Places struct {
	// Listed are directories that the node names or has found; * in a name stands for any
	// text. The executors see them even where their users could not reach them.
	Listed []string
	// Only says that there are no others. Otherwise what belongs to root or to the
	// executor's own user, nobody else can write and the executor can reach will do.
	Only bool
}

// ParsePlaces reads a list of directories, separated by commas or spaces.
func ParsePlaces(list string) ([]string, error) {
	var places []string
	var faults []error
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if _, err := filepath.Match(text, ""); err != nil || !filepath.IsAbs(text) || filepath.Clean(text) == "/" {
			faults = append(faults, fmt.Errorf("%q: want an absolute path, not /, of a directory; * stands for any text", text))
			continue
		}
		places = append(places, filepath.Clean(text))
	}
	return places, errors.Join(faults...)
}

// has reports whether dir is listed, links followed.
func (p Places) has(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(p.Listed, func(pattern string) bool {
		if ok, err := filepath.Match(pattern, filepath.Clean(dir)); err == nil && ok {
			return true
		}
		found, _ := filepath.Glob(pattern)
		return slices.ContainsFunc(found, func(place string) bool {
			place, err := filepath.EvalSymlinks(place)
			return err == nil && place == real
		})
	})
}

// allow reports whether dir, which an application names as its what, is listed, or else root's,
// and refuses it if it may not be used. key names the list.
func (p Places) allow(what, key, dir string, user Credential) (h home, err error) {
	switch {
	case p.has(dir):
		return home{listed: true, trusted: true}, nil
	case p.Only:
		return h, fmt.Errorf("%s in %s is not among this node's %s", what, dir, key)
	}
	err = user.As(func() error {
		real, err := filepath.EvalSymlinks(dir)
		if errors.Is(err, os.ErrNotExist) {
			return nil // A missing file is reported later, by the code that reads it.
		}
		if err != nil {
			return fmt.Errorf("executor user %s cannot reach %s in %s (%w): list it in %s, or make it readable", user.Name, what,
				dir, err, key)
		}
		st, err := os.Stat(real)
		if err != nil {
			return err
		}
		owner, ok := st.Sys().(*syscall.Stat_t)
		if !ok || owner.Uid != 0 && owner.Uid != user.UID || st.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("%s in %s belongs to neither root nor executor user %s, or others may write there: list it in %s",
				what, dir, user.Name, key)
		}
		h.trusted = owner.Uid == 0
		return nil
	})
	return h, err
}

// home is a directory, whether the node lists it, and whether it is the node's or root's, so
// that no application has had a hand in it.
type home struct {
	dir             string
	listed, trusted bool
}

// see runs f, which looks into a home for an application: as the node controller where that
// lists it, else as the executor's user.
func (n NodeSettings) see(h home, f func() error) error {
	if h.listed {
		return f()
	}
	return n.User.As(f)
}

// shows are the files of this node that an executor sees though its user may not be able to
// reach them, others among them.
func (n NodeSettings) shows(spark, java home, archive string, others ...string) []string {
	shows := append([]string{n.Jar}, others...)
	if archive != "" {
		shows = append(shows, archive)
	}
	if spark.listed {
		shows = append(shows, spark.dir)
		shows = append(shows, PythonOf(spark.dir)...)
	}
	if java.listed {
		shows = append(shows, java.dir)
		if real, err := filepath.EvalSymlinks(java.dir); err == nil {
			shows = append(shows, real)
		}
	}
	shows = slices.DeleteFunc(shows, func(path string) bool { return !filepath.IsAbs(path) || path == "/" })
	slices.Sort(shows)
	return slices.Compact(shows)
}
