package realenv

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

func TestAtExit(t *testing.T) {
	for name, c := range map[string]struct {
		told units.Seconds
		by   api.EndedBy
		ok   bool
	}{
		"as the caller saw it":  {39.9, api.EndedByExit, true},
		"the stop":              {39.9, api.EndedByStop, false},
		"a second too early":    {38.9, api.EndedByExit, false},
		"longer than it can be": {40.1, api.EndedByExit, false},
	} {
		app := api.AppDetail{AppSummary: api.AppSummary{Duration: c.told, EndedBy: c.by}}
		if err := AtExit(40*time.Second, app); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
