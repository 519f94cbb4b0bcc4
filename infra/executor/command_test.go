package executor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// machine is a node with a Spark, a Java and a jar that are empty files.
type machine struct {
	settings executor.NodeSettings
	launch   api.Launch
	paths    executor.Paths
}

func touch(t *testing.T, path string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func newMachine(t *testing.T) machine {
	t.Helper()
	dir := t.TempDir()
	touch(t, filepath.Join(dir, "spark", "jars", "spark-core_2.13-4.3.0.jar"), 0o644)
	touch(t, filepath.Join(dir, "java", "bin", "java"), 0o755)
	paths, err := executor.Layout{Root: filepath.Join(dir, "work")}.Paths("app-1", "7")
	if err != nil {
		t.Fatal(err)
	}
	return machine{
		settings: executor.NodeSettings{
			Jar: touch(t, filepath.Join(dir, "pacer.jar"), 0o644), Host: "127.0.0.1", Slots: 2,
			User: executor.Credential{Name: "alice", Home: "/home/alice", UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())},
		},
		launch: api.Launch{
			DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:40123", SparkHome: filepath.Join(dir, "spark"), JavaHome: filepath.Join(dir, "java"),
			SparkVersion: "4.3.0", Heap: units.GiB,
		},
		paths: paths,
	}
}

func (m machine) command() (executor.CommandLine, error) {
	return executor.Command("app-1", "7", m.launch, m.paths, m.settings)
}

