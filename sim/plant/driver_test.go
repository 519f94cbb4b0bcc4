package plant

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// A driver has its cores of a node while it works itself, before executors do, and
// leaves them while a stage runs and at its end.
func TestADriverTakesCores(t *testing.T) {
	w := newWorld(t, Default(), 1, App{Name: "a", Head: 10, Tail: 5, Exit: 5, Driver: 2,
		Stages: []Stage{{Name: "s", Tasks: 160, Work: 320, Gap: 1}}}, 1)
	d, m, phases := w.driver, w.driver.Home, map[bool]units.Seconds{}
	for !d.Exited {
		w.pass(50 * time.Millisecond)
		running := len(d.stages.running()) > 0
		if want := 2.0; !d.Exited && !running && m.Taken() != want || running && m.Taken() != 0 {
			t.Fatalf("at %.2f s, stages run: %v, the driver takes %v cores", float64(d.Elapsed()), running, m.Taken())
		}
		phases[running] += 0.05
	}
	if m.Taken() != 0 {
		t.Errorf("the driver takes %v cores after its end", m.Taken())
	}
	if phases[false] < 15 || phases[true] < 10 {
		t.Errorf("the driver worked for %.1f s, its stage for %.1f s", float64(phases[false]), float64(phases[true]))
	}
}
