package e2e

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestDriverOnNode is the story of cluster mode on Pacer's own nodes. A node starts the driver of a Python program, whose
// files go up, and of one in Scala; pacer submit says how they stand and ends with their exit codes.
func TestDriverOnNode(t *testing.T) {
	realenv.RequireAll(t)
	s := realenv.StartUp(t)
	python := s.Submit("--deploy-mode", "cluster", "--py-files", "testdata/toil.py", "testdata/onnode.py", "3")
	code := python.Wait(patience)
	if said := python.Output(); code != 3 || !strings.Contains(said, "this program exits with 3") || !strings.Contains(said, " runs, its driver on node ") {
		t.Fatalf("exit %d:\n%s", code, said)
	}
	app := s.Newest()
	if app.State != api.AppFailed || app.ExitCode != 3 || app.Name != "e2e-onnode" || app.Executors[0].ID != api.DriverName {
		t.Errorf("%s is %s with exit code %d: %+v", app.Name, app.State, app.ExitCode, app.Executors)
	}
	if code, log := s.Pacer("logs", string(app.ID), "driver", "--stream", "stdout"); code != 0 || !strings.Contains(log, "RESULT [Row(count(v)=1000)]") {
		t.Errorf("its log, with code %d:\n%s", code, log)
	}
	sql := s.Submit("--deploy-mode", "cluster", "--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal", "-e", "SELECT 'sum', sum(id) FROM range(1000)")
	if code := sql.Wait(patience); code != 0 {
		t.Errorf("a script of SQL ends with %d:\n%s", code, sql.Output())
	}
	app = s.Newest()
	if code, log := s.Pacer("logs", string(app.ID), "driver", "--stream", "stdout"); code != 0 || !strings.Contains(log, "499500") {
		t.Errorf("the log of a script of SQL, with code %d:\n%s", code, log)
	}
}
