package executor

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sparkpacer/pacer/api"
)

// PythonOf returns the Python environment that path is in and the one that its
// interpreter really belongs to, as virtual environments only link to it.
func PythonOf(path string) []string {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	environment := environmentOf(path)
	if environment == "" {
		return nil
	}
	interpreter, err := filepath.EvalSymlinks(filepath.Join(environment, "bin", "python3"))
	if err != nil {
		return []string{environment}
	}
	return []string{environment, environmentOf(interpreter)}
}

// environmentOf returns the virtual Python environment that path is in, else the
// directory that holds its bin, "" for neither.
func environmentOf(path string) string {
	for dir := path; filepath.IsAbs(dir) && dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "pyvenv.cfg")); err == nil {
			return dir
		}
	}
	if dir := filepath.Dir(path); filepath.IsAbs(path) && filepath.Base(dir) == "bin" {
		return filepath.Dir(dir)
	}
	return ""
}

// interpreterOf returns the Python environments of the interpreter that an application names for its
// workers, where they are of the very user that has submitted it: below root's home, for one, where
// executors, which are another user, would find nothing. Whose they are not gets nothing shown by naming them.
func interpreterOf(launch api.Launch) (shows []string) {
	path := launch.Env["PYSPARK_PYTHON"]
	owner, err := user.Lookup(launch.User)
	if launch.User == "" || err != nil || !filepath.IsAbs(path) {
		return nil
	}
	for _, dir := range PythonOf(path) {
		if isPython(dir) && ownedBy(dir, owner.Uid) && !strings.HasPrefix(owner.HomeDir+"/", dir+"/") {
			shows = append(shows, dir)
		}
	}
	return shows
}

// isPython reports whether dir is a Python environment and not any directory with a bin in it.
func isPython(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "pyvenv.cfg")); err == nil {
		return true
	}
	libraries, err := filepath.Glob(filepath.Join(dir, "lib", "python3*", "os.py"))
	return err == nil && len(libraries) > 0
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
