package docker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/mount"

	"github.com/sparkpacer/pacer/infra/executor"
)

// Mount is a directory or a file of this machine that containers see at the same
// path.
type Mount struct {
	Path     string
	Writable bool

	// named says that an application names it, and that its links are the application's; source
	// is where Docker finds it, "" at Path.
	named  bool
	source string
}

// ParseMounts reads a list of absolute paths, separated by commas or spaces,
// each with ":rw" behind it where containers may write.
func ParseMounts(list string) ([]Mount, error) {
	var mounts []Mount
	var faults []error
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		path, mode, _ := strings.Cut(text, ":")
		if !filepath.IsAbs(path) || filepath.Clean(path) == "/" || mode != "" && mode != "rw" && mode != "ro" {
			faults = append(faults,
				fmt.Errorf("mount %q: want an absolute path, not /, with :rw behind it if executors may write", text))
			continue
		}
		mounts = append(mounts, Mount{Path: filepath.Clean(path), Writable: mode == "rw"})
	}
	return mounts, errors.Join(faults...)
}

// system is what programs of a Linux machine need besides their own files.
var system = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc"}

// hostMounts is what an executor of the host image sees: the machine's programs, what the
// node shows, what its command line names if its user can reach it, and its own directories.
func hostMounts(s executor.Spec, paths executor.Paths, more []Mount) []Mount {
	var read []Mount
	for _, path := range system {
		if exists(path) {
			read = append(read, Mount{Path: path})
		}
	}
	for _, path := range s.Shows {
		if exists(path) {
			read = append(read, Mount{Path: directory(path)})
		}
	}
	// A path that the application names leads no further than its user can go by itself: of the rest it is as if it were
	// not there.
	_ = s.User.As(func() error {
		for _, path := range named(s) {
			read = append(read, Mount{Path: path, named: true})
		}
		return nil
	})
	return merge(read, paths, more)
}

// imageMounts is what an executor of a user's own image sees of this machine:
// the pacer jar and its own directories.
func imageMounts(s executor.Spec, paths executor.Paths, more []Mount) []Mount {
	var read []Mount
	for _, path := range s.Reads {
		read = append(read, Mount{Path: directory(path)})
	}
	return merge(read, paths, more)
}

// named returns the directories that a command line names: what it reads, its
// class path and class-data archives, Spark's and Java's homes, the Python
// environment, and the places where programs are looked for.
func named(s executor.Spec) []string {
	var paths []string
	add := func(list ...string) {
		for _, path := range list {
			if path = strings.TrimSuffix(path, "/*"); filepath.IsAbs(path) && exists(path) {
				paths = append(paths, directory(path))
				if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
					paths = append(paths, directory(real))
				}
			}
		}
	}
	add(s.Reads...)
	for i, arg := range s.Args {
		if i > 0 && s.Args[i-1] == "-cp" {
			add(strings.Split(arg, ":")...)
		}
		if archives, ok := strings.CutPrefix(arg, "-XX:SharedArchiveFile="); ok {
			add(strings.Split(archives, ":")...)
		}
	}
	for _, variable := range s.Env {
		switch key, value, _ := strings.Cut(variable, "="); key {
		case "PATH":
			for _, dir := range strings.Split(value, ":") {
				add(dir)
				add(executor.PythonOf(filepath.Join(dir, "python3"))...)
			}
		case "SPARK_HOME":
			add(value)
			add(executor.PythonOf(value)...)
		case "JAVA_HOME":
			add(value)
		case "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON":
			add(executor.PythonOf(value)...)
		}
	}
	return paths
}

// merge leaves out what another one shows already; what is writable stays, in
// order of path, so that it is mounted on top. A path that the node shows as well is no longer the application's.
func merge(read []Mount, paths executor.Paths, more []Mount) []Mount {
	mounts := []Mount{{Path: paths.Dir, Writable: true}, {Path: paths.Local, Writable: true}}
	for _, m := range more {
		if m.Writable {
			mounts = append(mounts, m)
		} else {
			read = append(read, m)
		}
	}
	slices.SortStableFunc(read, func(a, b Mount) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 || a.named == b.named {
			return c
		}
		if b.named {
			return -1
		}
		return 1
	})
	read = slices.CompactFunc(read, func(a, b Mount) bool { return a.Path == b.Path })
	for _, m := range read {
		covered := slices.ContainsFunc(read, func(other Mount) bool { return within(m.Path, other.Path) })
		if m.Path != "/" && !covered && !slices.ContainsFunc(mounts, func(w Mount) bool { return w.Path == m.Path }) {
			mounts = append(mounts, m)
		}
	}
	slices.SortFunc(mounts, func(a, b Mount) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(mounts)
}

// within reports whether path is below dir.
func within(path, dir string) bool { return dir != "/" && strings.HasPrefix(path, dir+"/") }

// directory is path, or the directory that it is a file in.
func directory(path string) string {
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		return filepath.Dir(path)
	}
	return filepath.Clean(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// binds turns mounts into Docker's, without a link in what is not on a stage; one that does not
// exist is an error before Docker says so in more words.
func binds(mounts []Mount) ([]mount.Mount, error) {
	var out []mount.Mount
	var faults []error
	for _, m := range mounts {
		source := m.source
		if source == "" {
			var err error
			if source, err = filepath.EvalSymlinks(m.Path); err != nil {
				faults = append(faults, fmt.Errorf("mount %s does not exist on this node", m.Path))
			}
		}
		out = append(out, mount.Mount{Type: mount.TypeBind, Source: source, Target: m.Path, ReadOnly: !m.Writable})
	}
	return out, errors.Join(faults...)
}
