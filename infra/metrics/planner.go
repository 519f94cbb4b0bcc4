package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// View is what a planner knows at the moment of a scrape.
type View struct {
	Apps  []api.AppSummary
	Nodes []api.NodeSummary
	// Estimated is api.ControlReply.Estimated.
	Estimated map[api.AppID]units.Fraction
	// Policy is how the queue is served.
	Policy api.QueueDetail
	// Serving says that the planner serves and does not stand by, ReadOnly that it cannot store its state. They hold
	// also where the rest of the view is not to be had.
	Serving, ReadOnly bool
}

// Run is an application that has ended.
type Run struct {
	Profile string
	// Result is one word: met, late, unbound (it had no deadline), failed, killed, refused or unknown.
	Result string
	// Margin is how long before its deadline it ended, below 0 after it; Error the same as a share of the deadline (Eq 4 /
	// 100). Both are of results met and late alone.
	Margin units.Seconds
	Error  float64
	// Work is what its executors used, Freed what its nodes offered it and others could have.
	Work, Freed units.Work
}

// met and late are the results of a Run that had a deadline and finished.
const (
	met  = "met"
	late = "late"
)

// Planner counts what happens in a planner and shows its view.
type Planner struct {
	admitted, rejected *prometheus.CounterVec
	errors             *prometheus.HistogramVec
	runs, work, freed  *prometheus.CounterVec
	margin             *prometheus.GaugeVec
	writes             prometheus.Histogram
	publishFailed      prometheus.Counter
	taken              prometheus.Counter
	view               func() (View, error)

	mu sync.Mutex
	// profiles and apps are those that series are labelled with.
	profiles map[string]bool
	apps     map[api.AppID]bool
}

// mostProfiles and mostApps bound the series by profile and by application, which are users' to make. A profile has
// its own from its first run with a deadline on while there are places. An application has them while it runs: one that
// has a place keeps it, and free ones are given in order of id, the oldest first. All others together are called other.
const (
	mostProfiles = 200
	mostApps     = 200
	other        = "other"
)

// NewPlanner registers a planner's metrics. view is asked at each scrape, from
// any goroutine; when it fails the series of applications and nodes are left out.
func NewPlanner(r prometheus.Registerer, view func() (View, error)) (*Planner, error) {
	p := &Planner{
		admitted: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pacer_apps_admitted_total",
			Help: "Registrations taken, by verdict."}, []string{"verdict"}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pacer_apps_rejected_total",
			Help: "Registrations refused, by kind of error."}, []string{"reason"}),
		errors: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "pacer_app_deadline_error_ratio",
			Help:    "How long before its deadline an application ended, as a share of it (Eq 4 / 100); below 0 is late.",
			Buckets: []float64{-0.5, -0.25, -0.1, -0.05, -0.02, 0, 0.02, 0.05, 0.1, 0.25, 0.5}}, []string{"profile"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pacer_runs_total",
			Help: "Applications that have ended, by profile and by how they ended."}, []string{"profile", "result"}),
		margin: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "pacer_run_margin_seconds",
			Help: "How long before its deadline the newest run of a profile ended; below 0 is late."}, []string{"profile"}),
		work: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pacer_core_seconds_total",
			Help: "CPU time that runs which have ended used, by profile."}, []string{"profile"}),
		freed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pacer_freed_core_seconds_total",
			Help: "CPU time that nodes offered to runs which have ended and that others could have."}, []string{"profile"}),
		writes: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "pacer_store_write_duration_seconds",
			Help: "How long a synced write of state took.", Buckets: prometheus.ExponentialBuckets(100e-6, 2.5, 10)}),
		publishFailed: counter("pacer_publish_errors_total", "Messages to nodes and drivers that could not be sent."),
		taken: counter("pacer_executors_taken_total",
			"Executors from which memory was taken back that they were lent."),
		view: view, profiles: map[string]bool{},
	}
	return p, register(r, p.admitted, p.rejected, p.errors, p.runs, p.margin, p.work, p.freed, p.writes,
		p.publishFailed, p.taken, p)
}

// Admitted counts a registration that was taken.
func (p *Planner) Admitted(v api.Verdict) { p.admitted.WithLabelValues(string(v)).Inc() }

// Rejected counts a registration that was refused.
func (p *Planner) Rejected(k api.Kind) { p.rejected.WithLabelValues(k.String()).Inc() }

