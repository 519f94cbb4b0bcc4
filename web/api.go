package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Bounds of one request.
const (
	limitApplications, mostApplications = 100, 1000
	mostDeadlines                       = 64
)

func (c *call) app() api.AppID { return api.AppID(c.PathValue("id")) }

func listApplications(_ http.ResponseWriter, c *call) (any, error) {
	q := c.URL.Query()
	limit := limitApplications
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostApplications {
			return nil, api.Errorf(api.KindInvalid, "limit is %q, want a number from 1 to %d", api.Clip(text, api.MostToken),
				mostApplications)
		}
		limit = n
	}
	reply, err := c.control(api.VerbApps, api.ControlRequest{})
	if err != nil {
		return nil, err
	}
	states, before := strings.Split(q.Get("state"), ","), api.AppID(q.Get("before"))
	apps := slices.DeleteFunc(reply.Apps, func(a api.AppSummary) bool {
		return q.Get("user") != "" && a.User != q.Get("user") || q.Get("profile") != "" && a.Profile != q.Get("profile") ||
			q.Get("state") != "" && !slices.Contains(states, string(a.State)) || before != "" && a.ID >= before
	})
	slices.SortFunc(apps, func(a, b api.AppSummary) int { return cmp.Compare(b.ID, a.ID) }) // Ids sort by time.
	list := make([]object, 0, limit)
	for _, a := range apps[:min(len(apps), limit)] {
		list = append(list, applicationOf(a))
	}
	return object{"v": api.Version, "applications": list, "more": len(apps) > limit}, nil
}

// detail asks for an application with all there is of it.
func (c *call) detail() (*api.AppDetail, error) {
	reply, err := c.control(api.VerbApp, api.ControlRequest{App: c.app()})
	return reply.App, err
}

func showApplication(_ http.ResponseWriter, c *call) (any, error) {
	a, err := c.detail()
	if err != nil {
		return nil, err
	}
	return detailOf(*a), nil
}

func showWhy(_ http.ResponseWriter, c *call) (any, error) {
	reply, err := c.control(api.VerbWhy, api.ControlRequest{App: c.app()})
	return versioned(reply.Why), err
}

func showCores(_ http.ResponseWriter, c *call) (any, error) {
	step, after := c.URL.Query().Get("step"), c.URL.Query().Get("after")
	q := api.Query{Step: 1}
	switch step {
	case "", "second":
	case "minute":
		q.Step = 60
	default:
		return nil, api.Errorf(api.KindInvalid, "step is %q, want second or minute", api.Clip(step, api.MostToken))
	}
	if after != "" {
		var err error
		if q.After, err = time.Parse(time.RFC3339Nano, after); err != nil {
			return nil, api.Errorf(api.KindInvalid, "after is %q, want a moment as in RFC 3339", api.Clip(after, api.MostToken))
		}
	}
	reply, err := c.control(api.VerbCores, api.ControlRequest{Query: &q})
	return versioned(reply.Cores), err
}

func showReport(_ http.ResponseWriter, c *call) (any, error) {
	v := c.URL.Query()
	since, err1 := units.ParseDuration(cmp.Or(v.Get("since"), "30d"))
	offset, err2 := strconv.Atoi(cmp.Or(v.Get("utc_offset_s"), "0"))
	if err := errors.Join(err1, err2); err != nil || since <= 0 {
		return nil, api.Errorf(api.KindInvalid, "since is to be a time such as 30d, utc_offset_s seconds east of UTC")
	}
	reply, err := c.control(api.VerbReport, api.ControlRequest{Query: &api.Query{By: api.ReportBy(v.Get("by")),
		Since: units.FromDuration(since), UTCOffset: offset}})
	return versioned(reply.Report), err
}

func showSamples(_ http.ResponseWriter, c *call) (any, error) {
	a, err := c.detail()
	if err != nil {
		return nil, err
	}
	return samplesOf(a), nil
}

// order has something done to an application.
func order(verb api.Verb) func(http.ResponseWriter, *call) (any, error) {
	return func(_ http.ResponseWriter, c *call) (any, error) { return c.order(verb, api.ControlRequest{}) }
}

func (c *call) order(verb api.Verb, r api.ControlRequest) (any, error) {
	r.App = c.app()
	reply, err := c.control(verb, r)
	return object{"v": api.Version, "message": reply.Message}, err
}

func changeDeadline(_ http.ResponseWriter, c *call) (any, error) {
	var body struct {
		Deadline units.Seconds `json:"deadline_s"`
		Extend   units.Seconds `json:"extend_s"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	return c.order(api.VerbDeadline, api.ControlRequest{Deadline: body.Deadline, Extend: body.Extend})
}

func listNodes(_ http.ResponseWriter, c *call) (any, error) {
	reply, err := c.control(api.VerbNodes, api.ControlRequest{})
	list := make([]object, 0, len(reply.Nodes))
	for _, n := range reply.Nodes {
		list = append(list, nodeOf(n))
	}
	return object{"v": api.Version, "nodes": list}, err
}

func listProfiles(_ http.ResponseWriter, c *call) (any, error) {
	reply, err := c.control(api.VerbProfiles, api.ControlRequest{})
	list := make([]object, 0, len(reply.Profiles))
	for i := range reply.Profiles {
		list = append(list, profileOf(&reply.Profiles[i]))
	}
	return object{"v": api.Version, "profiles": list}, err
}

func showProfile(_ http.ResponseWriter, c *call) (any, error) {
	q := api.ControlRequest{Profile: c.PathValue("name"), Owner: c.URL.Query().Get("owner")}
	reply, err := c.control(api.VerbProfile, q)
	if err != nil {
		return nil, err
	}
	return reply.Profiles[0], nil
}

func planDeadlines(_ http.ResponseWriter, c *call) (any, error) {
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
	for _, deadline := range body.Deadlines {
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
		plans = append(plans, planOf(deadline, reply, len(body.Deadlines) == 1))
	}
	return object{"v": api.Version, "plans": plans}, nil
}

// beginSession exchanges a code for a session.
func (s *Server) beginSession(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Code string `json:"code"`
	}
	_, err := s.cfg.Serves()
	if err == nil {
		err = read(r, &body)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	token, g, err := s.Sessions.begin(body.Code)
	var by api.Principal
	if err == nil {
		by, err = s.cfg.Who(g.Login)
	}
	s.cfg.Began(g.Login, r.RemoteAddr, err)
	if err != nil {
		fail(w, r, err)
		return
	}
	session := s.sessionOf(by, g.Until)
	session["token"] = token
	sendJSON(w, r, session)
}

// sessionOf is who asks, and until when.
func (s *Server) sessionOf(by api.Principal, until time.Time) object {
	role := by.Role
	if by.Operates() {
		role = api.RoleOperate
	}
	o := object{"v": api.Version, "user": by.Name, "role": role, "expires_at": nil, "release": s.cfg.Release}
	if at := s.cfg.Planner(); at != "" {
		o["planner"] = at
	}
	if !until.IsZero() {
		o["expires_at"] = until.UTC()
	}
	return o
}

func showSession(_ http.ResponseWriter, c *call) (any, error) {
	return c.server.sessionOf(c.by, c.until), nil
}

func endSession(_ http.ResponseWriter, c *call) (any, error) {
	c.server.Sessions.end(c.token)
	return object{"v": api.Version, "message": "the session has ended"}, nil
}
