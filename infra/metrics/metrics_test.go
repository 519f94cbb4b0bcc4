package metrics_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/units"
)

func status() api.NodeStatus {
	return api.NodeStatus{
		Node: "n1", Offered: 1.8, Total: 2, Others: 0.25, Memory: units.GiB, Kernel: api.Kernel{Pressure: api.Pressure{CPU: 0.5, IO: 0.25}},
		Executors: []api.ExecutorStatus{
			{App: "app-1", ID: "1", State: api.ExecutorRunning, CPU: 10, Quota: 0.5, Throttled: 2,
				Memory: api.ExecutorMemory{Heap: units.GiB, OffHeap: 128 * units.MiB, Moves: 3, Moving: 1.5, Evicted: 7, Spilled: 9, Pressure: 0.125}},
			{App: "app-1", ID: "2", State: api.ExecutorStarting, CPU: 1, Quota: api.Unknown},
			{App: "app-1", ID: "0", State: api.ExecutorExited, CPU: 99},
		},
		Stages: []api.StageStatus{
			{App: "app-1", StageKey: api.StageKey{Stage: 3}, Executor: "1", Progress: 0.4, QuotaChanges: 7,
				Samples: []api.StageSample{{SetPoint: 0.3}, {SetPoint: 0.5}}},
			{App: "app-1", StageKey: api.StageKey{Stage: 2}, Executor: "0", Progress: 1},
		},
		Losses:    []api.Loss{{App: "app-1", To: "app-2", CoreSeconds: 31}, {App: "app-1", CoreSeconds: 1.5}},
		Shortages: []api.Shortage{{App: "app-1", To: "app-2", Asked: 1.5, Had: 0.25}},
	}
}

const nodeText = `
# HELP pacer_app_lost_cpu_seconds_total CPU time that an application asked for and was not granted, by who had most meanwhile.
# TYPE pacer_app_lost_cpu_seconds_total counter
pacer_app_lost_cpu_seconds_total{application_id="app-1",to=""} 1.5
pacer_app_lost_cpu_seconds_total{application_id="app-1",to="app-2"} 31
# HELP pacer_app_short_cores Cores that an application with a deadline to keep asks for and does not have now.
# TYPE pacer_app_short_cores gauge
pacer_app_short_cores{application_id="app-1",to="app-2"} 1.25
# HELP pacer_cgroup_write_errors_total Quotas and weights that could not be written.
# TYPE pacer_cgroup_write_errors_total counter
pacer_cgroup_write_errors_total 1
# HELP pacer_control_loop_missed_ticks_total Slots that were skipped because the loop came late.
# TYPE pacer_control_loop_missed_ticks_total counter
pacer_control_loop_missed_ticks_total 3
# HELP pacer_executor_cpu_quota_cores CPU quota in force, +Inf for none.
# TYPE pacer_executor_cpu_quota_cores gauge
pacer_executor_cpu_quota_cores{application_id="app-1",executor_id="1"} 0.5
pacer_executor_cpu_quota_cores{application_id="app-1",executor_id="2"} +Inf
# HELP pacer_executor_cpu_used_cores CPU used between the last two statuses.
# TYPE pacer_executor_cpu_used_cores gauge
pacer_executor_cpu_used_cores{application_id="app-1",executor_id="1"} 0.75
pacer_executor_cpu_used_cores{application_id="app-1",executor_id="2"} 0
# HELP pacer_executor_memory_heap_bytes The executor's heap, as last told, as the others are.
# TYPE pacer_executor_memory_heap_bytes gauge
pacer_executor_memory_heap_bytes{application_id="app-1",executor_id="1"} 1.073741824e+09
# HELP pacer_executor_memory_offheap_bytes Off-heap memory that the executor may use.
# TYPE pacer_executor_memory_offheap_bytes gauge
pacer_executor_memory_offheap_bytes{application_id="app-1",executor_id="1"} 1.34217728e+08
# HELP pacer_executor_memory_pressure_ratio Part of ten seconds, once a minute, in which some task of it waited for memory.
# TYPE pacer_executor_memory_pressure_ratio gauge
pacer_executor_memory_pressure_ratio{application_id="app-1",executor_id="1"} 0.125
# HELP pacer_executors Executors on this node.
# TYPE pacer_executors gauge
pacer_executors{state="running"} 1
pacer_executors{state="starting"} 1
# HELP pacer_node_cpu_cores CPU of the node.
# TYPE pacer_node_cpu_cores gauge
pacer_node_cpu_cores 2
# HELP pacer_node_cpu_offered_cores CPU of the node that is offered to applications.
# TYPE pacer_node_cpu_offered_cores gauge
pacer_node_cpu_offered_cores 1.8
# HELP pacer_node_cpu_others_cores CPU that others than Pacer's executors have last used.
# TYPE pacer_node_cpu_others_cores gauge
pacer_node_cpu_others_cores 0.25
# HELP pacer_node_pressure_ratio Part of the last ten seconds in which some task of the machine waited.
# TYPE pacer_node_pressure_ratio gauge
pacer_node_pressure_ratio{resource="cpu"} 0.5
pacer_node_pressure_ratio{resource="io"} 0.25
pacer_node_pressure_ratio{resource="memory"} 0
# HELP pacer_stage_progress_ratio Where a stage executor is.
# TYPE pacer_stage_progress_ratio gauge
pacer_stage_progress_ratio{application_id="app-1",attempt="0",executor_id="1",stage_id="3"} 0.4
# HELP pacer_stage_setpoint_ratio Where a stage executor should be.
# TYPE pacer_stage_setpoint_ratio gauge
pacer_stage_setpoint_ratio{application_id="app-1",attempt="0",executor_id="1",stage_id="3"} 0.5
`

