package e2e

import (
	"flag"
	"os"
	"testing"

	"github.com/sparkpacer/pacer/test/realenv"
)

// driverOptions halve the CPU time of a driver that plans a few stages and computes
// nothing. Executors keep their own.
const driverOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "16"); err != nil { // The slots bound it.
		panic(err)
	}
	if err := os.Setenv("SPARK_SUBMIT_OPTS", driverOptions); err != nil {
		panic(err)
	}
	realenv.Main(m)
}

// patience is when a test gives an application up.
const patience = realenv.Patience

// scale is how much of branches.py the tests take, so that they share its profile
// and stock Spark's answer.
const scale = "1"

// wantAnswer waits until an application has ended well and checks its answer,
// which stock Spark gave before.
func wantAnswer(t *testing.T, run *realenv.Process, want string) {
	t.Helper()
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if got := realenv.Results(run.Answer()); got != want {
		t.Errorf("the answer is\n%s\nstock Spark's\n%s", got, want)
	}
}