// Due tells of an application of a profile that has a deadline: its profile's series begin at 0, so that the first run
// that is late raises one.
func (p *Planner) Due(profile string) {
	profile = p.named(profile)
	for _, result := range []string{met, late} {
		p.runs.WithLabelValues(profile, result)
	}
	p.errors.WithLabelValues(profile)
}

// Ended counts an application that has ended.
func (p *Planner) Ended(r Run) {
	profile := p.named(r.Profile)
	p.runs.WithLabelValues(profile, r.Result).Inc()
	p.work.WithLabelValues(profile).Add(max(0, float64(r.Work)))
	p.freed.WithLabelValues(profile).Add(max(0, float64(r.Freed)))
	if r.Result == met || r.Result == late {
		p.errors.WithLabelValues(profile).Observe(r.Error)
		p.margin.WithLabelValues(profile).Set(float64(r.Margin))
	}
}

// named is the label of a profile. Profiles beyond the first 200 have the label other together.
func (p *Planner) named(profile string) string {
	profile = label(profile)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.profiles) < mostProfiles {
		p.profiles[profile] = true
	} else if !p.profiles[profile] {
		profile = other
	}
	return profile
}

// Wrote records how long a write of state took.
func (p *Planner) Wrote(d time.Duration) { p.writes.Observe(d.Seconds()) }

// PublishFailed counts a message that could not be sent.
func (p *Planner) PublishFailed() { p.publishFailed.Inc() }

// Taken counts an executor from which memory was taken back that it was lent.
func (p *Planner) Taken() { p.taken.Inc() }

var (
	apps  = desc("pacer_apps", "Applications known, by state.", "state")
	paced = desc("pacer_apps_paced", "Running applications, by how they run.", "pacing")
	nodes = desc("pacer_nodes", "Nodes known, by state.", "state")

	serving  = desc("pacer_planner_serving", "1 of the planner that serves, 0 of one that stands by.")
	readOnly = desc("pacer_store_read_only", "1 while the planner cannot store its state, else 0.")
	atRisk   = desc("pacer_apps_at_risk",
		"Applications that wait or run and are expected to end after their deadline, by profile.", "profile")
	oldest = desc("pacer_queue_oldest_seconds", "How long the application waits that has waited longest.")

	nodeOffered  = desc("pacer_node_offered_cores", "CPU that a node offers.", "node")
	nodeLendable = desc("pacer_node_lendable_bytes", "Memory that executors of a node leave and that may be lent.", "node")
	nodeLent     = desc("pacer_node_lent_bytes", "Memory of a node that is lent to batch work.", "node")

	inTime = desc("pacer_cluster_met_ratio", "Part of the applications with a deadline that ended in time.")
	useful = desc("pacer_cluster_useful_ratio",
		"Part of the work of applications with a deadline that was done in time.")
	wasted = desc("pacer_cluster_wasted_ratio",
		"CPU time of applications that missed their deadline, as a part of the work of all that had one.")
	fairness = desc("pacer_cluster_fairness_ratio",
		"Jain's index of what applications have of the nodes that they could use, in the minutes of the last hour.")
	equality = desc("pacer_cluster_equality_ratio",
		"Jain's index of the nodes of applications that could use as many, in the minutes of the last hour.")

	reserved = desc("pacer_reserved_cores", "Cores that are reserved for deadlines that nobody has recorded.")
	fraction = desc("pacer_admission_fraction_ratio",
		"Part of what an application could use that is reserved for such a deadline, by what others needed.")
	idleMemory = desc("pacer_idle_memory_bytes",
		"Memory of executors that have run no task for a minute while an application waits for memory.")

	byApp        = []string{"application_id", "application_name"}
	appDeadline  = desc("pacer_app_deadline_seconds", "Deadline of a running application.", byApp...)
	appElapsed   = desc("pacer_app_elapsed_seconds", "Time since the start of its deadline clock.", byApp...)
	appPredicted = desc("pacer_app_predicted_finish_seconds", "When it is expected to end, on its deadline clock.",
		byApp...)
	appCPU       = desc("pacer_app_cpu_seconds_total", "CPU time used by its executors.", byApp...)
	appEstimated = desc("pacer_app_estimated_work_ratio",
		"Part of the work that is left which is estimated: of running stages that its profile lacks.", byApp...)
)

// Describe implements prometheus.Collector.
func (p *Planner) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{apps, paced, nodes, nodeOffered, nodeLendable, nodeLent, appDeadline,
		appElapsed, appPredicted, appCPU, appEstimated, inTime, useful, wasted, fairness, equality, reserved, fraction,
		idleMemory, serving, readOnly, atRisk, oldest} {
		out <- d
	}
}

