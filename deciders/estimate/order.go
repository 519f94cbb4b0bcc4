package estimate

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// Order says what of its profile a does in another order, or has left out, "" where nothing is known of either. A stage
// that is not there once a has ended well does not come.
func Order(a *ledger.App) string {
	if a.Profile == nil || a.Profile.Match == nil || len(a.Order) == 0 {
		return ""
	}
	c := a.Profile.Match.Course()
	legs, come := "jobs", "come"
	if c.Queries {
		legs = "queries"
	}
	if a.Outcome.State == api.AppFinished {
		c.Coming, c.Gone, come = 0, c.Coming+c.Gone, "came"
	}
	said := ""
	if c.Reordered {
		said = fmt.Sprintf("%s %s in another order than recorded", legs, come)
	}
	switch {
	case c.Reordered && c.Coming == 1:
		said += ": one is still to come"
	case c.Reordered && c.Coming > 1:
		said += fmt.Sprintf(": %d are still to come", c.Coming)
	}
	if c.Gone == 0 {
		return said
	}
	if said != "" {
		said += "; "
	}
	if come == "came" {
		return said + fmt.Sprintf("%d of %d recorded %s did not come", c.Gone, c.Of, legs)
	}
	return said + fmt.Sprintf("%d of %d recorded %s do not come", c.Gone, c.Of, legs)
}
