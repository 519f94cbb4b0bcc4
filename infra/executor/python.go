package executor

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sparkpacer/pacer/api"
)

// mostSteps bounds how many links and copies an interpreter is followed through.
const mostSteps = 40

// PythonOf returns the Python environment that path is in and those that its interpreter leads to. A virtual
// environment links to another one, perhaps by a directory that is a link, or says whose copy it is.
func PythonOf(path string) (environments []string) {
	var seen []string
	var follow func(at string)
	follow = func(at string) {
		if len(seen) == mostSteps || slices.Contains(seen, at) || !exists(at) {
			return
		}
		seen = append(seen, at)
		dir := environmentOf(at)
		if dir != "" && !slices.Contains(environments, dir) {
			environments = append(environments, dir)
		}
		if to, err := os.Readlink(at); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			follow(to)
		}
		if real, err := filepath.EvalSymlinks(at); err == nil {
			follow(real)
		}
		if dir != "" {
			follow(filepath.Join(dir, "bin", "python3"))
			follow(copiedFrom(dir))
		}
	}
	follow(path)
	return environments
}

// environmentOf returns the virtual Python environment that path is in, else the
// directory that holds its bin, or its shims, "" for neither.
func environmentOf(path string) string {
	for dir := path; filepath.IsAbs(dir) && dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "pyvenv.cfg")); err == nil {
			return dir
		}
	}
	dir := filepath.Dir(path)
	if name := filepath.Base(dir); filepath.IsAbs(path) && (name == "bin" || name == "shims") {
		return filepath.Dir(dir)
	}
	return ""
}

// copiedFrom is the interpreter that a virtual environment has a copy of, "" where it does not say so.
func copiedFrom(environment string) string {
	text, err := logTail(filepath.Join(environment, "pyvenv.cfg"), 4096)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		if key, home, _ := strings.Cut(line, "="); strings.TrimSpace(key) == "home" {
			return filepath.Join(strings.TrimSpace(home), "python3")
		}
	}
	return ""
}

// interpreterOf returns the Python environments of the interpreter that an application's workers run, where they are of
// the very user that has submitted it. They may lie below root's home, for one, where executors, which are another
// user, would find nothing. Whose they are not gets nothing shown by naming them.
func interpreterOf(launch api.Launch) (shows []string) {
	owner, err := user.Lookup(launch.User)
	if launch.User == "" || err != nil {
		return nil
	}
	for _, dir := range PythonOf(interpreter(launch.Env)) {
		if isPython(dir) && ownedBy(dir, owner.Uid) && !strings.HasPrefix(owner.HomeDir+"/", dir+"/") {
			shows = append(shows, dir)
		}
	}
	return shows
}

// interpreter is the path of what Python workers run: by Spark's default the first python3 in PATH, as it is
// where a shell has activated an environment. "" is none.
func interpreter(env map[string]string) string {
	name := first(env["PYSPARK_PYTHON"], "python3")
	if strings.Contains(name, "/") {
		return name
	}
	for _, dir := range filepath.SplitList(env["PATH"]) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && exists(path) {
			return path
		}
	}
	return ""
}

// isPython reports whether dir is a Python environment, or has several and chooses among them (pyenv), and is not
// any directory with a bin in it.
func isPython(dir string) bool {
	if exists(filepath.Join(dir, "pyvenv.cfg")) {
		return true
	}
	for _, sign := range []string{"lib/python3*/os.py", "versions/*/bin/python3"} {
		if found, err := filepath.Glob(filepath.Join(dir, sign)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// ownedBy reports whether dir is a user's and nobody else can write there.
func ownedBy(dir, uid string) bool {
	st, err := os.Stat(dir)
	if err != nil {
		return false
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	return ok && strconv.FormatUint(uint64(owner.Uid), 10) == uid && st.Mode().Perm()&0o022 == 0
}