func TestNodeShowsItsNewestStatus(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	n, err := metrics.NewNode(r)
	if err != nil {
		t.Fatal(err)
	}
	n.Missed(3)
	n.WriteFailed()
	n.Tick(time.Millisecond)
	n.Event("stage bound")
	s := status()
	n.Observe(&s, 0)
	s.Executors[0].CPU = 11.5
	n.Observe(&s, units.Instant(2*time.Second))
	s.Executors[0].Quota = 9 // The node's status is reused: what was observed stays.
	s.Stages[0].Samples[1].SetPoint = 9
	s.Losses[0].CoreSeconds, s.Shortages[0].Had = 99, 99
	if err := testutil.GatherAndCompare(r, strings.NewReader(nodeText), "pacer_app_lost_cpu_seconds_total", "pacer_app_short_cores", "pacer_cgroup_write_errors_total",
		"pacer_control_loop_missed_ticks_total", "pacer_executor_cpu_quota_cores", "pacer_executor_cpu_used_cores",
		"pacer_executor_memory_heap_bytes", "pacer_executor_memory_offheap_bytes", "pacer_executor_memory_pressure_ratio", "pacer_node_pressure_ratio", "pacer_node_cpu_cores",
		"pacer_node_cpu_offered_cores", "pacer_node_cpu_others_cores",
		"pacer_executors", "pacer_stage_progress_ratio", "pacer_stage_setpoint_ratio"); err != nil {
		t.Error(err)
	}
}

func TestSeriesEndWithTheirApplication(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	n, err := metrics.NewNode(r)
	if err != nil {
		t.Fatal(err)
	}
	s := status()
	n.Observe(&s, 0)
	before, err := testutil.GatherAndCount(r, "pacer_executor_cpu_quota_cores", "pacer_stage_progress_ratio")
	if err != nil || before != 3 {
		t.Fatalf("%d series of an application, %v, want 3", before, err)
	}
	n.Observe(&api.NodeStatus{Node: "n1"}, 1)
	if after, err := testutil.GatherAndCount(r, "pacer_executor_cpu_quota_cores", "pacer_stage_progress_ratio"); err != nil || after != 0 {
		t.Errorf("%d series are left, %v", after, err)
	}
}

