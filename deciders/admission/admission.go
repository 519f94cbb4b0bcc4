package admission

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory"
)

// Newcomer is how long after its start a planner waits for nodes to say what they run and
// whom they follow, before it succeeds another planner or takes an application that one has
// named.
const Newcomer = 5 * time.Second

// Known finds the application that a repeated registration means, nil for a new one. An application that failed because
// its driver was silent for too long may come back as a new one. An application whose context has stopped is known to
// the driver that gives its id, until that driver's exit is. The driver may not have heard that its end was taken, and
// has its last word to say. Each context of a submission is an application; one that was killed is the last of its
// submission.
func Known(v ledger.View, r api.RegisterRequest) (*ledger.App, error) {
	for _, a := range v.Apps() {
		same := a.Tenant.Owner.Context == r.Context
		switch o := &a.Outcome; {
		case a.Tenant.Submission != r.Submission:
		case o.Killed != "" && (a.Over() || !same):
			return nil, killed(a.ID, cmp.Or(o.Reason, o.KillReason()))
		case !same:
		case !a.Over():
			return a, nil
		case o.State == api.AppRefused:
			return nil, api.Errorf(api.KindInfeasible, "%s", o.Reason)
		case o.DriverEnd && r.AppID == a.ID && o.EndedBy == api.EndedByStop:
			return a, nil
		case o.DriverEnd:
			return nil, api.Errorf(api.KindConflict, "application %s of this submission has ended", a.ID)
		}
	}
	for _, d := range v.Ended() {
		same := d.Detail.Context == r.Context
		switch {
		case d.Detail.Submission != r.Submission || d.DriverLost || !same && !d.Killed:
			continue
		case d.Detail.State == api.AppRefused:
			return nil, api.Errorf(api.KindInfeasible, "%s", d.Detail.Reason)
		case d.Killed || d.Detail.EndedBy == api.EndedByKill:
			reason := ""
			if n := d.Detail.Notices; len(n) > 0 {
				reason = n[len(n)-1] // The reason of an application that has failed (report.Detail).
			}
			return nil, killed(d.Detail.ID, reason)
		}
		return nil, api.Errorf(api.KindConflict, "application %s of this submission has ended", d.Detail.ID)
	}
	return nil, nil
}

// killed is what the driver of an application hears that was killed without it.
func killed(id api.AppID, reason string) error {
	return api.Errorf(api.KindConflict, "application %s has ended: %s", id, reason)
}

// Seat is where executors of an application run that this planner does not know.
type Seat struct {
	Node      string
	Executors []ledger.UnknownExecutor
}

// Reclaim finds the executors of an application that another planner, or this one before it
// lost its state, has named: nil for none. Only who knows its submission may have them. While
// nodes that run some follow another planner, or have not spoken, its error is transient: the
// application goes on with these, and has no use for others with their ids.
func Reclaim(v ledger.View, q api.RegisterRequest) ([]Seat, error) {
	id := q.AppID
	if id == "" || v.Identity() == "" || v.EndedApp(id) != nil {
		return nil, nil
	}
	var seats []Seat
	for _, n := range v.Nodes() {
		o := n.UnknownExecutors(id)
		switch {
		case o == nil || !n.Here() || !n.Spoken():
		case n.Allegiance.Follows != "":
			return nil,
				api.Errorf(api.KindTransient, "executors of %s run on node %s for planner %s: it goes on without this one", id,
					n.Node, n.Allegiance.Follows)
		case o.Owner != api.OwnerOf(api.ContextOf(q.Submission, q.Context)):
			return nil, api.Errorf(api.KindConflict, "application %s is that of another submission", id)
		default:
			seats = append(seats, Seat{n.Node, o.Executors})
		}
	}
	if v.Uptime() < Newcomer {
		return nil, api.Errorf(api.KindTransient, "%s is not known, and this planner has only started: try again in %v", id,
			Newcomer-v.Uptime())
	}
	return seats, nil
}

