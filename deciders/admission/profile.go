package admission

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
)

// ProfileOf is the name of the profile of an application that comes: that which its user gives, else
// its own name where a profile has just that, else its key (profiles.Key). Of contexts of a submission
// that have the same key, as those of a loop over dates, the k-th has KEY#k.
func ProfileOf(v ledger.View, r api.RegisterRequest) string {
	number, further := strings.CutPrefix(r.Profile, r.Name+"#")
	further = further && r.Context > 0 // NAME#k, of which the driver has made it.
	switch {
	case r.Profile != "" && !further, v.Profile(r.User, cmp.Or(r.Profile, r.Name)) != nil:
		return cmp.Or(r.Profile, r.Name)
	}
	key, k := profiles.Key(r.Name, r.Program), 1
	if n, err := strconv.Atoi(number); further && err == nil {
		k = n
	}
	if k = max(k, 1+before(v, r, key)); k == 1 {
		return key
	}
	return fmt.Sprintf("%s#%d", key, k)
}

// before is how many contexts of r's submission that came before it have a profile of that key.
func before(v ledger.View, r api.RegisterRequest, key string) (n int) {
	count := func(submission string, context int, profile string) {
		if submission == r.Submission && context < r.Context && (profile == key || strings.HasPrefix(profile, key+"#")) {
			n++
		}
	}
	for _, a := range v.Apps() {
		count(a.Tenant.Submission, a.Tenant.Owner.Context, a.Promise.Profile)
	}
	for _, d := range v.Ended() {
		count(d.Detail.Submission, d.Detail.Context, d.Detail.Profile)
	}
	return n
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
