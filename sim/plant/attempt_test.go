package plant

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// Where an executor is lost with its outputs, a second attempt of what is read again has
// the tasks whose outputs are gone and no others, what reads it fails and comes again
// with what it had not done, and in the end every output is there.
func TestLostOutputsAreWrittenAgainInPart(t *testing.T) {
	w := newWorld(t, Default(), 1, chain("app", 3, 300, 1200), 3)
	d := w.driver
	for d.stages[1].remaining > 200 {
		w.pass(500 * time.Millisecond)
	}
	first, second, victim := d.stages[0], d.stages[1], w.executors[0]
	held := len(first.without(victim))
	victim.Forgets = true
	victim.Kill("killed by signal 9", 137)
	w.pass(time.Second)
	again, later := d.stages[0], d.stages[1]
	if held < 50 || held > 150 || again.key != (api.StageKey{Attempt: 1}) || again.spec.Tasks != held {
		t.Errorf("attempt %v has %d tasks, %d outputs are lost", again.key, again.spec.Tasks, held)
	}
	if later.key != (api.StageKey{Stage: 1, Attempt: 1}) || later.ready ||
		later.spec.Tasks < second.remaining || later.spec.Tasks >= 300 {
		t.Errorf("attempt %v of %d tasks is ready: %v, the first one had %d left", later.key, later.spec.Tasks,
			later.ready, second.remaining)
	}
	w.pass(30 * time.Minute)
	for _, r := range d.stages {
		if n := len(r.base.missing()); n > 0 {
			t.Errorf("stage %v lacks %d outputs", r.key, n)
		}
	}
	if last := w.said[len(w.said)-1]; !d.Exited || last.Type != api.EventExit || !last.Clean {
		t.Errorf("it has exited: %v, its last word is %+v", d.Exited, last)
	}
}

// Tasks of a failed attempt go on as zombies: the attempt has ended when the last of them has, and what is written again
// runs beside them at once.
func TestZombiesHoldTheirSlotsAndNoOthers(t *testing.T) {
	app := chain("app", 2, 300, 300)
	app.Stages[1].Tasks = 6
	w := newWorld(t, Default(), 1, app, 3)
	d := w.driver
	for d.stages[1].next < 6 {
		w.pass(500 * time.Millisecond)
	}
	w.pass(time.Second)
	failed, victim := d.stages[1], w.executors[0]
	victim.Forgets = true
	victim.Kill("killed by signal 9", 137)
	w.pass(time.Second)
	ended := func() bool {
		return slices.ContainsFunc(w.said, func(e api.Event) bool {
			return e.Type == api.EventStageDone && e.Done.StageKey == failed.key && e.Done.Failed
		})
	}
	for _, p := range w.executors[1:] {
		if zombies, again := p.tasks.of(failed), p.tasks.of(d.stages[0]); zombies != 2 || again != 2 || ended() {
			t.Errorf("executor %v runs %d zombies and %d tasks of %v; the failed attempt has ended: %v", p.Key, zombies, again,
				d.stages[0].key, ended())
		}
	}
	w.pass(30 * time.Minute)
	if !d.Exited || !ended() || failed.remaining != 0 {
		t.Errorf("it has exited: %v, the failed attempt has ended: %v, with %d zombies", d.Exited, ended(), failed.remaining)
	}
}