// Unanswered finds the application that another planner, or this one before it lost its state, has made of this context
// of a submission (api.ContextOf), and started executors for. Its driver has had no answer, and registers as if nobody
// had taken it. "" for none.
func Unanswered(v ledger.View, submission string) api.AppID {
	owner := api.OwnerOf(submission)
	for _, n := range v.Nodes() {
		for _, o := range n.Allegiance.Theirs {
			if o.Owner == owner && o.App.Made() && n.Here() && n.Allegiance.Follows == "" {
				return o.App
			}
		}
	}
	return ""
}

// Admission is an application that comes, before anything is decided on it but what it may
// have at most.
type Admission struct {
	ID      api.AppID
	Serial  uint64
	Name    string
	Tenant  ledger.Tenant
	Promise ledger.Promise
	// Profile is the profile of its name if that counts, for this run; nil otherwise.
	Profile *ledger.Profile
	// Wait says since when it waits, if only for a moment; zero until it is known what it is.
	Wait waiting.State
}

// Taken is what an application is whose executors run already: it goes on with them, unpaced,
// since nobody knows how far it is. It keeps its id where nodes say that it is its own, as those
// of seats do, or the id itself does.
func Taken(o *estimate.Outlook, place placement.Policy, r api.RegisterRequest, seats []Seat) (Admission, error) {
	d, err := Decide(o, place, r)
	if err != nil && d.Name == "" {
		return d, err
	}
	v := o.View
	d.Serial, d.Wait = v.Serial()+1, waiting.State{}
	if d.ID = r.AppID; len(seats) == 0 {
		d.ID = newID(v, r, d.Serial)
	}
	d.Tenant.Launch.OffHeap = r.Launch.OffHeap // As its driver was told; one that was told nothing knows none.
	if r.Launch.OffHeap == 0 && !d.Tenant.Launch.OffHeapFixed {
		d.Tenant.Launch.OffHeap = placement.OffHeap(&d.Tenant.Launch, v.Nodes())
	}
	d.TakenOver(r, seats)
	return d, nil
}

// TakenOver has d be what an application of r is that another planner has taken in, and that may have run: unpaced,
// since nobody knows how far it is. That it had executors its driver says: as many as that are believed that its nodes
// show, and some more.
func (d *Admission) TakenOver(r api.RegisterRequest, seats []Seat) {
	shown := 0
	for _, s := range seats {
		for _, x := range s.Executors {
			shown = max(shown, ledger.Number(x.ID))
		}
	}
	d.Profile, d.Tenant.Owner.Seen = nil, min(r.Executors, shown+api.MostUntold)
	d.Promise.Reclaimed, d.Promise.Mode = true, ledger.Unpaced
	d.Promise.Judgement = ledger.Judgement{Verdict: api.VerdictUnknown,
		Reason: "taken over by a planner that does not know how far it is: it has all cores, and its run is not recorded"}
	if r.Deadline <= 0 {
		d.Promise.Verdict = api.VerdictNone
	}
	if r.Mode == api.ModeOff {
		d.Promise.Mode = ledger.Off
	}
}

