package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// One that is late keeps its place for a tenth of its deadline on nodes that serve by deadline,
// and then shares; elsewhere it shares at once.
func TestOneThatIsLateSharesWhenItHasBeenForLong(t *testing.T) {
	for _, strategy := range []string{"edf-pure", "proportional"} {
		w, id, _ := paced(t)
		band := func() api.Band {
			for _, p := range w.plans {
				for _, a := range p.Apps {
					if a.ID == id {
						return a.Band
					}
				}
			}
			t.Fatal("no Plan has it")
			return ""
		}
		w.dividing.Strategy = strategy
		w.live(102*time.Second, id)
		if w.app(id).Pacing != "released" || (band() == api.BandPromised) != (strategy == "edf-pure") {
			t.Errorf("%s: 2 s late it is %s and %q", strategy, w.app(id).Pacing, band())
		}
		w.live(10*time.Second, id)
		if band() != api.BandShared {
			t.Errorf("%s: 12 s late it is %q", strategy, band())
		}
		if said := strings.Contains(strings.Join(w.app(id).Notices, " "), "late by more than 10 %"); said != (strategy == "edf-pure") {
			t.Errorf("%s: notices %q", strategy, w.app(id).Notices)
		}
	}
}
