package web

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// states are those of applications, as a query names them.
var states = []string{string(api.AppQueued), string(api.AppRunning), string(api.AppEnding), string(api.AppFinished),
	string(api.AppFailed), string(api.AppUnknown), string(api.AppRefused)}

// checkQuery refuses what a route does not know. An unknown parameter is a mistake that would show an empty cluster, or
// another one than is meant.
func (c *call) checkQuery() error {
	known := strings.Fields(c.route.Query)
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return api.Errorf(api.KindInvalid, "parameter %q is not known: there are none", api.Clip(name, api.MostToken))
		case !slices.Contains(known, name):
			return api.Errorf(api.KindInvalid, "parameter %q is not known, want one of %v", api.Clip(name, api.MostToken), known)
		case len(c.query[name]) > 1:
			return api.Errorf(api.KindInvalid, "parameter %q stands there %d times", name, len(c.query[name]))
		}
	}
	return nil
}

// wrong notes the first parameter that is not what is wanted: the planner is then not asked.
func (c *call) wrong(name, want string) {
	if c.fault == nil {
		c.fault = api.Errorf(api.KindInvalid, "%s is %q, want %s", name, api.Clip(c.query.Get(name), api.MostToken), want)
	}
}

// word is the value of a parameter, "" where it is left out; among are all that it may be.
func (c *call) word(name string, among ...string) string {
	v := c.query.Get(name)
	if v != "" && !slices.Contains(among, v) {
		c.wrong(name, fmt.Sprintf("one of %v", among))
	}
	return v
}

// flag is the value of a parameter that is true or false.
func (c *call) flag(name string) bool { return c.word(name, "true", "false") == "true" }

// whole is the value of a parameter that is a whole number, usual where it is left out.
func (c *call) whole(name string, usual, least, most int) int {
	text := c.query.Get(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		c.wrong(name, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return n
}

func (c *call) limit() int { return c.whole("limit", limitEntries, 1, mostEntries) }

// cursor is where a list goes on after a part of it, as a query says it: a key may have any byte. "" is nowhere.
func cursor(more string) string { return base64.RawURLEncoding.EncodeToString([]byte(more)) }

// aPart asks for a part of a list.
func aPart(c *call, q *api.ControlRequest) error {
	after, err := base64.RawURLEncoding.DecodeString(c.query.Get("after"))
	if err != nil {
		c.wrong("after", "what an answer before had as next")
	}
	q.Page = &api.Page{After: string(after), Most: c.limit()}
	return nil
}

// version asks for a version of a profile, by default the newest.
func version(c *call, q *api.ControlRequest) error {
	if to := c.whole("version", 0, 1, api.MostCount); to > 0 {
		q.Query = &api.Query{To: to}
	}
	return nil
}

// twoVersions asks what has changed between two versions of a profile.
func twoVersions(c *call, q *api.ControlRequest) error {
	q.Query = &api.Query{From: c.whole("from", 0, 1, api.MostCount), To: c.whole("to", 0, 1, api.MostCount)}
	return nil
}

// aHistory asks who had the cores.
func aHistory(c *call, q *api.ControlRequest) (err error) {
	step := map[string]units.Seconds{"": 1, "second": 1, "minute": 60}[c.word("step", "second", "minute")]
	q.Query = &api.Query{Step: step}
	if after := c.query.Get("after"); after != "" {
		if err = q.Query.After.UnmarshalText([]byte(after)); err != nil {
			c.wrong("after", "a moment as in RFC 3339")
		}
	}
	return nil
}

// aReport asks what became of the runs.
func aReport(c *call, q *api.ControlRequest) error {
	q.Query = &api.Query{Since: 30 * 86400, UTCOffset: c.whole("utc_offset_s", 0, -86400, 86400)}
	var all []string
	for _, by := range api.ReportBys() {
		all = append(all, string(by))
	}
	q.Query.By = api.ReportBy(c.word("by", all...))
	if text := c.query.Get("since"); text != "" {
		since, err := units.ParseDuration(text)
		if q.Query.Since = units.FromDuration(since); err != nil || since <= 0 {
			c.wrong("since", "a time such as 30d")
		}
	}
	return nil
}