// Decide decides what a new application is: its mode, the size of its executors, and what it
// would get if nothing else ran. Its errors have kinds (placement.Policy.Seats). Where another cluster manager starts
// its executors, their size is that one's, and it waits for nothing here.
func Decide(o *estimate.Outlook, place placement.Policy, r api.RegisterRequest) (Admission, error) {
	v := o.View
	lone := r.Nodes != nil && r.Nodes.Lone()
	if err := api.CheckSpark(r.Launch.SparkVersion); err != nil && !lone {
		return Admission{}, err
	}
	launch := r.Launch
	if launch.Mode = r.Mode; r.Mode == api.ModeEndless {
		launch.Mode = api.ModeControl
	}
	launch.Owner = api.OwnerOf(api.ContextOf(r.Submission, r.Context))
	launch.Overhead = cmp.Or(launch.Overhead, memory.Overhead(launch.Heap))
	var nodes api.NodeRange
	if r.Nodes != nil {
		nodes = *r.Nodes
	}
	d := Admission{
		Name: r.Name,
		Tenant: ledger.Tenant{Submission: r.Submission, Owner: ledger.Owner{User: r.User, Key: r.Key, Context: r.Context,
			Before: r.Before, Shares: r.Shared && r.Deadline > 0, UI: api.WebURL(r.UIWebURL)}, Class: r.Class,
			Launch: launch, Watched: r.Watched, UTCOffset: r.UTCOffset, Nodes: nodes},
		Promise: ledger.Promise{Profile: ProfileOf(v, r), Start: v.Now().Add(-r.Elapsed.Duration()), Deadline: r.Deadline,
			ByMoment: r.ByMoment,
			Mode:     ledger.Recording, Required: r.RequireFeasible},
	}
	if r.Mode == api.ModeEndless {
		d.Promise.Mode, d.Promise.Deadline, d.Promise.ByMoment, d.Tenant.Owner.Shares = ledger.Unpaced, 0, false, false
	}
	if d.Tenant.Owner.Shares {
		d.Tenant.Owner.Moved = moved(v, r)
		d.Promise.Deadline = min(max(leastLeft, r.Deadline+d.Tenant.Owner.Moved), api.MostAmount)
	}
	if lone {
		d.Promise.Mode = ledger.Unpaced // No program says how far it is.
	}
	if r.Mode != api.ModeOff && r.Mode != api.ModeEndless && !lone {
		d.Profile = v.Judged(r.User, d.Promise.Profile)
	}
	switch {
	case r.Mode == api.ModeOff:
		d.Promise.Mode = ledger.Off
	case d.Promise.Deadline > 0 && d.Profile != nil:
		d.Promise.Mode = ledger.Paced
		if r.Shared {
			d.Promise = share(v, r.User, d.Promise, &d.Profile.Body)
		}
	}
	if launch.Attach != nil {
		d.Tenant.Launch.Cores, d.Tenant.Launch.OffHeapFixed = max(1, launch.Cores), true
		d.Serial = v.Serial() + 1
		d.ID = newID(v, r, d.Serial)
		return d, nil
	}
	whole, err := place.Seats(o, d.App(), placement.Whole)
	if err != nil {
		if api.KindOf(err) == api.KindConflict { // With itself: nothing else is on whole nodes.
			kind := api.KindInvalid
			if slices.ContainsFunc(v.Nodes(), func(n *ledger.Node) bool { return !n.Live() && !n.Draining() }) {
				kind = api.KindTransient // A node that is away may have the room.
			}
			err = api.Errorf(kind, "the application's own driver and components leave too little of the nodes: %v", err)
		}
		if r.AppID != "" && api.KindOf(err) == api.KindInvalid {
			err = api.Errorf(api.KindTransient,
				"%s was taken in when nodes gave more memory, or others were there, and waits for that: %v", r.AppID, err)
		}
		return d, err
	}
	d.Tenant.Launch.OffHeap = whole.OffHeap
	d.Tenant.Cores, d.Tenant.Slots, d.Tenant.PerNode = whole.Cores, whole.Slots, whole.PerNode
	d.Wait = waiting.Coming(v, r.AppID != "")
	d.Serial = v.Serial() + 1
	d.ID = newID(v, r, d.Serial)
	return d, nil
}

// newID is the id of an application that comes now. It keeps one that another planner has given
// to its submission, or this one before it lost its state: the id itself says so.
func newID(v ledger.View, r api.RegisterRequest, serial uint64) api.AppID {
	if r.AppID.Of(api.ContextOf(r.Submission, r.Context)) && v.App(r.AppID) == nil && v.EndedApp(r.AppID) == nil {
		return r.AppID
	}
	return api.NewAppID(time.Unix(0, int64(v.Now())), serial, v.Identity(), api.ContextOf(r.Submission, r.Context))
}

// App is the application that d is about, as the ledger would have it, without executors.
func (d Admission) App() *ledger.App {
	return waiting.With(&ledger.App{ID: d.ID, Name: d.Name, Tenant: d.Tenant, Promise: d.Promise,
		Outcome: ledger.Outcome{State: api.AppRunning}, Profile: d.Profile}, d.Wait)
}
