package realenv

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
)

func TestHeld(t *testing.T) {
	for name, c := range map[string]struct {
		pacing string
		after  float64 // Per cent of the deadline, negative when late; 1000 for none.
		held   bool
		timing bool
	}{
		"in time":                  {"paced", 0.5, true, false},
		"a little late":            {"released", -0.8, true, false},
		"late, and not yet told":   {"paced", -0.1, true, false},
		"too late":                 {"released", -2.6, false, true},
		"let go before its end":    {"released", 12, false, true},
		"not paced":                {"unpaced", 12, false, false},
		"without a deadline":       {"recording", 1000, false, false},
		"paced, but without error": {"paced", 1000, false, false},
	} {
		app := api.AppDetail{AppSummary: api.AppSummary{Pacing: c.pacing}}
		if c.after != 1000 {
			app.ErrorPct = &c.after
		}
		err := Held(app)
		if (err == nil) != c.held {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && onlyTiming(err) != c.timing {
			t.Errorf("%s: %v: a fault of timing: %t", name, err, !c.timing)
		}
	}
}