// Collect implements prometheus.Collector: it shows the running applications.
func (p *Planner) Collect(out chan<- prometheus.Metric) {
	view, err := p.view()
	out <- gauge(serving, one(view.Serving))
	out <- gauge(readOnly, one(view.ReadOnly))
	if err != nil {
		return
	}
	p.collectRisk(out, view.Apps)
	states := map[api.AppState]int{api.AppQueued: 0, api.AppRunning: 0, api.AppFinished: 0, api.AppFailed: 0,
		api.AppUnknown: 0}
	pacings := map[string]int{}
	shown, rest := p.places(view.Apps), api.AppSummary{ID: other, Name: other}
	for _, a := range view.Apps {
		states[a.State]++
		switch {
		case a.State != api.AppRunning:
			continue
		case shown[a.ID]:
			collectApp(out, a, view.Estimated[a.ID])
		default:
			rest.Duration, rest.CoreSeconds = max(rest.Duration, a.Duration), rest.CoreSeconds+a.CoreSeconds
		}
		pacings[a.Pacing]++
	}
	if rest.Duration > 0 {
		collectApp(out, rest, 0)
	}
	for pacing, count := range pacings {
		out <- gauge(paced, float64(count), pacing)
	}
	for state, count := range states {
		out <- gauge(apps, float64(count), string(state))
	}
	nodeStates := map[string]int{}
	for _, n := range view.Nodes {
		nodeStates[n.State]++
		out <- gauge(nodeOffered, float64(n.Offered), n.Node)
		if n.Lends != nil {
			out <- gauge(nodeLendable, float64(n.Lends.Lendable), n.Node)
			out <- gauge(nodeLent, float64(n.Lends.Lent), n.Node)
		}
	}
	for state, count := range nodeStates {
		out <- gauge(nodes, float64(count), state)
	}
	collectPolicy(out, &view.Policy)
}

// collectRisk shows of each profile with an application that is due how many of these are expected to be late, and the
// longest wait.
func (p *Planner) collectRisk(out chan<- prometheus.Metric, all []api.AppSummary) {
	risks, longest := map[string]float64{}, units.Seconds(0)
	for _, a := range all {
		if a.State == api.AppQueued {
			longest = max(longest, a.Duration)
		}
		if a.State != api.AppQueued && a.State != api.AppRunning || a.Deadline <= 0 {
			continue
		}
		profile := p.named(a.Profile)
		risks[profile] += one(a.Risk == api.RiskLate)
	}
	for profile, n := range risks {
		out <- gauge(atRisk, n, profile)
	}
	out <- gauge(oldest, float64(longest))
}

// one is 1 for true.
func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// places are the running applications of all that have series of their own now.
func (p *Planner) places(all []api.AppSummary) map[api.AppID]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	had, is := p.apps, make(map[api.AppID]bool, mostApps)
	var come []api.AppID
	for _, a := range all {
		switch {
		case a.State != api.AppRunning:
		case had[a.ID]:
			is[a.ID] = true
		default:
			come = append(come, a.ID)
		}
	}
	slices.Sort(come)
	for _, id := range come[:min(len(come), mostApps-len(is))] {
		is[id] = true
	}
	p.apps = is
	return is
}

// collectPolicy shows what is reserved and idle, and the scores that there are.
func collectPolicy(out chan<- prometheus.Metric, p *api.QueueDetail) {
	idle := units.Bytes(0)
	for _, m := range p.Idle {
		idle += m.Memory
	}
	out <- gauge(reserved, float64(p.Reserved))
	out <- gauge(idleMemory, float64(idle))
	s := &p.Scores
	for d, score := range map[*prometheus.Desc]*float64{inTime: s.Met, useful: s.Useful, wasted: s.Wasted,
		fairness: s.Fairness, equality: s.Equality, fraction: p.Fraction} {
		if score != nil {
			out <- gauge(d, *score)
		}
	}
}

func collectApp(out chan<- prometheus.Metric, a api.AppSummary, estimated units.Fraction) {
	labels := []string{string(a.ID), a.Name}
	if a.Deadline > 0 {
		out <- gauge(appDeadline, float64(a.Deadline), labels...)
	}
	if a.Predicted > 0 {
		out <- gauge(appPredicted, float64(a.Predicted), labels...)
	}
	if a.Deadline > 0 {
		out <- gauge(appEstimated, float64(estimated), labels...)
	}
	out <- gauge(appElapsed, float64(a.Duration), labels...)
	out <- total(appCPU, float64(a.CoreSeconds), labels...)
}
