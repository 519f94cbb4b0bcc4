package web

import "github.com/sparkpacer/pacer/api"

// Route is a row of the table of what the API answers to.
type Route struct {
	Pattern string
	// Verb is the request of the command line that it is, "" where it is none.
	Verb api.Verb
	// Query are the parameters that it knows, with a space between them.
	Query string
	// Most is how many bytes its body has at most.
	Most int
	// Open is a route for a client that does not say who asks.
	Open bool
	// fill says with what the verb is asked, beside what the path names; nil with nothing.
	fill func(*call, *api.ControlRequest) error
	// show is what is shown of the reply; nil is told.
	show func(*api.ControlReply) any
	// answer takes the place of both. Its result is encoded, but nil where it has answered itself.
	answer func(*call) (any, error)
}

// Routes is the table: a verb that tells a message, or one thing that told knows, needs a row and no more.
func Routes() []Route {
	all := []Route{
		{Pattern: "GET /applications", Verb: api.VerbApps, Query: "limit before state user profile",
			answer: listApplications},
		{Pattern: "GET /applications/{id}", Verb: api.VerbApp, show: shownApplication},
		{Pattern: "GET /applications/{id}/why", Verb: api.VerbWhy},
		{Pattern: "GET /applications/{id}/samples", Verb: api.VerbApp, show: samplesOf},
		{Pattern: "GET /applications/{id}/logs/{executor}", Verb: api.VerbLogs, Query: "stream offset follow",
			answer: copyLog},
		{Pattern: "POST /applications/{id}/kill", Verb: api.VerbKill},
		{Pattern: "POST /applications/{id}/release", Verb: api.VerbRelease},
		{Pattern: "POST /applications/{id}/deadline", Verb: api.VerbDeadline, fill: body(aDeadline)},
		{Pattern: "POST /applications/{id}/cap", Verb: api.VerbCap, fill: body(aCap)},
		{Pattern: "POST /applications/{id}/step", Verb: api.VerbStep, fill: body(aStep)},
		{Pattern: "GET /nodes", Verb: api.VerbNodes, Query: "limit after", fill: aPart, show: listedNodes},
		{Pattern: "POST /nodes/{node}/drain", Verb: api.VerbDrain},
		{Pattern: "POST /nodes/{node}/undrain", Verb: api.VerbUndrain},
		{Pattern: "GET /nodes/consolidate", Verb: api.VerbSpare},
		{Pattern: "POST /nodes/consolidate", Verb: api.VerbEmpty},
		{Pattern: "PUT /supervisor", Verb: api.VerbDivide, Query: "node", fill: body(aDivision)},
		{Pattern: "DELETE /supervisor", Verb: api.VerbDivide, Query: "node"},
		{Pattern: "GET /policy", Verb: api.VerbPolicy, show: shownPolicy},
		{Pattern: "PUT /policy", Verb: api.VerbPolicySet, fill: body(aPolicy)},
		{Pattern: "DELETE /policy", Verb: api.VerbPolicySet},
		{Pattern: "GET /profiles", Verb: api.VerbProfiles, Query: "limit after", fill: aPart, show: listedProfiles},
		{Pattern: "GET /profiles/{name}", Verb: api.VerbProfile, Query: "owner shared version", fill: version,
			show: func(r *api.ControlReply) any { return r.Profiles[0] }},
		{Pattern: "PUT /profiles/{name}", Verb: api.VerbProfilePut, Query: "shared taught", Most: mostProfile,
			fill: aProfile},
		{Pattern: "DELETE /profiles/{name}", Verb: api.VerbProfileRm, Query: "owner shared"},
		{Pattern: "GET /profiles/{name}/versions", Verb: api.VerbVersions, Query: "owner shared"},
		{Pattern: "GET /profiles/{name}/diff", Verb: api.VerbVersions, Query: "owner shared from to", fill: twoVersions},
		{Pattern: "GET /profiles/{name}/knee", Verb: api.VerbKnee, Query: "owner shared"},
		{Pattern: "PUT /profiles/{name}/pin", Verb: api.VerbPin, Query: "owner shared version", fill: version},
		{Pattern: "DELETE /profiles/{name}/pin", Verb: api.VerbUnpin, Query: "owner shared"},
		{Pattern: "POST /plan", answer: planDeadlines},
		{Pattern: "GET /cores", Verb: api.VerbCores, Query: "step after", fill: aHistory},
		{Pattern: "GET /report", Verb: api.VerbReport, Query: "by since utc_offset_s", fill: aReport},
		{Pattern: "GET /watch", Verb: api.VerbPing, answer: stream},
		{Pattern: "POST /session", Open: true, answer: beginSession},
		{Pattern: "GET /session", answer: func(c *call) (any, error) { return c.session(), nil }},
		{Pattern: "DELETE /session", answer: endSession},
	}
	for i := range all {
		all[i].Most = max(all[i].Most, mostBody)
	}
	return all
}
