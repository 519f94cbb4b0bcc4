package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// parameters are what a route's query may say. An unknown parameter is a mistake that would show an empty cluster, or
// another one than is meant.
var parameters = map[string][]string{
	"GET /applications":    {"limit", "before", "state", "user", "profile"},
	"GET /profiles/{name}": {"owner"},
	"GET /cores":           {"step", "after"},
	"GET /report":          {"by", "since", "utc_offset_s"},
}

// states are those of applications, as a query names them.
var states = []string{string(api.AppQueued), string(api.AppRunning), string(api.AppEnding), string(api.AppFinished),
	string(api.AppFailed), string(api.AppUnknown), string(api.AppRefused)}

// checkQuery refuses what a route does not know.
func checkQuery(pattern string, q url.Values) error {
	known := parameters[pattern]
	for _, name := range slices.Sorted(maps.Keys(q)) {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return api.Errorf(api.KindInvalid, "parameter %q is not known: there are none", api.Clip(name, api.MostToken))
		case !slices.Contains(known, name):
			return api.Errorf(api.KindInvalid, "parameter %q is not known, want one of %v", api.Clip(name, api.MostToken), known)
		case len(q[name]) > 1:
			return api.Errorf(api.KindInvalid, "parameter %q stands there %d times", name, len(q[name]))
		}
	}
	if text := q.Get("state"); text != "" {
		for state := range strings.SplitSeq(text, ",") {
			if !slices.Contains(states, state) {
				return api.Errorf(api.KindInvalid, "state is %q, want one of %v", api.Clip(state, api.MostToken), states)
			}
		}
	}
	return nil
}
