package plant

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// another is a world of an application whose executors another manager starts within so many seconds each time, on three
// machines. Each process that comes is a gift of the manager: gifts has how many came at once.
func another(t *testing.T, wait units.Seconds) (w *world, gifts func() []int) {
	w = &world{t: t, clock: &des.Clock{}}
	w.plant = New(Default(), w.clock, 1)
	for i := range 3 {
		w.plant.Managed = append(w.plant.Managed,
			&Machine{Plant: w.plant, Name: string(rune('a' + i)), ID: uint64(i), Cores: 64, Speed: 1})
	}
	a := chain("a", 1, 4, 1e5)
	a.ExecutorCores, a.Attach = 2, &Attach{Least: 1, Most: 11, Wait: wait}
	if err := a.Validate(); err != nil {
		t.Fatal(err)
	}
	w.driver = w.plant.NewDriver(a, 1, w.plant.Managed[0], func(e api.Event) { w.said = append(w.said, e) })
	w.driver.Start()
	w.driver.Registered(&api.RegisterReply{AppID: "app-1"})
	has := 0
	return w, func() (all []int) {
		for range 40 {
			w.pass(10 * time.Second)
			if n := len(w.driver.Manager.executors); n != has {
				all, has = append(all, n-has), n
			}
		}
		return all
	}
}

// Of what is lacking half comes within the time, and then of the rest, on all machines alike; executors that leave are
// lacking no more, and those that die are given again.
func TestTheManagerGivesByHalves(t *testing.T) {
	w, gifts := another(t, 60)
	w.driver.Follow(&api.Directive{Epoch: 1})
	if got := gifts(); !slices.Equal(got, []int{6, 3, 1, 1}) {
		t.Fatalf("gifts %v", got)
	}
	for _, m := range w.plant.Managed {
		if n := len(m.Processes()); n < 3 || n > 4 {
			t.Errorf("%d executors of 11 on %s", n, m.Name)
		}
	}
	if x := w.said[0].Executor; x.Machine != "boot-"+x.Host || x.Cores != 2 || !w.driver.executors[0].Unsought {
		t.Errorf("the driver tells %+v", x)
	}
	w.driver.executors[0].Kill("lost", 137)
	if got := gifts(); !slices.Equal(got, []int{-1, 1}) && len(got) != 0 {
		t.Errorf("after a loss: %v", got)
	}
	wanted := &api.Directive{Epoch: 2, Wanted: 8}
	for _, p := range w.driver.executors[:3] {
		wanted.Executors = append(wanted.Executors, api.DirectiveExecutor{ID: p.Key.ID, Node: p.Machine.Name, Leaving: true})
	}
	w.driver.Follow(wanted)
	if gifts(); w.driver.Manager.lacks() != 0 {
		t.Errorf("%d are lacking of 8, while three leave", w.driver.Manager.lacks())
	}
	w.driver.Stop()
	if held := w.driver.Manager.Held(); held < 8 || held > 11 {
		t.Errorf("it had %.1f executors in the mean", held)
	}
	if got := gifts(); len(got) > 0 {
		t.Errorf("after its end come %v", got)
	}
}
