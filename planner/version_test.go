package planner_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// version1 is what a planner of layout 1 had stored of a running application, and what
// it said of it and to the nodes.
type version1 struct {
	Now       units.Instant     `json:"now"`
	Records   map[string]string `json:"records"`
	App       api.AppDetail     `json:"app"`
	Directive uint64            `json:"directive"`
	Epochs    map[string]uint64 `json:"epochs"`
}

// A planner goes on with what one of layout 1 has left, and keeps all of it in its own.
func TestLayout1IsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/version1.json")
	if err != nil {
		t.Fatal(err)
	}
	var old version1
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	w := newWorldOf(t, planner.Default())
	w.now = old.Now
	for key, value := range old.Records {
		w.disk[key] = []byte(value)
	}
	id := old.App.ID
	for range 2 {
		w.restart()
		got := w.app(id)
		got.Predicted = old.App.Predicted // It needs what the nodes say next.
		if want := old.Now.Sub(units.Instant(got.Submitted.UnixNano())); units.FromDuration(want) < old.App.Duration {
			t.Errorf("submitted at %v, %v before it was shown", got.Submitted, want)
		}
		got.Submitted = old.App.Submitted // Layout 1 did not tell it.
		got.Duration, got.MeanCores = old.App.Duration, old.App.MeanCores
		for i := range got.Stages {
			got.Stages[i].Duration = old.App.Stages[i].Duration
		}
		if d := cmp.Diff(old.App, got); d != "" {
			t.Errorf("the application (-layout 1 +this):\n%s", d)
		}
		w.events[id] = 5 // As the older planner has acknowledged.
		w.tell(id, old.App.Submission)
		for name, epoch := range old.Epochs {
			s := w.status(name)
			s.Epoch = epoch
			w.step(planner.Hello{To: 1, Status: s})
			if got := w.plans[name].Epoch; got > epoch {
				t.Errorf("node %s gets Plan %d after %d", name, got, epoch)
			}
		}
		if got := w.directives[id].Epoch; got > old.Directive {
			t.Errorf("the driver gets Directive %d after %d", got, old.Directive)
		}
		w.live(6*time.Second, id) // Now all is saved again.
		w.now = old.Now
	}
}
