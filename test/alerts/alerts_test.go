// Package alerts tries docs/alerts.yml by the engine of Prometheus, on scrapes of what Pacer's daemons serve. It is a
// module of its own, so that the product's has nothing of Prometheus's server.
package alerts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
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
	file = "../../docs/alerts.yml"
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
	targets map[string]http.Handler // By job.
	store   *teststorage.TestStorage
	group   *rules.Group
	now     time.Time
}

// healthy is a site on which an application runs that will be in time.
func healthy(t *testing.T) *site {
	s := &site{T: t, now: time.Unix(1_800_000_000, 0), targets: map[string]http.Handler{}, store: teststorage.New(t)}
	s.view.Apps = []api.AppSummary{{ID: "app-1", Name: "etl", State: api.AppRunning, Pacing: "paced", Deadline: 90, Duration: 30, Predicted: 88},
		{ID: "app-2", Name: "without a deadline", State: api.AppRunning, Pacing: "recording", Predicted: 500}}
	s.view.Nodes = []api.NodeSummary{{Node: "n1", State: "ready", Offered: 4}, {Node: "n2", State: "drains", Offered: 4}}
	planners, nodes := client.NewRegistry(), client.NewRegistry()
	var faults [4]error
	s.planner, faults[0] = metrics.NewPlanner(planners, func() (metrics.View, error) { return s.view, nil })
	s.node, faults[1] = metrics.NewNode(nodes)
	faults[2], faults[3] = metrics.Build(planners, "test"), metrics.Build(nodes, "test")
	if err := errors.Join(faults[:]...); err != nil {
		t.Fatal(err)
	}
	s.targets["pacer-planner"], s.targets["pacer-node"] = metrics.Handler(planners, nil), metrics.Handler(nodes, nil)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	manager := rules.NewManager(&rules.ManagerOptions{QueryFunc: rules.EngineQueryFunc(engine, s.store), AppendableV2: s.store, Queryable: s.store,
		Context: t.Context(), Logger: slog.New(slog.DiscardHandler), NotifyFunc: func(context.Context, string, ...*rules.Alert) {}})
	groups, errs := manager.LoadGroups(every, labels.EmptyLabels(), "", nil, false, file)
	if err := errors.Join(errs...); err != nil || len(groups) != 1 {
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	for _, s.group = range groups {
	}
	return s
}

// goOn has some time pass, with a run of a profile that is in time each minute, and returns the alerts that have fired.
func (s *site) goOn(d time.Duration) map[string]bool {
	s.Helper()
	fired := map[string]bool{}
	for began := s.now; s.now.Sub(began) < d; s.now = s.now.Add(every) {
		if s.now.Unix()%60 == 0 {
			s.planner.Due("etl")
			s.planner.Ended("etl", 0.02)
		}
		s.node.Tick(time.Millisecond)
		for job := range s.targets {
			s.scrape(job)
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

// scrape takes what a target serves into the store, as Prometheus reads it.
func (s *site) scrape(job string) {
	s.Helper()
	asked := httptest.NewRequest(http.MethodGet, metrics.Path, nil)
	asked.Header.Set("Accept", accepts)
	got := httptest.NewRecorder()
	s.targets[job].ServeHTTP(got, asked)
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
		of := labels.NewBuilder(is).Set("job", job).Set("instance", job+":4280").Labels()
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
	"PacerPlannerAway":           func(s *site) { delete(s.targets, "pacer-planner") },
	"PacerNodeLost":              func(s *site) { s.view.Nodes[0].State = "lost" },
	"PacerApplicationWillBeLate": func(s *site) { s.view.Apps[0].Predicted = 91 },
	"PacerDeadlinesMissed": func(s *site) { // The first run of its profile.
		s.planner.Due("new")
		s.goOn(time.Minute)
		s.planner.Ended("new", -0.01)
	},
	"PacerMemoryIdle":      func(s *site) { s.view.Policy.Idle = []api.IdleMemory{{App: "app-2", Node: "n1", Memory: units.GiB}} },
	"PacerPlansNotSent":    func(s *site) { s.planner.PublishFailed() },
	"PacerQuotaNotWritten": func(s *site) { s.node.WriteFailed() },
	"PacerLoopLate":        func(s *site) { s.node.Missed(60) },
}

// Where all is well no alert fires; of each trouble its own does, and no other one.
func TestEveryAlertFiresForItsTroubleAlone(t *testing.T) {
	s := healthy(t)
	for _, rule := range s.group.AlertingRules() {
		if troubles[rule.Name()] == nil {
			t.Errorf("%s: no trouble is known for which it fires", rule.Name())
		}
	}
	if all := s.group.AlertingRules(); len(all) != len(troubles) {
		t.Errorf("%s has %d alerts, want %d", file, len(all), len(troubles))
	}
	fired := 0
	for _, name := range slices.Sorted(maps.Keys(troubles)) {
		s := healthy(t)
		if all := s.goOn(70 * time.Minute); len(all) > 0 {
			t.Errorf("where all is well %v fire", all)
		}
		troubles[name](s)
		if all := s.goOn(20 * time.Minute); !all[name] || len(all) > 1 {
			t.Errorf("%v fire, want %s", all, name)
		} else {
			fired++
		}
	}
	fmt.Printf("alerts.fired_pct %.0f\n", 100*float64(fired)/float64(len(troubles)))
}

// A run in twenty that is late alerts nobody.
func TestFewLateRunsAlertNobody(t *testing.T) {
	s := healthy(t)
	s.goOn(30 * time.Minute)
	s.planner.Ended("etl", -0.01)
	if all := s.goOn(40 * time.Minute); len(all) > 0 {
		t.Errorf("%v fire", all)
	}
}
