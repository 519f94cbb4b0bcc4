package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/internal/benchline"
)

// scaleChild makes this test binary the process that measures a planner at scale:
// the figure is resident memory, which needs a process of its own.
const scaleChild = "PACER_SCALE_CHILD"

// scaled measures a planner of 10,000 nodes and 1,000 applications on 40 nodes each
// (crew).
func scaled(t *testing.T, add adder) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run", "^TestScaleChild$")
	child.Env = append(os.Environ(), scaleChild+"=1")
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, line := range bytes.Split(out, []byte("\n")) {
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		var l benchline.Line
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		add(t, l.Name, l.Value, l.Unit)
	}
}

// TestScaleChild is scaled's process; alone it does nothing.
func TestScaleChild(t *testing.T) {
	if os.Getenv(scaleChild) == "" {
		t.Skip("measures only as the child of TestFigures/scale")
	}
	daemon.LimitPlannerMemory() // As the planner's daemon does.
	c := newCrew(t)
	c.hire()
	for range scaleSeconds {
		c.second()
	}
	c.report(json.NewEncoder(os.Stdout))
}