func TestPlannerShowsItsView(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	half := 0.5
	view := metrics.View{
		Apps: []api.AppSummary{
			{ID: "app-1", Name: "wc", State: api.AppRunning, Pacing: "paced", Deadline: 90, Duration: 30, Predicted: 88, CoreSeconds: 12},
			{ID: "app-2", Name: "new", State: api.AppRunning, Pacing: "recording"},
			{ID: "app-3", Name: "wc", State: api.AppRunning, Pacing: "paced", Deadline: 60, Profile: "etl", Risk: api.RiskLate},
			{ID: "app-4", Name: "wc", State: api.AppQueued, Deadline: 60, Duration: 7, Profile: "etl", Risk: api.RiskTight},
			{ID: "app-0", Name: "wc", State: api.AppFinished, Pacing: "paced", Deadline: 40},
		},
		Estimated: map[api.AppID]units.Fraction{"app-1": 0.25},
		Nodes:     []api.NodeSummary{{Node: "n1", State: "ready", Offered: 1.8, Lends: &api.NodeLends{Lendable: 3 << 30, Lent: 2 << 30}}},
		Serving:   true,
		Policy: api.QueueDetail{Scores: api.Scores{Met: &half, Fairness: &half}, Reserved: 1.5, Fraction: &half,
			Idle: []api.IdleMemory{{App: "app-1", Node: "n1", Memory: units.GiB}, {App: "app-2", Node: "n1", Memory: units.GiB}}},
	}
	var fault error
	p, err := metrics.NewPlanner(r, func() (metrics.View, error) { return view, fault })
	if err != nil {
		t.Fatal(err)
	}
	p.Admitted(api.VerdictFeasible)
	p.Rejected(api.KindInfeasible)
	p.Due("etl")
	p.Due("never late")
	p.Ended(metrics.Run{Profile: "etl", Result: "met", Error: 0.01, Margin: 3, Work: 40, Freed: 8})
	p.Ended(metrics.Run{Profile: "etl", Result: "met"})
	p.Ended(metrics.Run{Profile: "etl", Result: "late", Error: -0.03, Margin: -9, Work: 60})
	p.Ended(metrics.Run{Profile: "etl", Result: "killed", Margin: 77, Work: 1})
	p.Wrote(time.Millisecond)
	p.PublishFailed()
	want := `
# HELP pacer_app_cpu_seconds_total CPU time used by its executors.
# TYPE pacer_app_cpu_seconds_total counter
pacer_app_cpu_seconds_total{application_id="app-1",application_name="wc"} 12
pacer_app_cpu_seconds_total{application_id="app-2",application_name="new"} 0
pacer_app_cpu_seconds_total{application_id="app-3",application_name="wc"} 0
# HELP pacer_app_deadline_seconds Deadline of a running application.
# TYPE pacer_app_deadline_seconds gauge
pacer_app_deadline_seconds{application_id="app-1",application_name="wc"} 90
pacer_app_deadline_seconds{application_id="app-3",application_name="wc"} 60
# HELP pacer_app_estimated_work_ratio Part of the work that is left which is estimated: of running stages that its profile lacks.
# TYPE pacer_app_estimated_work_ratio gauge
pacer_app_estimated_work_ratio{application_id="app-1",application_name="wc"} 0.25
pacer_app_estimated_work_ratio{application_id="app-3",application_name="wc"} 0
# HELP pacer_app_predicted_finish_seconds When it is expected to end, on its deadline clock.
# TYPE pacer_app_predicted_finish_seconds gauge
pacer_app_predicted_finish_seconds{application_id="app-1",application_name="wc"} 88
# HELP pacer_apps Applications known, by state.
# TYPE pacer_apps gauge
pacer_apps{state="failed"} 0
pacer_apps{state="finished"} 1
pacer_apps{state="queued"} 1
pacer_apps{state="running"} 3
pacer_apps{state="unknown"} 0
# HELP pacer_apps_at_risk Applications that wait or run and are expected to end after their deadline, by profile.
# TYPE pacer_apps_at_risk gauge
pacer_apps_at_risk{profile=""} 0
pacer_apps_at_risk{profile="etl"} 1
# HELP pacer_apps_paced Running applications, by how they run.
# TYPE pacer_apps_paced gauge
pacer_apps_paced{pacing="paced"} 2
pacer_apps_paced{pacing="recording"} 1
# HELP pacer_apps_rejected_total Registrations refused, by kind of error.
# TYPE pacer_apps_rejected_total counter
pacer_apps_rejected_total{reason="infeasible"} 1
# HELP pacer_cluster_fairness_ratio Jain's index of what applications have of the nodes that they could use, in the minutes of the last hour.
# TYPE pacer_cluster_fairness_ratio gauge
pacer_cluster_fairness_ratio 0.5
# HELP pacer_cluster_met_ratio Part of the applications with a deadline that ended in time.
# TYPE pacer_cluster_met_ratio gauge
pacer_cluster_met_ratio 0.5
# HELP pacer_core_seconds_total CPU time that runs which have ended used, by profile.
# TYPE pacer_core_seconds_total counter
pacer_core_seconds_total{profile="etl"} 101
# HELP pacer_freed_core_seconds_total CPU time that nodes offered to runs which have ended and that others could have.
# TYPE pacer_freed_core_seconds_total counter
pacer_freed_core_seconds_total{profile="etl"} 8
# HELP pacer_nodes Nodes known, by state.
# TYPE pacer_nodes gauge
pacer_nodes{state="ready"} 1
# HELP pacer_planner_serving 1 of the planner that serves, 0 of one that stands by.
# TYPE pacer_planner_serving gauge
pacer_planner_serving 1
# HELP pacer_queue_oldest_seconds How long the application waits that has waited longest.
# TYPE pacer_queue_oldest_seconds gauge
pacer_queue_oldest_seconds 7
# HELP pacer_run_margin_seconds How long before its deadline the newest run of a profile ended; below 0 is late.
# TYPE pacer_run_margin_seconds gauge
pacer_run_margin_seconds{profile="etl"} -9
# HELP pacer_runs_total Applications that have ended, by profile and by how they ended.
# TYPE pacer_runs_total counter
pacer_runs_total{profile="etl",result="killed"} 1
pacer_runs_total{profile="etl",result="late"} 1
pacer_runs_total{profile="etl",result="met"} 2
pacer_runs_total{profile="never late",result="late"} 0
pacer_runs_total{profile="never late",result="met"} 0
# HELP pacer_store_read_only 1 while the planner cannot store its state, else 0.
# TYPE pacer_store_read_only gauge
pacer_store_read_only 0
`
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "pacer_app_cpu_seconds_total", "pacer_app_deadline_seconds", "pacer_app_predicted_finish_seconds",
		"pacer_apps_at_risk", "pacer_core_seconds_total", "pacer_freed_core_seconds_total", "pacer_planner_serving", "pacer_queue_oldest_seconds",
		"pacer_run_margin_seconds", "pacer_runs_total", "pacer_store_read_only",
		"pacer_app_estimated_work_ratio", "pacer_apps", "pacer_apps_paced", "pacer_apps_rejected_total", "pacer_nodes", "pacer_cluster_met_ratio", "pacer_cluster_wasted_ratio", "pacer_cluster_fairness_ratio"); err != nil {
		t.Error(err)
	}
	fault = errors.New("the loop is busy")
	if n, err := testutil.GatherAndCount(r, "pacer_apps"); err != nil || n != 0 {
		t.Errorf("%d series without a view, %v", n, err)
	}
}

