package admission

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/placement"
	"github.com/sparkpacer/pacer/verdict"
)

// newcomer is how long after its start a planner without its state waits for nodes to
// say what they run, before it takes an application that another planner has named.
const newcomer = 5 * time.Second

// Known finds the application that a repeated registration means, nil for a new one. One
// that failed because its driver was silent for too long may come back as a new one.
func Known(v ledger.View, r api.RegisterRequest) (*ledger.App, error) {
	for _, a := range v.Apps() {
		switch {
		case a.Tenant.Submission != r.Submission:
		case a.Running():
			return a, nil
		case a.Outcome.DriverEnd:
			return nil, api.Errorf(api.KindConflict, "application %s of this submission has ended", a.ID)
		}
	}
	for _, d := range v.Ended() {
		if d.Detail.Submission != r.Submission || d.DriverLost {
			continue
		}
		if d.Detail.State == api.AppRefused {
			return nil, api.Errorf(api.KindInfeasible, "%s", d.Detail.Reason)
		}
		return nil, api.Errorf(api.KindConflict, "application %s of this submission has ended", d.Detail.ID)
	}
	return nil, nil
}

// Elsewhere says that the application to which another planner gave that id has
// executors that run for that planner, or may have: it goes on with these, and has no
// use for others with their ids.
func Elsewhere(v ledger.View, id api.AppID) error {
	if id == "" || v.Identity() == "" || v.EndedApp(id) != nil {
		return nil
	}
	for _, n := range v.Nodes() {
		if n.Here() && slices.Contains(n.Theirs, id) {
			return api.Errorf(api.KindTransient, "executors of %s run on node %s for planner %s: it goes on without this one", id, n.Node, n.Follows)
		}
	}
	if v.Uptime() < newcomer {
		return api.Errorf(api.KindTransient, "%s is not known, and this planner has only started: try again in %v", id, newcomer-v.Uptime())
	}
	return nil
}

// Admission is what an application that comes is to get.
type Admission struct {
	ID      api.AppID
	Serial  uint64
	Name    string
	Tenant  ledger.Tenant
	Promise ledger.Promise
	Seating placement.Seating
	// Matched says that the profile of its name counts.
	Matched bool
	// Refused says that it is turned down: its deadline is infeasible, and must not be.
	Refused bool
}

// Decide decides on a new application: its verdict, and what it gets. Its errors have
// kinds (placement.Policy.Seats).
func Decide(v ledger.View, place placement.Policy, judge verdict.Policy, r api.RegisterRequest) (Admission, error) {
	if err := api.CheckSpark(cmp.Or(r.SparkVersion, r.Launch.SparkVersion)); err != nil {
		return Admission{}, err
	}
	launch := r.Launch
	launch.Mode = r.Mode
	if launch.Overhead == 0 {
		launch.Overhead = memory.Overhead(launch.Heap)
	}
	d := Admission{
		Name:   r.Name,
		Tenant: ledger.Tenant{Submission: r.Submission, User: r.User, Class: r.Class, Launch: launch, Watched: r.Watched, UTCOffset: r.UTCOffset},
		Promise: ledger.Promise{Profile: cmp.Or(r.Profile, r.Name), Start: v.Now().Add(-r.Elapsed.Duration()), Deadline: r.Deadline,
			Mode: ledger.Recording},
	}
	var profile *ledger.Profile
	if r.Mode != api.ModeOff {
		profile = v.Copy(d.Promise.Profile)
	}
	d.Matched = profile != nil
	switch {
	case r.Mode == api.ModeOff:
		d.Promise.Mode = ledger.Off
	case r.Deadline > 0 && profile != nil:
		d.Promise.Mode = ledger.Paced
	}
	candidate := d.Candidate(profile)
	var err error
	if d.Seating, err = place.Seats(v, candidate); err != nil {
		return Admission{}, err
	}
	d.Tenant.Cores, d.Tenant.Slots, d.Tenant.PerNode = d.Seating.Cores, d.Seating.Slots, d.Seating.PerNode
	d.Promise.Judgement = judge.Judge(v, candidate, d.Seating)
	d.Serial = v.Serial() + 1
	d.ID = api.AppID(fmt.Sprintf("app-%s-%04d", time.Unix(0, int64(v.Now())).UTC().Format("20060102150405"), d.Serial%10000))
	d.Refused = d.Promise.Verdict == api.VerdictInfeasible && r.RequireFeasible
	return d, nil
}

// Candidate is the application that d is about, as the ledger would have it, without
// executors.
func (d Admission) Candidate(profile *ledger.Profile) *ledger.App {
	return &ledger.App{ID: d.ID, Name: d.Name, Tenant: d.Tenant, Promise: d.Promise, Outcome: ledger.Outcome{State: api.AppRunning}, Profile: profile}
}