func (m machine) must(t *testing.T) executor.CommandLine {
	t.Helper()
	c, err := m.command()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommandLine(t *testing.T) {
	m := newMachine(t)
	c := m.must(t)
	at := slices.Index(c.Args, "-cp")
	if at < 0 || c.Args[0] != filepath.Join(m.launch.JavaHome, "bin", "java") {
		t.Fatalf("%q", c.Args)
	}
	want := []string{"-cp", m.launch.SparkHome + "/jars/*:" + m.settings.Jar,
		"org.apache.spark.executor.CoarseGrainedExecutorBackend", "--driver-url", m.launch.DriverURL, "--executor-id", "7",
		"--bind-address", "127.0.0.1", "--hostname", "127.0.0.1", "--cores", "2", "--app-id", "app-1", "--resourceProfileId", "0"}
	if diff := cmp.Diff(want, c.Args[at:]); diff != "" {
		t.Error(diff)
	}
	for _, option := range []string{"-Xmx1073741824", "-XX:ActiveProcessorCount=2", "-XX:+UseParallelGC", "-XX:Tier4InvocationThreshold=50000", "-XX:Tier4BackEdgeThreshold=400000", "-XX:JavaPriority5_To_Priority=5", "-XX:SweeperThreshold=0.02", "--add-opens=java.base/java.nio=ALL-UNNAMED",
		"-XX:CompileCommand=dontinline,org.apache.spark.util.SizeEstimator$::*"} {
		if !slices.Contains(c.Args[:at], option) {
			t.Errorf("%s is missing in %q", option, c.Args[:at])
		}
	}
	if diff := cmp.Diff([]string{c.Args[0], filepath.Join(m.launch.SparkHome, "jars"), m.settings.Jar}, c.Reads); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironment(t *testing.T) {
	m := newMachine(t)
	for _, key := range []string{"TZ", "LANG", "LC_ALL", "LANGUAGE", "HTTPS_PROXY", "https_proxy", "http_proxy", "no_proxy"} {
		t.Setenv(key, "")
	}
	t.Setenv("PYTHONPATH", "/somewhere")
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("LC_ALL", "POSIX")
	t.Setenv("no_proxy", "localhost")
	t.Setenv("https_proxy", "http://node:secret@proxy:3128")
	m.launch.Env = map[string]string{"PATH": "/venv/bin:/usr/bin", "SPARK_LOCAL_DIRS": "/elsewhere", "PYSPARK_PYTHON": "/venv/bin/python",
		"SPARK_LOCAL_IP": "10.0.0.1", "no_proxy": "localhost,.example"}
	want := []string{
		"HOME=/home/alice", "JAVA_HOME=" + m.launch.JavaHome, "LANG=C.UTF-8",
		"MALLOC_ARENA_MAX=2", "MALLOC_MMAP_THRESHOLD_=131072", "MALLOC_TRIM_THRESHOLD_=131072",
		"PACER_PROGRESS_PAGE=" + m.paths.Page, "PACER_WISH_PAGE=" + m.paths.Wish, "PATH=/venv/bin:/usr/bin", "PYSPARK_PYTHON=/venv/bin/python", "PYTHONDONTWRITEBYTECODE=1",
		"SPARK_HOME=" + m.launch.SparkHome, "SPARK_LOCAL_DIRS=" + m.paths.Local, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_USER=alice",
		"TZ=Asia/Tokyo", "USER=alice", "no_proxy=localhost,.example",
	}
	if diff := cmp.Diff(want, m.must(t).Env); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsNameTheExecutor(t *testing.T) {
	m := newMachine(t)
	m.launch.JavaOptions = []string{"-Dwho={{APP_ID}}/{{EXECUTOR_ID}}", "-Xlog:gc:file=/tmp/{{EXECUTOR_ID}}{{EXECUTOR_ID}}.log", "-Da={{OTHER}}"}
	args := m.must(t).Args
	for _, want := range []string{"-Dwho=app-1/7", "-Xlog:gc:file=/tmp/77.log", "-Da={{OTHER}}"} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is missing in %q", want, args)
		}
	}
	if m.launch.JavaOptions[0] != "-Dwho={{APP_ID}}/{{EXECUTOR_ID}}" {
		t.Error("the application's own options were changed")
	}
}

func TestUsersOptionsWin(t *testing.T) {
	m := newMachine(t)
	m.launch.Cores = 3
	m.launch.ClassPath = []string{"/opt/a.jar", "/opt/b.jar"}
	m.launch.JavaOptions = []string{"-XX:+UseG1GC", "-XX:-UseParallelGC", "-Dk=v w", "--add-opens=java.base/java.nio=ALL-UNNAMED"}
	if err := os.Mkdir(filepath.Join(m.launch.SparkHome, "conf"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := m.must(t)
	at := slices.Index(c.Args, "-cp")
	if slices.Contains(c.Args, "-XX:+UseParallelGC") {
		t.Error("two collectors")
	}
	if got := strings.Count(strings.Join(c.Args, "\n"), "--add-opens=java.base/java.nio=ALL-UNNAMED"); got != 1 {
		t.Errorf("a module option stands there %d times", got)
	}
	if diff := cmp.Diff(m.launch.JavaOptions, c.Args[at-len(m.launch.JavaOptions):at]); diff != "" {
		t.Errorf("the user's options are not the last: %s", diff)
	}
	if !slices.Contains(c.Args, "-XX:ActiveProcessorCount=3") || c.Args[slices.Index(c.Args, "--cores")+1] != "3" {
		t.Errorf("slots: %q", c.Args)
	}
	want := m.settings.Jar + ":/opt/a.jar:/opt/b.jar:" + m.launch.SparkHome + "/jars/*:" + m.launch.SparkHome + "/conf"
	if c.Args[at+1] != want {
		t.Errorf("class path %s, want %s", c.Args[at+1], want)
	}
}

func TestUsersCompilerOptionsWin(t *testing.T) {
	for _, option := range []string{"-XX:CompileThresholdScaling=1", "-XX:TieredStopAtLevel=1", "-XX:Tier4InvocationThreshold=9000"} {
		m := newMachine(t)
		m.launch.JavaOptions = []string{option}
		if slices.Contains(m.must(t).Args, "-XX:Tier4InvocationThreshold=50000") {
			t.Errorf("%s stands beside ours", option)
		}
	}
}

func TestOtherOptionsDoNotChooseACollector(t *testing.T) {
	for _, option := range []string{"-XX:-UseG1GC", "-XX:+UseGCOverheadLimit", "-XX:+UseAdaptiveSizePolicyWithSystemGC", "-Dx=-XX:+UseG1GC"} {
		m := newMachine(t)
		m.launch.JavaOptions = []string{option}
		if !slices.Contains(m.must(t).Args, "-XX:+UseParallelGC") {
			t.Errorf("%s left the JVM to choose", option)
		}
	}
}

func TestNodesSettingsWin(t *testing.T) {
	m, other := newMachine(t), newMachine(t)
	m.settings.SparkHome, m.settings.JavaHome = other.launch.SparkHome, other.launch.JavaHome
	c := m.must(t)
	if c.Args[0] != filepath.Join(other.launch.JavaHome, "bin", "java") || !slices.Contains(c.Env, "SPARK_HOME="+other.launch.SparkHome) {
		t.Errorf("%q %q", c.Args[0], c.Env)
	}
}

// Every fault is said, all of them in one line.
func TestCommandFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*machine)
		want   []string
	}{
		"another version": {func(m *machine) { m.launch.SparkVersion = "4.2.0" }, []string{"the driver runs Spark 4.2.0, but ", " is Spark 4.3.0"}},
		"a later Spark": {func(m *machine) {
			m.launch.SparkHome = filepath.Join(filepath.Dir(m.launch.SparkHome), "later")
			touch(t, filepath.Join(m.launch.SparkHome, "jars", "spark-core_2.13-4.4.0.jar"), 0o644)
		}, []string{"later on this node: Spark 4.4.0 is not supported: Pacer works with Spark 4.0 to 4.3"}},
		"no spark":    {func(m *machine) { m.launch.SparkHome = "" }, []string{"no Spark on this node"}},
		"not a spark": {func(m *machine) { m.launch.SparkHome = m.launch.JavaHome }, []string{"no Spark 4 (jars/spark-core_2.13-*.jar) in "}},
		"not a java":  {func(m *machine) { m.launch.JavaHome = m.launch.SparkHome }, []string{"no Java in "}},
		"all at once": {func(m *machine) {
			m.launch.SparkHome, m.launch.JavaHome, m.settings.Jar = "/no/spark", "/no/java", "/no/jar"
		}, []string{"/no/spark", "/no/java", "pacer jar: open /no/jar"}},
	} {
		m := newMachine(t)
		c.change(&m)
		_, err := m.command()
		if api.KindOf(err) != api.KindInvalid {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q, want a line with %q", name, err, want)
			}
		}
	}
}

func TestNoJavaAnywhere(t *testing.T) {
	m := newMachine(t)
	m.launch.JavaHome = ""
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := m.command(); err == nil || !strings.Contains(err.Error(), "no Java on this node") {
		t.Errorf("error %v", err)
	}
}
