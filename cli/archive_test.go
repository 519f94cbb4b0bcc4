package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/executor"
)

// archivedSpark is a Spark distribution with a Java whose archive a node
// controller of this machine has made; it returns the archive's file.
func (w *world) archivedSpark(t *testing.T) (home, file string) {
	t.Helper()
	home = w.fakeSpark(t, "exit 0")
	java, archives := t.TempDir(), t.TempDir()
	write := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, "jars", "spark-core_2.13-4.3.0.jar"), 0o644)
	write(filepath.Join(java, "bin", "java"), 0o755)
	write(filepath.Join(java, "lib", "server", "libjvm.so"), 0o644)
	archive, err := executor.SparkArchive(java, home)
	if err != nil {
		t.Fatal(err)
	}
	write(archive.File(archives), 0o444)
	w.env["JAVA_HOME"], w.env["PACER_NODE_ARCHIVES"] = java, archives
	return home, archive.File(archives)
}

// driverOptions are the default options of the driver of an application submitted with args.
func (w *world) driverOptions(t *testing.T, planner string, args []string) string {
	t.Helper()
	o := w.run(t, append(append([]string{"submit", "--pacer-planner", planner}, args...), "app.py")...)
	if o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.err)
	}
	return confOf(o.arguments())[confDefaultOptions]
}

func TestDriversMapTheArchiveUnlessTheUserHasASay(t *testing.T) {
	f := startPlanner(t, &fakePlanner{})
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		conf string // A file in Spark's configuration directory.
		want bool
	}{
		"plain":                   {want: true},
		"options of another sort": {args: []string{"--driver-java-options", "-Dx=y -XX:+UseG1GC"}, want: true},
		"by the Java on the path": {env: map[string]string{"JAVA_HOME": ""}, want: true},
		"sharing is decided":      {args: []string{"--driver-java-options", "-Dx=y -Xshare:off"}},
		"by a setting":            {args: []string{"--conf", "spark.driver.extraJavaOptions=-XX:SharedArchiveFile=/mine.jsa"}},
		"default options":         {args: []string{"--conf", "spark.driver.defaultJavaOptions=-Dx=y"}},
		"a class path":            {args: []string{"--driver-class-path", "/a.jar"}},
		"a class path by setting": {args: []string{"--conf", "spark.driver.extraClassPath=/a.jar"}},
		"configuration":           {conf: "log4j2.properties"},
		"defaults":                {conf: "spark-defaults.conf"},
		"switched off":            {env: map[string]string{"PACER_NODE_ARCHIVES": "off"}},
		"none made":               {env: map[string]string{"PACER_NODE_ARCHIVES": "/nowhere"}},
		"no Java":                 {env: map[string]string{"JAVA_HOME": "/nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			home, file := w.archivedSpark(t)
			w.env["PATH"] = filepath.Join(w.env["JAVA_HOME"], "bin") + ":" + w.env["PATH"]
			for key, value := range c.env {
				w.env[key] = value
			}
			if c.conf != "" {
				if err := os.WriteFile(filepath.Join(home, "conf", c.conf), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			options := w.driverOptions(t, f.address, c.args)
			if got := strings.Contains(options, "-XX:SharedArchiveFile="+file+" "); got != c.want {
				t.Errorf("the driver's options are %q", options)
			}
		})
	}
}

// A driver's methods prove fifty times as hot until the optimizing compiler takes them, with an
// archive or without, unless its user tunes the compiler or has default options of his own.
func TestDriversOptimizeLittleUnlessTheUserHasASay(t *testing.T) {
	f := startPlanner(t, &fakePlanner{})
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want bool
	}{
		"plain":                   {want: true},
		"no archive":              {env: map[string]string{"PACER_NODE_ARCHIVES": "off"}, want: true},
		"a class path":            {args: []string{"--driver-class-path", "/a.jar"}, want: true},
		"options of another sort": {args: []string{"--driver-java-options", "-Dx=y -XX:+UseG1GC"}, want: true},
		"the compiler is tuned":   {args: []string{"--driver-java-options", "-Dx=y -XX:TieredStopAtLevel=1"}},
		"by a setting":            {args: []string{"--conf", "spark.driver.extraJavaOptions=-XX:CompileThresholdScaling=0.5"}},
		"by the environment":      {env: map[string]string{"SPARK_SUBMIT_OPTS": "-XX:-TieredCompilation"}},
		"default options":         {args: []string{"--conf", "spark.driver.defaultJavaOptions=-Dx=y"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.archivedSpark(t)
			for key, value := range c.env {
				w.env[key] = value
			}
			options := w.driverOptions(t, f.address, c.args)
			if got := slices.Contains(strings.Fields(options), "-XX:Tier4InvocationThreshold=250000"); got != c.want {
				t.Errorf("the driver's options are %q", options)
			}
		})
	}
}
