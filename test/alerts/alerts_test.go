// Package alerts tries deploy/prometheus/rules.yaml and the panels of deploy/grafana by the engine of Prometheus, on scrapes of what Pacer's daemons serve. It is a
// module of its own, so that the product's has nothing of Prometheus's server.
package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/units"
)

const (
	file = "../../deploy/prometheus/rules.yaml"
	// every is how often a target is scraped and the rules are looked at.
	every = 15 * time.Second
	// accepts is what Prometheus asks a target for.
	accepts = "application/openmetrics-text;version=1.0.0;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5," +
		"text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)

// site is a planner's and a node's metrics, and a Prometheus that scrapes them, in virtual time.
type site struct {
	*testing.T
	view    metrics.View
	planner *metrics.Planner
	node    *metrics.Node
	targets map[string]http.Handler // By instance, nil of one that does not answer.
	jobs    map[string]string       // By instance, where that is not the job itself.
	engine  *promql.Engine
	expires time.Time
	store   *teststorage.TestStorage
	group   *rules.Group
	now     time.Time
}

// healthy is a site on which an application runs that will be in time.
func healthy(t *testing.T) *site {
	s := &site{T: t, now: time.Unix(1_800_000_000, 0), targets: map[string]http.Handler{}, jobs: map[string]string{}, store: teststorage.New(t)}
	s.view.Apps = []api.AppSummary{{ID: "app-1", Name: "etl", State: api.AppRunning, Pacing: "paced", Deadline: 90, Duration: 30, Predicted: 88},
		{ID: "app-2", Name: "without a deadline", State: api.AppRunning, Pacing: "recording", Predicted: 500}}
	s.view.Serving, s.expires = true, s.now.Add(90*24*time.Hour)
	s.view.Nodes = []api.NodeSummary{{Node: "n1", State: "ready", Offered: 4}, {Node: "n2", State: "drains", Offered: 4}}
	planners, nodes := client.NewRegistry(), client.NewRegistry()
	var faults [5]error
	s.planner, faults[0] = metrics.NewPlanner(planners, func() (metrics.View, error) { return s.view, nil })
	s.node, faults[1] = metrics.NewNode(nodes)
	faults[2], faults[3] = metrics.Build(planners, "test"), metrics.Build(nodes, "test")
	faults[4] = metrics.Certificate(planners, func() (time.Time, error) { return s.expires, nil })
	if err := errors.Join(faults[:]...); err != nil {
		t.Fatal(err)
	}
	s.targets["pacer-planner"], s.targets["pacer-node"] = metrics.Handler(planners, nil), metrics.Handler(nodes, nil)
	s.engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	manager := rules.NewManager(&rules.ManagerOptions{QueryFunc: rules.EngineQueryFunc(s.engine, s.store), AppendableV2: s.store, Queryable: s.store,
		Context: t.Context(), Logger: slog.New(slog.DiscardHandler), NotifyFunc: func(context.Context, string, ...*rules.Alert) {}})
	groups, errs := manager.LoadGroups(every, labels.EmptyLabels(), "", nil, false, file)
	if err := errors.Join(errs...); err != nil || len(groups) != 1 {
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	for _, s.group = range groups {
	}
	return s
}

// inTime and late are runs of a profile.
var (
	inTime = metrics.Run{Profile: "etl", Result: "met", Error: 0.02, Margin: 2, Work: 40, Freed: 9}
	late   = metrics.Run{Profile: "etl", Result: "late", Error: -0.01, Margin: -1, Work: 40}
)

// goOn has some time pass, with a run of a profile that is in time each minute, and returns the alerts that have fired.
func (s *site) goOn(d time.Duration) map[string]bool {
	s.Helper()
	fired := map[string]bool{}
	for began := s.now; s.now.Sub(began) < d; s.now = s.now.Add(every) {
		if s.now.Unix()%60 == 0 {
			s.planner.Due("etl")
			s.planner.Ended(inTime)
		}
		s.node.Tick(time.Millisecond)
		for instance := range s.targets {
			s.scrape(instance)
		}
		s.group.Eval(s.Context(), s.now)
		for _, rule := range s.group.AlertingRules() {
			if err := rule.LastError(); err != nil {
				s.Fatalf("%s: %v", rule.Name(), err)
			}
			if rule.State() == rules.StateFiring {
				fired[rule.Name()] = true
			}
		}
	}
	return fired
}

// scrape takes what a target serves into the store, as Prometheus reads it, and whether it answers.
func (s *site) scrape(instance string) {
	s.Helper()
	up := 0.0
	if s.targets[instance] != nil {
		up = 1
		s.take(instance)
	}
	app := s.store.Appender(s.Context())
	if _, err := app.Append(0, labels.FromStrings("__name__", "up", "job", s.job(instance), "instance", instance), s.now.UnixMilli(), up); err != nil {
		s.Fatal(err)
	}
	if err := app.Commit(); err != nil {
		s.Fatal(err)
	}
}

// job is that of an instance.
func (s *site) job(instance string) string {
	if job := s.jobs[instance]; job != "" {
		return job
	}
	return instance
}

// also has another instance of a job, which does not answer.
func (s *site) also(job, instance string) { s.targets[instance], s.jobs[instance] = nil, job }

// take takes what a target that answers serves.
func (s *site) take(instance string) {
	s.Helper()
	asked := httptest.NewRequest(http.MethodGet, metrics.Path, nil)
	asked.Header.Set("Accept", accepts)
	got := httptest.NewRecorder()
	s.targets[instance].ServeHTTP(got, asked)
	p, err := textparse.New(got.Body.Bytes(), got.Header().Get("Content-Type"), labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		s.Fatal(err)
	}
	app := s.store.Appender(s.Context())
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.Fatal(err)
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var is labels.Labels
		p.Labels(&is)
		_, _, value := p.Series()
		of := labels.NewBuilder(is).Set("job", s.job(instance)).Set("instance", instance).Labels()
		if _, err := app.Append(0, of, s.now.UnixMilli(), value); err != nil {
			s.Fatal(err)
		}
	}
	if err := app.Commit(); err != nil {
		s.Fatal(err)
	}
}

// troubles are what each alert is for, by its name.
var troubles = map[string]func(s *site){
	"PacerNoPlannerServes": func(s *site) { s.view.Serving = false }, // Those that are left stand by.
	"PacerStandbyMissing":  func(s *site) { s.also("pacer-planner", "standby:4281") },
	"PacerScrapeFails":     func(s *site) { s.targets["pacer-node"] = nil }, // As with a wrong token.
	"PacerStoreReadOnly":   func(s *site) { s.view.ReadOnly = true },
	"PacerNodeLost":        func(s *site) { s.view.Nodes[0].State = "lost" },
	"PacerDeadlineAtRisk":  func(s *site) { s.view.Apps[0].Risk = api.RiskLate },
	"PacerDeadlinesMissed": func(s *site) { // The first run of its profile.
		s.planner.Due("new")
		s.goOn(time.Minute)
		run := late
		run.Profile = "new"
		s.planner.Ended(run)
	},
	"PacerQueueStands": func(s *site) {
		s.view.Apps = append(s.view.Apps, api.AppSummary{ID: "app-3", State: api.AppQueued, Duration: 1900})
	},
	"PacerMemoryIdle":      func(s *site) { s.view.Policy.Idle = []api.IdleMemory{{App: "app-2", Node: "n1", Memory: units.GiB}} },
	"PacerPlansNotSent":    func(s *site) { s.planner.PublishFailed() },
	"PacerQuotaNotWritten": func(s *site) { s.node.WriteFailed() },
	"PacerLoopLate":        func(s *site) { s.node.Missed(60) },
	"PacerCertificateEnds": func(s *site) { s.expires = s.now.Add(29 * 24 * time.Hour) },
}

// Where all is well no alert fires; of each trouble its own does, and no other one. Each has a severity, and a page that
// says what to do.
func TestEveryAlertFiresForItsTroubleAlone(t *testing.T) {
	s := healthy(t)
	page, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range s.group.AlertingRules() {
		if troubles[rule.Name()] == nil {
			t.Errorf("%s: no trouble is known for which it fires", rule.Name())
		}
		if severity := rule.Labels().Get("severity"); !slices.Contains([]string{"critical", "warning", "info"}, severity) {
			t.Errorf("%s: severity %q", rule.Name(), severity)
		}
		_, anchor, _ := strings.Cut(rule.Annotations().Get("runbook_url"), "docs/monitoring.md#")
		if anchor != strings.ToLower(rule.Name()) || !strings.Contains(string(page), "\n### "+rule.Name()+"\n") {
			t.Errorf("%s: docs/monitoring.md does not tell of it at #%s", rule.Name(), anchor)
		}
	}
	if all := s.group.AlertingRules(); len(all) != len(troubles) {
		t.Errorf("%s has %d alerts, want %d", file, len(all), len(troubles))
	}
	fired, wrong := 0, 0
	for _, name := range slices.Sorted(maps.Keys(troubles)) {
		s := healthy(t)
		if all := s.goOn(70 * time.Minute); len(all) > 0 {
			t.Errorf("where all is well %v fire", all)
			wrong += len(all)
		}
		troubles[name](s)
		all := s.goOn(20 * time.Minute)
		if all[name] {
			fired++
		} else {
			t.Errorf("%s does not fire", name)
		}
		delete(all, name)
		if wrong += len(all); len(all) > 0 {
			t.Errorf("%v fire for the trouble of %s", all, name)
		}
	}
	fmt.Printf("alerts.fired_pct %.0f\nalerts.false %d\n", 100*float64(fired)/float64(len(troubles)), wrong)
}

// A planner that stands by is silent, as long as it answers.
func TestAStandbyThatAnswersAlertsNobody(t *testing.T) {
	s := healthy(t)
	r := client.NewRegistry()
	if _, err := metrics.NewPlanner(r, func() (metrics.View, error) { return metrics.View{}, nil }); err != nil {
		t.Fatal(err)
	}
	s.also("pacer-planner", "standby:4281")
	s.targets["standby:4281"] = metrics.Handler(r, nil)
	if all := s.goOn(20 * time.Minute); len(all) > 0 {
		t.Errorf("%v fire", all)
	}
}

// A run in twenty that is late alerts nobody.
func TestFewLateRunsAlertNobody(t *testing.T) {
	s := healthy(t)
	s.goOn(30 * time.Minute)
	s.planner.Ended(late)
	if all := s.goOn(40 * time.Minute); len(all) > 0 {
		t.Errorf("%v fire", all)
	}
}

// Each panel of each dashboard shows something on a site where a run was late, an application is at risk and a node has
// an executor.
func TestEveryPanelShowsSomething(t *testing.T) {
	s := healthy(t)
	fair := 0.9
	s.view.Apps[0].Risk, s.view.Policy.Scores.Fairness = api.RiskLate, &fair
	s.view.Nodes[0].Lends = &api.NodeLends{Lendable: 2 * units.GiB, Lent: units.GiB}
	s.planner.Due("etl")
	status := api.NodeStatus{Node: "n1", Offered: 1.8, Total: 2, Memory: units.GiB, Kernel: api.Kernel{Pressure: api.Pressure{CPU: 0.5}},
		Executors: []api.ExecutorStatus{{App: "app-1", ID: "1", State: api.ExecutorRunning, CPU: 10, Quota: 0.5,
			Memory: api.ExecutorMemory{Heap: units.GiB, Resident: units.GiB, Limit: 2 * units.GiB}}},
		Stages: []api.StageStatus{{App: "app-1", StageKey: api.StageKey{Stage: 3}, Executor: "1", Progress: 0.4, Samples: []api.StageSample{{SetPoint: 0.3}}}}}
	s.node.Observe(&status, 0)
	s.goOn(time.Minute)
	s.planner.Ended(late)
	s.goOn(30 * time.Minute)
	boards, err := filepath.Glob("../../deploy/grafana/*.json")
	if err != nil || len(boards) != 3 {
		t.Fatalf("%v, %v", boards, err)
	}
	asked, answered := 0, 0
	for _, path := range boards {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			Title  string
			Panels []struct {
				Title, Description string
				Targets            []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(text, &board); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, p := range board.Panels {
			if p.Description == "" || len(p.Targets) == 0 {
				t.Errorf("%s, %s: no description, or nothing is asked", board.Title, p.Title)
			}
			for _, target := range p.Targets {
				expr := strings.NewReplacer("$__rate_interval", "1m", "$__range", "20m", "$profile", ".*", "$instance", ".*").Replace(target.Expr)
				query, err := s.engine.NewInstantQuery(t.Context(), s.store, nil, expr, s.now.Add(-every))
				if err != nil {
					t.Fatalf("%s, %s: %v", board.Title, p.Title, err)
				}
				asked++
				result := query.Exec(t.Context())
				if values, ok := result.Value.(promql.Vector); result.Err != nil || !ok || len(values) == 0 {
					t.Errorf("%s, %s: %s shows nothing: %v", board.Title, p.Title, expr, result.Err)
					continue
				}
				answered++
			}
		}
	}
	fmt.Printf("panels.answered_pct %.0f\n", 100*float64(answered)/float64(asked))
}
