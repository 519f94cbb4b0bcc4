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
	}{
		"in time":                  {"paced", 0.5, true},
		"a little late":            {"released", -0.8, true},
		"late, and not yet told":   {"paced", -0.1, true},
		"too late":                 {"released", -2.6, false},
		"let go before its end":    {"released", 12, false},
		"without a deadline":       {"recording", 1000, false},
		"paced, but without error": {"paced", 1000, false},
	} {
		app := api.AppDetail{AppSummary: api.AppSummary{Pacing: c.pacing}}
		if c.after != 1000 {
			app.ErrorPct = &c.after
		}
		if err := Held(app); (err == nil) != c.held {
			t.Errorf("%s: %v", name, err)
		}
	}
}
