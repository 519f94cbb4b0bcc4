package admission

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
)

// ProfileOf is the name of the profile of an application that comes: that which its user gives, else
// its own name where a profile has just that, else its key (profiles.Key).
func ProfileOf(v ledger.View, r api.RegisterRequest) string {
	number, further := strings.CutPrefix(r.Profile, r.Name+"#")
	further = further && r.Context > 0 // NAME#k, of which the driver has made it.
	switch {
	case r.Profile != "" && !further, v.Profile(r.User, cmp.Or(r.Profile, r.Name)) != nil:
		return cmp.Or(r.Profile, r.Name)
	case further:
		return profiles.Key(r.Name, r.Program) + "#" + number
	}
	return profiles.Key(r.Name, r.Program)
}

// NoProfile is the error of a profile that is not there. It names the one that is most like it of those
// that a user sees.
func NoProfile(v ledger.View, user, name string) error {
	near := ""
	if found := profiles.Nearest(v.ProfileNames(user), name); found != "" {
		near = fmt.Sprintf(", the nearest is %q", found)
	}
	return api.Errorf(api.KindNotFound, "profile %q is not known%s: `pacer profiles list` lists them", name, near)
}
