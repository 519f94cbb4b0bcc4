package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// sqlShell is how the class of spark-sql ends, whose program is a script.
const sqlShell = ".SparkSQLCLIDriver"

// program is what runs, by which the planner knows an application that has no name of its own
// (profiles.Key): its file's absolute path, its class, its script of SQL; "" for none.
func (l *launch) program() string {
	class, file := l.line.last["--class"], l.line.main()
	switch {
	case strings.HasSuffix(class, sqlShell):
		class, file = "", scriptOf(l.line.args[l.line.app:])
	case file == "spark-internal", strings.HasSuffix(file, "-shell"):
		file = ""
	}
	if class == "" {
		class = placed(file)
	}
	if len(class) > api.MostName {
		return ""
	}
	return class
}

// scriptOf is the file of -f among the arguments of spark-sql, "" for none.
func scriptOf(args []string) string {
	if at := slices.Index(args, "-f"); at >= 0 && at+1 < len(args) {
		return args[at+1]
	}
	return ""
}

// placed is a file's absolute path, an address as it is. What lies among temporary files may lie
// elsewhere at the next run: that is known by its name alone.
func placed(file string) string {
	if file == "" || strings.Contains(file, "://") {
		return file
	}
	path, err := filepath.Abs(strings.TrimPrefix(file, "file:"))
	if err != nil {
		return ""
	}
	if strings.HasPrefix(path, filepath.Clean(os.TempDir())+string(filepath.Separator)) {
		return filepath.Base(path)
	}
	return path
}

const confPython = "spark.pyspark.python"

// uninterpreted is a line about an interpreter for Python workers that is on this machine and runs nothing, "" for none.
// Each of their tasks will fail with it, while an application without such tasks is well. Of one that is not here
// other machines know, of those of another cluster it.
func (l *launch) uninterpreted() string {
	path, said := l.given(confPython, ""), l.files.said(l.line, confPython, "")
	if path == "" {
		path, said = l.getenv("PYSPARK_PYTHON"), "PYSPARK_PYTHON"
	}
	if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) || executable(path) || l.attaches() {
		return ""
	}
	return said + ": " + path + " is no program, and Python workers will not start with it"
}
