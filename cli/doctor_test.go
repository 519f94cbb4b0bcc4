package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/doctor"
)

// findings are those of pacer doctor as programs read them.
type findings struct {
	V        int              `json:"v"`
	Findings []doctor.Finding `json:"findings"`
}

func (f findings) of(t *testing.T, check string) doctor.Finding {
	t.Helper()
	for _, one := range f.Findings {
		if one.Check == check {
			return one
		}
	}
	t.Fatalf("no finding of %s in %+v", check, f)
	return doctor.Finding{}
}

// A user's machine that reaches its planner: faults are those of the Spark, and the exit code follows them.
func TestDoctorLooksAtAUsersMachine(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{nodes: []api.NodeSummary{{Node: "n1", Version: "0.0.1"}}})
	home := w.fakeSpark(t, "")
	if err := os.WriteFile(filepath.Join(home, "jars", "spark-core_2.13-4.3.0.jar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := w.run(t, "--planner", f.address, "doctor", "user", "-o", "json")
	code := o.code
	o.code = 0 // That of the jar, which this binary may not carry.
	all := jsonOf[findings](t, o)
	for check, want := range map[string]string{"reach": f.address, "spark": "Spark 4.3.0 in " + home, "credential": credentials, "payload": "8 MiB at "} {
		if got := all.of(t, check); got.Status != doctor.OK || !strings.Contains(got.Found, want) {
			t.Errorf("%+v, want ok with %q", got, want)
		}
	}
	if got := all.of(t, "versions"); got.Status != doctor.Warning || !strings.Contains(got.Found, "node n1 is of 0.0.1") {
		t.Errorf("%+v", got)
	}
	faults := 0
	for _, one := range all.Findings {
		if one.Status == doctor.Fault {
			faults++
		}
	}
	if want := min(faults, 1); code != want {
		t.Errorf("exit code %d with %d faults", code, faults)
	}

	w.env["SPARK_HOME"] = t.TempDir()
	o = w.run(t, "--planner", f.address, "doctor", "user")
	if o.code != command.ExitFailure || o.err != "" || !strings.Contains(o.out, "spark") || !strings.Contains(o.out, "  pip install pyspark") {
		t.Errorf("exit code %d: %s%s", o.code, o.out, o.err)
	}
	w.run(t, "doctor", "cluster").wantLine(t, command.ExitUsage, "cluster")
}

// A configuration with faults is a finding, and so is a file that is not there.
func TestDoctorTellsOfTheConfiguration(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("planner: {max-pool: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{path: "planner.max-pool", path + ".none": "no such file"} {
		o := w.run(t, "--config", path, "doctor", "planner", "-o", "json")
		if o.code != command.ExitFailure {
			t.Errorf("exit code %d: %s", o.code, o.err)
		}
		o.code = 0
		if got := jsonOf[findings](t, o).of(t, "configuration"); got.Status != doctor.Fault || !strings.Contains(got.Found, want) {
			t.Errorf("%+v, want a fault with %q", got, want)
		}
	}
}
