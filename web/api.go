package web

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// route is what the API answers to.
type route struct {
	pattern string
	// answer is what is told, as JSON; nil of one that has answered itself.
	answer func(*call) (any, error)
	open   bool // To a client that does not say who asks.
}

var routes = []route{
	{"GET /applications", listApplications, false},
	{"GET /applications/{id}", showApplication, false},
	{"GET /applications/{id}/why", asks(api.VerbWhy, func(r *api.ControlReply) any { return answer(r.Why) }), false},
	{"GET /applications/{id}/samples", asks(api.VerbApp, samplesOf), false},
	{"POST /applications/{id}/kill", asks(api.VerbKill, done), false},
	{"POST /applications/{id}/release", asks(api.VerbRelease, done), false},
	{"POST /applications/{id}/deadline", changeDeadline, false},
	{"GET /nodes", asks(api.VerbNodes, func(r *api.ControlReply) any {
		return answer(object{"nodes": append([]api.NodeSummary{}, r.Nodes...)})
	}), false},
	{"GET /profiles", asks(api.VerbProfiles, listProfiles), false},
	{"GET /profiles/{name}", showProfile, false},
	{"POST /plan", planDeadlines, false},
	{"GET /cores", showCores, false},
	{"GET /report", showReport, false},
	{"GET /watch", stream, false},
	{"POST /session", beginSession, true},
	{"GET /session", func(c *call) (any, error) { return c.session(), nil }, false},
	{"DELETE /session", endSession, false},
}

// Bounds of one request.
const (
	limitApplications, mostApplications = 100, 1000
	mostDeadlines                       = 64
)

// asks answers with what is shown of the reply to a verb.
func asks(verb api.Verb, show func(*api.ControlReply) any) func(*call) (any, error) {
	return func(c *call) (any, error) { return c.ask(verb, api.ControlRequest{}, show) }
}

func (c *call) ask(verb api.Verb, q api.ControlRequest, show func(*api.ControlReply) any) (any, error) {
	reply, err := c.control(verb, q)
	if err != nil {
		return nil, err
	}
	return show(&reply), nil
}

func done(r *api.ControlReply) any { return answer(object{"message": r.Message}) }

func listApplications(c *call) (any, error) {
	q := c.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), strconv.Itoa(limitApplications)))
	if err != nil || limit < 1 || limit > mostApplications {
		return nil, api.Errorf(api.KindInvalid, "limit is %q, want a number from 1 to %d",
			api.Clip(q.Get("limit"), api.MostToken), mostApplications)
	}
	differs := func(key, value string) bool { return q.Get(key) != "" && q.Get(key) != value }
	states, before := strings.Split(q.Get("state"), ","), api.AppID(q.Get("before"))
	return c.ask(api.VerbApps, api.ControlRequest{}, func(r *api.ControlReply) any {
		apps := slices.DeleteFunc(r.Apps, func(a api.AppSummary) bool {
			return differs("user", a.User) || differs("profile", a.Profile) || before != "" && a.ID >= before ||
				q.Get("state") != "" && !slices.Contains(states, string(a.State))
		})
		slices.SortFunc(apps, func(a, b api.AppSummary) int { return cmp.Compare(b.ID, a.ID) }) // Ids sort by time.
		return answer(object{"applications": append([]api.AppSummary{}, apps[:min(len(apps), limit)]...),
			"more": len(apps) > limit})
	})
}

// showApplication shows an application without its samples, which are an answer of their own.
func showApplication(c *call) (any, error) {
	return c.ask(api.VerbApp, api.ControlRequest{}, func(r *api.ControlReply) any {
		a := *r.App
		a.Stages = slices.Clone(a.Stages)
		for i := range a.Stages {
			a.Stages[i].Samples = nil
		}
		o := answer(a)
		stages, _ := o["stages"].([]any)
		for _, s := range stages {
			delete(s.(object), "samples")
		}
		return o
	})
}

