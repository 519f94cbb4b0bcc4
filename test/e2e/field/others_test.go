package field

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// Several contexts, one after the other, are one submission with one exit.
func TestAProgramOfSeveralContexts(t *testing.T) {
	realenv.RequireAll(t)
	p := script("days.py")
	want := stock(t, p)
	s := realenv.StartUp(t)
	want.wants(t, s.Submit(p...))
	want.wants(t, s.Submit(append(program{"--pacer-deadline", "3m"}, p...)...))
}

// A master in the program's text wins, and that is said.
func TestAProgramWithAMasterOfItsOwn(t *testing.T) {
	realenv.RequireAll(t)
	p := script("laptop.py")
	want := stock(t, p)
	s := realenv.StartUp(t)
	run := s.Submit(append(program{"--pacer-deadline", "1m"}, p...)...)
	want.wants(t, run)
	if out := run.Output(); strings.Count(out, "had no effect") != 1 || !strings.Contains(out, "local[2]") {
		t.Errorf("it does not say that the deadline had no effect: %s", out)
	}
}

// Files, partitions and a checkpoint, written by executors and read again.
func TestAProgramThatWritesATable(t *testing.T) {
	realenv.RequireAll(t)
	files := program{"--files", filepath.Join("testdata", "cities.csv")}
	nightly(t, append(files, script("lake.py", filepath.Join(t.TempDir(), "lake"))...))
}

// A program without a name has its file's.
func TestAProgramWithoutAName(t *testing.T) {
	realenv.RequireAll(t)
	nightly(t, script("nameless.py"))
}

// A script of SQL ends at the statement that fails, with stock Spark's exit code.
func TestAScriptOfSQLThatFails(t *testing.T) {
	realenv.RequireAll(t)
	// Derby makes its metastore and its log where it is told, or in the source tree.
	p := program{"--driver-java-options", "-Dderby.system.home=" + t.TempDir(),
		"--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal", "-f", filepath.Join("testdata", "report.sql")}
	want := stock(t, p)
	if want.code == 0 {
		t.Fatal("stock Spark takes the failure for none")
	}
	s := realenv.StartUp(t)
	want.wants(t, s.Submit(p...))
	if a := over(s); a.State != api.AppFailed || a.ExitCode != want.code {
		t.Errorf("it is %s with exit code %d", a.State, a.ExitCode)
	}
}
