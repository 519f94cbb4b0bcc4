package kubernetes

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

func TestMain(m *testing.M) { realenv.Main(m) }

// size is that of branches.py in all stories, runs is how many have a deadline in each mode.
const (
	size = "1"
	runs = 2
)

// TestOnAKubelet is the stories of a site that has a Kubernetes and keeps it, one after the other on one cluster.
func TestOnAKubelet(t *testing.T) {
	realenv.RequireAll(t)
	want := realenv.Results(realenv.Stock(t, "../e2e/testdata/branches.py", size))
	c := newSite(t)
	program := c.program("branches.py", size)
	deadline := c.keepsDeadline("client", c.client, want, program)
	c.keepsDeadline("cluster", c.cluster, want, program)
	realenv.Repeat(c.t, func() error {
		app := c.client(want, slices.Concat([]string{"--pacer-deadline", deadline, "--conf", "spark.dynamicAllocation.enabled=true",
			"--conf", "spark.dynamicAllocation.shuffleTracking.enabled=true"}, program)...)
		c.count(app)
		return realenv.Held(app)
	})
	c.inMidRun(deadline, want, program)
	c.airflow()
	fmt.Printf("k8s.found_pct %.1f\n", 100*float64(c.found)/float64(c.executors))
	fmt.Printf("k8s.quota_ms.p99 %.1f\n", benchline.Quantile(c.quotas, 0.99).Value)
	fmt.Printf("k8s.answers_differ %d\n", c.differ)
	c.removal()
}

// keepsDeadline records a program and has it run under deadlines. It prints how early it ended, and returns the deadline.
func (c *site) keepsDeadline(mode string, run func(string, ...string) api.AppDetail, want string, program []string) string {
	c.t.Helper()
	recorded := run(want, program...)
	if recorded.Pacing != "recording" || recorded.CoreSeconds <= 0 {
		c.t.Errorf("the first run: pacing %s, %v core-seconds, notices %q", recorded.Pacing, recorded.CoreSeconds, recorded.Notices)
	}
	c.count(recorded)
	deadline := fmt.Sprintf("%dms", (recorded.Duration * slack).Duration().Milliseconds())
	var errs []float64
	for range runs {
		realenv.Repeat(c.t, func() error {
			app := run(want, slices.Concat([]string{"--conf", "spark.pacer.deadline=" + deadline}, program)...)
			c.count(app)
			if app.QuotaChanges == 0 {
				c.t.Error("no quota was ever written")
			}
			if app.ErrorPct != nil {
				errs = append(errs, *app.ErrorPct)
			}
			if mode == "client" {
				ms := realenv.QuotasOf(c.t, app, c.s.Log(app.ID), c.nodeLog())
				c.t.Logf("quotas after %.0f ms", ms)
				c.quotas = append(c.quotas, ms...)
			}
			return realenv.Held(app)
		})
	}
	fmt.Printf("k8s.exit_error_pct.%s %.2f\n", mode, benchline.Median(errs).Value)
	return deadline
}

// inMidRun has an executor evicted, the node controller killed and the chart upgraded, each while an application runs,
// which ends well.
func (c *site) inMidRun(deadline, want string, program []string) {
	for _, trouble := range []struct {
		name string
		make func()
	}{
		{"a pod is evicted", func() { c.evict(c.executorPods()[0]) }},
		{"the node controller is killed", func() { c.kill("nodecontroller") }},
		{"the chart is upgraded", func() {
			c.chart("upgrade", "--reuse-values", "--set", "config.log.level=debug")
			c.k.Kubectl("-n", "pacer", "rollout", "status", "daemonset/pacer-node", "--timeout=120s")
			c.k.Kubectl("-n", "pacer", "rollout", "status", "statefulset/pacer-planner", "--timeout=120s")
		}},
	} {
		realenv.Repeat(c.t, func() error {
			run := c.s.Submit(slices.Concat([]string{"--pacer-deadline", deadline, "--conf", "spark.dynamicAllocation.minExecutors=2"}, program)...)
			if _, err := c.s.AwaitWhile(run, "tasks to have ended", func(a api.AppDetail) bool {
				return len(a.Executors) == 2 && a.CoreSeconds > 5 && len(c.executorPods()) == 2
			}); err != nil {
				c.ended(run, want, "")
				return err
			}
			trouble.make()
			app := c.ended(run, want, "")
			c.t.Logf("%s: executors %+v", trouble.name, app.Executors)
			if app.ErrorPct == nil || *app.ErrorPct < -realenv.Lateness {
				return realenv.Timing("%s: error %s", trouble.name, percent(app))
			}
			return nil
		})
	}
}
