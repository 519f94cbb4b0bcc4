package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/cli/command"
)

// What stands in the place of spark-defaults.conf and is no file Spark passes over; one that is named it refuses.
func TestDefaultsThatAreNoFileArePassedOver(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	for what, put := range map[string]func(path string) error{
		"a directory":          func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe":               func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a link to a lost one": func(path string) error { return os.Symlink(path+".lost", path) },
	} {
		path := filepath.Join(w.fakeSpark(t, "exit 0"), "conf", "spark-defaults.conf")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		if o := w.run(t, "submit", "--pacer-planner", f.address, "app.py"); o.code != 0 {
			t.Errorf("%s: exit code %d: %s", what, o.code, o.err)
		}
		if what == "a directory" {
			o := w.run(t, "submit", "--pacer-planner", f.address, "--properties-file", path, "app.py")
			o.wantLine(t, command.ExitNoInput, path)
		}
	}
}

// An interpreter that is here and runs nothing is told, with where it is said; the application may need none.
func TestAnInterpreterThatIsNoProgramIsTold(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, "exit 0")
	dir := t.TempDir()
	text := filepath.Join(dir, "python3")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env, conf, want string
	}{
		{env: dir, want: "PYSPARK_PYTHON: " + dir},
		{env: text, want: "PYSPARK_PYTHON: " + text},
		{env: "/bin/sh", conf: dir, want: "--conf spark.pyspark.python: " + dir},
		{env: dir, conf: "/bin/sh"},
		{env: "python3"},
		{env: "./environment/bin/python"},
		{env: filepath.Join(dir, "elsewhere")},
		{},
	} {
		w.env["PYSPARK_PYTHON"] = c.env
		args := []string{"submit", "--pacer-planner", f.address, "app.py"}
		if c.conf != "" {
			args = slices.Insert(args, 1, "--conf", "spark.pyspark.python="+c.conf)
		}
		o := w.run(t, args...)
		if told := strings.Contains(o.err, "is no program"); o.code != 0 || told != (c.want != "") || !strings.Contains(o.err, c.want) {
			t.Errorf("%+v: exit code %d: %s", c, o.code, o.err)
		}
	}
}
