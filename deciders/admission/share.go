package admission

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// mostFollowers bounds how many contexts a deadline is divided over.
const mostFollowers = 1000

// share is the promise p of a user's application of profile body with its part of a deadline that contexts which follow
// are to keep, too. Each has a part in proportion to what it takes at all cores, as stages have of
// an application's: so the whole is feasible if and only if the part is. The context that comes next divides what is
// left then. A context whose follower has no profile has all that is left.
func share(v ledger.View, user string, p ledger.Promise, body *api.Profile) ledger.Promise {
	rest, followers := following(v, user, body)
	if whole := body.Duration + rest; followers > 0 && whole > 0 {
		p.Shared, p.Followers = p.Deadline, followers
		p.Deadline *= body.Duration / whole
	}
	return p
}

// leastLeft is the least that is left of a submission's deadline for a context.
const leastLeft units.Seconds = 1e-3

// moved is by how much the deadline of r's submission was moved by the contexts before r's, which
// know of those before them; no driver knows it.
func moved(v ledger.View, r api.RegisterRequest) (by units.Seconds) {
	newest := -1
	for _, d := range v.Ended() {
		if c := d.Detail.Context; d.Detail.Submission == r.Submission && c < r.Context && c > newest {
			newest, by = c, d.Account.Moved
		}
	}
	for _, a := range v.Apps() {
		if o := &a.Tenant.Owner; a.Tenant.Submission == r.Submission && o.Context < r.Context && o.Context >= newest {
			newest, by = o.Context, o.Moved
		}
	}
	return by
}

// following is how long the contexts take that came after the one of a profile, and how many they
// are, by what each one's profile says of the next.
func following(v ledger.View, user string, body *api.Profile) (rest units.Seconds, followers int) {
	seen := map[string]bool{body.Name: true}
	for next := body.Next; next != "" && !seen[next] && followers < mostFollowers; {
		seen[next] = true
		p := v.Profile(user, next).Planned()
		if p == nil {
			break
		}
		rest, next = rest+p.Body.Duration, p.Body.Next
		followers++
	}
	return rest, followers
}
