package executor

import (
	"os"
	"path/filepath"
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
