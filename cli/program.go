package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// sqlShell is how the class of spark-sql ends, whose program is a script.
const sqlShell = ".SparkSQLCLIDriver"

// program is what runs, by which the planner knows an application that has no name of its own
// (profiles.Key): its file's absolute path, its class, its script of SQL; "" for none. Under a name that Airflow
// gives it is Airflow's task.
func (l *launch) program() string {
	if task := taskOf(l.getenv); task != "" && profiles.Unnamed(l.given("spark.app.name", "--name")) {
		return task
	}
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

// taskOf is the task of Airflow that runs this command, DAG.TASK, "" for none.
func taskOf(getenv func(string) string) string {
	dag, task := getenv("AIRFLOW_CTX_DAG_ID"), getenv("AIRFLOW_CTX_TASK_ID")
	if dag == "" || task == "" || len(dag)+len(task) >= api.MostName {
		return ""
	}
	return dag + "." + task
}

// scriptOf is the file of -f among the arguments of spark-sql, "" for none.
func scriptOf(args []string) string {
	if at := slices.Index(args, "-f"); at >= 0 && at+1 < len(args) {
		return args[at+1]
	}
	return ""
}

// placed is a file's absolute path, an address as it is. A file among temporary files may lie elsewhere at the next
// run: that is known by its name alone.
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
