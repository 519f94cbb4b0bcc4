package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// How many entries of a list are told at a time: the usual number, and the most that may be asked for.
const limitEntries, mostEntries = 100, 1000

// mostDeadlines is how many deadlines one request has.
const mostDeadlines = 64

// asked asks the planner what a route's verb asks, and answers with what is shown of the reply.
func asked(c *call) (any, error) {
	var q api.ControlRequest
	if c.route.fill != nil {
		if err := c.route.fill(c, &q); err != nil {
			return nil, err
		}
	}
	r, err := c.control(c.route.Verb, q)
	switch {
	case err != nil:
		return nil, err
	case c.route.show != nil:
		return c.route.show(&r), nil
	}
	return told(&r), nil
}

// told is what a reply has, a message where it has nothing else.
func told(r *api.ControlReply) any {
	switch {
	case r.Why != nil:
		return answer(r.Why)
	case r.Cores != nil:
		return answer(r.Cores)
	case r.Report != nil:
		return answer(r.Report)
	case r.History != nil:
		return answer(r.History)
	case r.Knee != nil:
		return answer(r.Knee)
	}
	return answer(object{"message": r.Message})
}

func listApplications(c *call) (any, error) {
	limit, before, state := c.limit(), api.AppID(c.query.Get("before")), c.query.Get("state")
	wanted := strings.Split(state, ",")
	for _, one := range wanted {
		if state != "" && !slices.Contains(states, one) {
			c.wrong("state", fmt.Sprintf("one of %v", states))
		}
	}
	differs := func(key, value string) bool { return c.query.Get(key) != "" && c.query.Get(key) != value }
	r, err := c.control(api.VerbApps, api.ControlRequest{})
	if err != nil {
		return nil, err
	}
	apps := slices.DeleteFunc(r.Apps, func(a api.AppSummary) bool {
		return differs("user", a.User) || differs("profile", a.Profile) || before != "" && a.ID >= before ||
			state != "" && !slices.Contains(wanted, string(a.State))
	})
	slices.SortFunc(apps, func(a, b api.AppSummary) int { return cmp.Compare(b.ID, a.ID) }) // Ids sort by time.
	return answer(object{"applications": append([]api.AppSummary{}, apps[:min(len(apps), limit)]...),
		"more": len(apps) > limit}), nil
}

// shownApplication shows an application without its samples, which are an answer of their own.
func shownApplication(r *api.ControlReply) any {
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
}

// listed is a part of a list.
func listed(what string, list any, more string) any {
	o := answer(object{what: list})
	if more != "" {
		o["next"] = cursor(more)
	}
	return o
}

func listedNodes(r *api.ControlReply) any {
	return listed("nodes", append([]api.NodeSummary{}, r.Nodes...), r.More)
}

// listedProfiles lists profiles without what only their stages need.
func listedProfiles(r *api.ControlReply) any {
	list := make([]object, 0, len(r.Listed))
	for _, p := range r.Listed {
		list = append(list, object{"name": p.Name, "owner": p.Owner, "shared": p.Shared, "runs": p.Runs, "cores": p.Cores,
			"duration_s": p.Duration, "stages": p.Stages, "variants": p.Variants, "core_seconds": p.Work,
			"contended": p.Contended})
	}
	return listed("profiles", list, r.More)
}

// shownPolicy is how the queue is served, and what waits.
func shownPolicy(r *api.ControlReply) any {
	return answer(struct {
		*api.QueueDetail
		Waiting []api.AppSummary `json:"waiting"`
	}{r.Policy, append([]api.AppSummary{}, r.Apps...)})
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
