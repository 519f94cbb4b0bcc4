package executor_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// A driver is stock spark-submit in client mode, as a process or in an image: its node says how it reaches its planner, its
// user the rest, with the marks for the node's files and jar replaced. No secret is in its command line.
func TestADriversCommandLine(t *testing.T) {
	for _, image := range []string{"", "apache/spark:4.3.0"} {
		m := newMachine(t)
		spark := m.launch.SparkHome
		submit := filepath.Join(spark, "bin", "spark-submit")
		if image == "" {
			touch(t, submit, 0o755)
		} else {
			spark = "/opt/spark"
			m.settings.Image, m.settings.SparkHome, submit = image, spark, "/opt/spark/bin/spark-submit"
		}
		c := &api.Component{Name: api.DriverName, Memory: units.GiB, Submission: "s-1", Submitted: 7, Env: map[string]string{"TZ": "UTC"},
			Command: []string{"--jars", executor.JarMark, executor.FilesMark + "/0/app.py", "1"}}
		line, err := executor.DriverCommand(c, m.launch, m.paths, m.settings, executor.Reach{Planner: "h:1", Credentials: m.paths.Credential, Secret: "whisper"})
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Join(line.Args, " ")
		for _, want := range []string{submit + " --deploy-mode client --master sparkpacer://h:1 ", "spark.driver.host=127.0.0.1", "spark.pacer.submission=s-1",
			"spark.pacer.credentials=" + m.paths.Credential, "--jars " + m.settings.Jar + " " + m.paths.Files + "/0/app.py 1"} {
			if !strings.Contains(args+" ", want) {
				t.Errorf("in image %q %q is missing of %s", image, want, args)
			}
		}
		if strings.Contains(args, "whisper") || !slices.Contains(line.Env, "_SPARK_AUTH_SECRET=whisper") || !slices.Contains(line.Env, "TZ=UTC") || !slices.Contains(line.Env, "SPARK_HOME="+spark) {
			t.Errorf("in image %q its environment is %q", image, line.Env)
		}
		if line.Image != image || !line.Waited || line.Memory != units.GiB || slices.Contains(line.Reads, submit) != (image == "") || !slices.Contains(line.Reads, m.settings.Jar) {
			t.Errorf("in image %q it is %+v", image, line)
		}
	}
	m := newMachine(t)
	if _, err := executor.DriverCommand(&api.Component{}, m.launch, m.paths, m.settings, executor.Reach{}); api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), "spark-submit") {
		t.Errorf("without spark-submit: %v", err)
	}
}

// A driver maps the node's archive where there is one that its user may trust.
func TestADriverMapsTheNodesArchive(t *testing.T) {
	m := newMachine(t).own().withJVM(t)
	touch(t, filepath.Join(m.launch.SparkHome, "bin", "spark-submit"), 0o755)
	options := func() (string, executor.CommandLine) {
		c := &api.Component{Name: api.DriverName, Command: []string{"--conf", "o=-Da " + executor.ArchiveMark, "app.py"}}
		line, err := executor.DriverCommand(c, m.launch, m.paths, m.settings, executor.Reach{})
		if err != nil {
			t.Fatal(err)
		}
		return line.Args[len(line.Args)-2], line
	}
	if got, _ := options(); got != "o=-Da " {
		t.Errorf("without an archive: %q", got)
	}
	file := touch(t, m.archive(t).File(m.settings.Archives), 0o444)
	got, line := options()
	if !strings.HasPrefix(got, "o=-Da -XX:SharedArchiveFile="+file+" ") || !slices.Contains(line.Reads, file) || !slices.Contains(line.Shows, file) {
		t.Errorf("with %s: %q, reads %q, shows %q", file, got, line.Reads, line.Shows)
	}
}