// Whoever makes up profiles makes no more series than there are places for them.
func TestAttackSeriesByProfile(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	p, err := metrics.NewPlanner(r, func() (metrics.View, error) { return metrics.View{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		p.Ended(metrics.Run{Profile: fmt.Sprint("made-up-", i), Result: "met", Error: 0.1})
		p.Ended(metrics.Run{Profile: "made-up-0", Result: "met", Error: 0.1})
	}
	p.Ended(metrics.Run{Profile: "made-up-299", Result: "late", Error: -0.1})
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen, late := map[string]uint64{}, map[string]float64{}
	for _, f := range families {
		if f.GetName() == "pacer_runs_total" {
			for _, m := range f.GetMetric() {
				if m.GetLabel()[1].GetValue() == "late" {
					late[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		if f.GetName() == "pacer_app_deadline_error_ratio" {
			for _, m := range f.GetMetric() {
				seen[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
			}
		}
	}
	if len(seen) != 201 || seen["made-up-0"] != 301 || seen["made-up-199"] != 1 || seen["other"] != 101 {
		t.Errorf("%d series; %d, %d and %d runs of the first, the 200th and the others", len(seen), seen["made-up-0"],
			seen["made-up-199"], seen["other"])
	}
	if len(late) != 1 || late["other"] != 1 {
		t.Errorf("%d series of late runs, %v of the others", len(late), late["other"])
	}
}

// Whoever submits many applications makes no more series than there are places for them, and takes nobody's.
func TestAttackSeriesByApplication(t *testing.T) {
	var view metrics.View
	r := prometheus.NewPedanticRegistry()
	if _, err := metrics.NewPlanner(r, func() (metrics.View, error) { return view, nil }); err != nil {
		t.Fatal(err)
	}
	runs := func(id string) {
		view.Apps = append(view.Apps, api.AppSummary{ID: api.AppID(id), Name: id, State: api.AppRunning, Duration: 3, CoreSeconds: 2})
	}
	work := func() map[string]float64 {
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]float64{}
		for _, f := range families {
			if f.GetName() == "pacer_app_cpu_seconds_total" {
				for _, m := range f.GetMetric() {
					seen[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		return seen
	}
	runs("app-5-hers")
	for i := range 150 {
		runs(fmt.Sprintf("app-6-%03d", i))
	}
	if seen := work(); len(seen) != 151 || seen["other"] != 0 {
		t.Errorf("%d series, %v of others", len(seen), seen["other"])
	}
	for i := range 150 {
		runs(fmt.Sprintf("app-1-%03d", i)) // Of ids that say that they are older.
	}
	if seen := work(); len(seen) != 201 || seen["app-5-hers"] != 2 || seen["app-1-048"] != 2 || seen["other"] != 2*101 {
		t.Errorf("%d series, %v of others, %v of hers", len(seen), seen["other"], seen["app-5-hers"])
	}
	view.Apps[0].State = api.AppFinished
	if seen := work(); len(seen) != 201 || seen["app-5-hers"] != 0 || seen["app-1-049"] != 2 {
		t.Errorf("once one has ended: %d series, %v of others", len(seen), seen["other"])
	}
}

// Every documented name is exposed and every exposed one is documented. Prometheus' own linter finds nothing in them.
func TestDocumentedNamesAreTheExposedOnes(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`(pacer_[a-z_]+)[`{]").FindAllStringSubmatch(string(doc), -1) {
		documented[m[1]] = true
	}
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`pacer_[a-z_]+`).FindAllString(string(rules), -1)
	for _, name := range asked {
		if base := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, ""); !documented[base] {
			t.Errorf("deploy/prometheus/rules.yaml asks for %s, which is not exposed", name)
		}
	}
	if len(asked) == 0 {
		t.Error("deploy/prometheus/rules.yaml asks for nothing")
	}
	r := prometheus.NewPedanticRegistry()
	n, err1 := metrics.NewNode(r)
	p, err2 := metrics.NewPlanner(r, func() (metrics.View, error) {
		one := 1.0
		return metrics.View{Policy: api.QueueDetail{Fraction: &one, Scores: api.Scores{Met: &one, Useful: &one, Wasted: &one, Fairness: &one, Equality: &one}},
			Apps: []api.AppSummary{{ID: "a", State: api.AppRunning, Deadline: 1, Predicted: 1, Profile: "etl"}}, Nodes: []api.NodeSummary{{Node: "n", Lends: &api.NodeLends{}}}}, nil
	})
	ends := func() (time.Time, error) { return time.Unix(1, 0), nil }
	if err := errors.Join(err1, err2, metrics.Build(r, "v1"), metrics.Certificate(r, ends)); err != nil {
		t.Fatal(err)
	}
	s := status()
	n.Observe(&s, 0)
	n.Event("e")
	p.Admitted("x")
	p.Rejected(api.KindInvalid)
	p.Ended(metrics.Run{Profile: "etl", Result: "met"})
	if faults, err := testutil.GatherAndLint(r); err != nil || len(faults) > 0 {
		t.Errorf("the linter finds %v, %v", faults, err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var exposed, want []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "pacer_") {
			exposed = append(exposed, f.GetName())
		}
	}
	for name := range documented {
		want = append(want, name)
	}
	slices.Sort(want)
	slices.Sort(exposed)
	if d := cmp.Diff(want, exposed); d != "" {
		t.Error(d)
	}
}

// Health is open to all, so it says a word and no cause.
func TestHealthzSaysAWord(t *testing.T) {
	var fault error
	h := metrics.Handler(prometheus.NewRegistry(), map[string]func() error{metrics.HealthPath: func() error { return fault }})
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if code, body := get("/healthz"); code != 200 || body != "ok\n" {
		t.Errorf("healthy: %d %q", code, body)
	}
	fault = errors.New("the loop has not ticked for 6s")
	if code, body := get("/healthz"); code != 503 || body != "unavailable\n" {
		t.Errorf("stalled: %d %q", code, body)
	}
	if code, _ := get("/metrics"); code != 200 {
		t.Errorf("metrics: %d", code)
	}
	if code, _ := get("/"); code != 404 {
		t.Errorf("root: %d", code)
	}
}

// slow gathers nothing until its gate opens.
type slow struct{ began, gate chan struct{} }

func (s slow) Describe(chan<- *prometheus.Desc) {}

func (s slow) Collect(chan<- prometheus.Metric) {
	s.began <- struct{}{}
	<-s.gate
}

// However many look at the metrics at once, few of them have the metrics gathered.
func TestAttackScrapesAtOnce(t *testing.T) {
	s := slow{began: make(chan struct{}, 100), gate: make(chan struct{})}
	r := prometheus.NewRegistry()
	r.MustRegister(s)
	h := metrics.Handler(r, nil)
	codes := make(chan int, 100)
	ask := func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		codes <- w.Code
	}
	for range 4 {
		go ask()
		<-s.began
	}
	for range 50 {
		ask()
		if code := <-codes; code != 503 {
			t.Fatalf("a fifth: %d", code)
		}
	}
	close(s.gate)
	for range 4 {
		if code := <-codes; code != 200 {
			t.Errorf("one of four: %d", code)
		}
	}
	go ask()
	if code := <-codes; code != 200 {
		t.Errorf("after these: %d", code)
	}
}

func TestRegisteringTwiceIsAnError(t *testing.T) {
	r := prometheus.NewRegistry()
	if _, err := metrics.NewNode(r); err != nil {
		t.Fatal(err)
	}
	if _, err := metrics.NewNode(r); err == nil {
		t.Error("no error")
	}
}