func changeDeadline(c *call) (any, error) {
	var body struct {
		Deadline units.Seconds `json:"deadline_s"`
		Extend   units.Seconds `json:"extend_s"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	return c.ask(api.VerbDeadline, api.ControlRequest{Deadline: body.Deadline, Extend: body.Extend}, done)
}

func showCores(c *call) (any, error) {
	step, after := c.URL.Query().Get("step"), c.URL.Query().Get("after")
	q := api.Query{Step: map[string]units.Seconds{"": 1, "second": 1, "minute": 60}[step]}
	if q.Step == 0 {
		return nil, api.Errorf(api.KindInvalid, "step is %q, want second or minute", api.Clip(step, api.MostToken))
	}
	if after != "" {
		var err error
		if q.After, err = time.Parse(time.RFC3339Nano, after); err != nil {
			return nil, api.Errorf(api.KindInvalid, "after is %q, want a moment as in RFC 3339", api.Clip(after, api.MostToken))
		}
	}
	return c.ask(api.VerbCores, api.ControlRequest{Query: &q}, func(r *api.ControlReply) any { return answer(r.Cores) })
}

func showReport(c *call) (any, error) {
	v := c.URL.Query()
	since, err1 := units.ParseDuration(cmp.Or(v.Get("since"), "30d"))
	offset, err2 := strconv.Atoi(cmp.Or(v.Get("utc_offset_s"), "0"))
	if err := errors.Join(err1, err2); err != nil || since <= 0 {
		return nil, api.Errorf(api.KindInvalid, "since is to be a time such as 30d, utc_offset_s seconds east of UTC")
	}
	q := api.Query{By: api.ReportBy(v.Get("by")), Since: units.FromDuration(since), UTCOffset: offset}
	return c.ask(api.VerbReport, api.ControlRequest{Query: &q}, func(r *api.ControlReply) any { return answer(r.Report) })
}

// listProfiles lists profiles without what only their stages need.
func listProfiles(r *api.ControlReply) any {
	list := make([]object, 0, len(r.Listed))
	for _, p := range r.Listed {
		list = append(list, object{"name": p.Name, "owner": p.Owner, "shared": p.Shared, "runs": p.Runs, "cores": p.Cores,
			"duration_s": p.Duration, "stages": p.Stages, "variants": p.Variants, "core_seconds": p.Work,
			"contended": p.Contended})
	}
	return answer(object{"profiles": list})
}

func showProfile(c *call) (any, error) {
	q := api.ControlRequest{Owner: c.URL.Query().Get("owner")}
	return c.ask(api.VerbProfile, q, func(r *api.ControlReply) any { return r.Profiles[0] })
}

func planDeadlines(c *call) (any, error) {
	var body struct {
		Profile   string          `json:"profile"`
		Deadlines []units.Seconds `json:"deadlines_s"`
		Cores     units.Cores     `json:"cores"`
		Empty     bool            `json:"empty"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	if n := len(body.Deadlines); n < 1 || n > mostDeadlines {
		return nil, api.Errorf(api.KindInvalid, "deadlines_s has %d deadlines, want 1 to %d", n, mostDeadlines)
	}
	plans := make([]object, 0, len(body.Deadlines))
	for i, deadline := range body.Deadlines {
		if i > 0 {
			if err := c.admitted(0); err != nil { // Each is a question of its own.
				return nil, err
			}
		}
		if deadline <= 0 {
			return nil, api.Errorf(api.KindInvalid, "a deadline is %v, want seconds from submission", float64(deadline))
		}
		q := api.PlanRequest{V: api.Version, Profile: body.Profile, Deadline: deadline, Cores: body.Cores, Empty: body.Empty}
		reply, err := answered(c.Context(), func(reply func(api.PlanReply)) { c.planner.Plan(c.by, q, reply) })
		if err == nil && reply.Error != nil {
			err = reply.Error
		}
		if err != nil {
			return nil, err
		}
		if len(body.Deadlines) > 1 {
			reply.Stages = []api.PlanReplyLine{}
		}
		p := values(reply)
		delete(p, "v") // All of them have one.
		p["deadline_s"] = deadline
		plans = append(plans, p)
	}
	return answer(object{"plans": plans}), nil
}

// beginSession exchanges a code for a session.
func beginSession(c *call) (any, error) {
	var body struct {
		Code string `json:"code"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	token, g, err := c.server.Sessions.begin(body.Code)
	if err == nil {
		c.until = g.until
		c.by, err = c.server.cfg.Who(g.login)
	}
	c.server.cfg.Began(g.login, c.RemoteAddr, err)
	o := c.session()
	o["token"] = token
	return o, err
}

// session is who asks, and until when.
func (c *call) session() object {
	role := c.by.Role
	if c.by.Operates() {
		role = api.RoleOperate
	}
	o := answer(object{"user": c.by.Name, "role": role, "expires_at": nil, "release": c.server.cfg.Release})
	if at := c.server.cfg.Planner(); at != "" {
		o["planner"] = at
	}
	if !c.until.IsZero() {
		o["expires_at"] = c.until.UTC()
	}
	return o
}

func endSession(c *call) (any, error) {
	c.server.Sessions.end(c.token)
	return answer(object{"message": "the session has ended"}), nil
}
