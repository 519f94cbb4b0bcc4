package kubernetes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
)

const (
	planner  = "pacer-planner.pacer.svc:4222"
	patience = realenv.Patience
	// slack is a deadline as a multiple of the time that a run without one takes.
	slack = 1.4
)

// site is a Kubernetes with Pacer on it.
type site struct {
	t *testing.T
	k *realenv.Kubelet
	s *realenv.System
	// drivers are how many were started in pods.
	drivers int
	// executors are those of applications under Pacer that a node was to find, found those that it has.
	executors, found, differ int
	quotas                   []float64
}

// program is one of test/e2e/testdata with its arguments, as the pods have it.
func (c *site) program(name string, args ...string) []string {
	return append([]string{filepath.Join(c.k.Share, name)}, args...)
}

// newSite installs Pacer by its chart on a new Kubernetes, as the chart's notes say.
func newSite(t *testing.T) *site {
	t.Helper()
	c := &site{t: t, k: realenv.NewKubelet(t), s: realenv.New(t)}
	for line := range strings.Lines(c.k.Output()) {
		if strings.HasPrefix(line, "k8s.") {
			fmt.Print(line)
		}
	}
	for _, name := range []string{"branches.py", "chain.py", "toil.py"} {
		c.copy(filepath.Join("..", "e2e", "testdata", name), name)
	}
	c.s.On(c.k)
	_, jar := c.s.Pacer("jar")
	c.copy(strings.TrimSpace(jar), "pacer.jar")
	state, events := filepath.Join(c.k.Share, "planner"), filepath.Join(c.k.Share, "system", "events")
	for _, dir := range []string{state, events} {
		c.must(os.MkdirAll(dir, 0o777))
		c.must(os.Chmod(dir, 0o1777)) // For users of pods.
	}

	c.k.Kubectl("create", "namespace", "pacer")
	c.k.Kubectl("create", "serviceaccount", "spark")
	c.k.Kubectl("create", "rolebinding", "spark", "--clusterrole=edit", "--serviceaccount=default:spark")
	c.chart("install", "--set", "planner.volume.hostPath.path="+state)
	c.k.Kubectl("-n", "pacer", "rollout", "status", "statefulset/pacer-planner", "--timeout=120s")
	join, ca, key := filepath.Join(c.k.Dir, "join.key"), filepath.Join(c.k.Dir, "ca.pem"), filepath.Join(c.k.Dir, "user.key")
	authority, err := os.ReadFile(filepath.Join(state, "planner", "tls", "ca.pem"))
	c.must(err)
	c.must(os.WriteFile(ca, authority, 0o600))
	c.must(os.WriteFile(join, []byte(c.auth("issue", "--join")), 0o600))
	c.must(os.WriteFile(key, []byte(c.auth("issue", "--user", "ann", "--role", "operate")), 0o600))
	c.k.Kubectl("-n", "pacer", "create", "secret", "generic", "pacer-join", "--from-file="+join, "--from-file="+ca)
	c.copy(ca, "ca.pem")
	c.copy(key, "user.key")
	c.must(os.Chmod(filepath.Join(c.k.Share, "user.key"), 0o600))
	c.must(os.Chown(filepath.Join(c.k.Share, "user.key"), 185, 0)) // The user of the pods.

	config := filepath.Join(c.k.Dir, "config.yaml")
	c.must(os.WriteFile(config, fmt.Appendf(nil, "client: {planner: %q, tls-ca: %q, credentials: %q}\n", planner, ca, key), 0o600))
	c.s.Dir, c.s.Address, c.s.Inside = filepath.Join(c.k.Share, "system"), planner, c.k.Inside
	c.s.Env = append(c.s.Env, "PACER_CONFIG="+config)
	c.attach()
	return c
}

func (c *site) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// copy puts a file where the pods have it.
func (c *site) copy(source, name string) {
	c.t.Helper()
	body, err := os.ReadFile(source)
	c.must(err)
	c.must(os.WriteFile(filepath.Join(c.k.Share, name), body, 0o644))
}

// auth is what `pacer auth` prints in the planner's pod.
func (c *site) auth(args ...string) string {
	c.t.Helper()
	return c.k.Kubectl(append([]string{"-n", "pacer", "exec", "pacer-planner-0", "-c", "planner", "--", "pacer", "auth"}, args...)...)
}

// chart installs or upgrades Pacer.
func (c *site) chart(verb string, args ...string) {
	c.t.Helper()
	c.k.Helm(slices.Concat([]string{verb, "pacer", "../../deploy/chart", "--namespace", "pacer"}, args)...)
}

// attach has the node controller come, detach has it go: the chart's DaemonSet is told of no nodes and of all.
func (c *site) attach() {
	c.t.Helper()
	c.k.Kubectl("-n", "pacer", "patch", "daemonset", "pacer-node", "--type=merge", "-p",
		`{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
	c.s.Await("the planner to answer", 2*time.Minute, func() bool { // It may have been killed.
		code, _ := c.s.Pacer("nodes")
		return code == 0
	})
	c.s.Await("the node to be attached", 2*time.Minute, func() bool {
		return c.s.Nodes()["node-a"].State == "ready"
	})
}

func (c *site) detach() {
	c.t.Helper()
	c.k.Kubectl("-n", "pacer", "patch", "daemonset", "pacer-node", "--type=merge", "-p",
		`{"spec":{"template":{"spec":{"nodeSelector":{"pacer":"off"}}}}}`)
	c.s.Await("the node controller's pod to be gone", 2*time.Minute, func() bool { return c.nodePod() == "" })
}

// nodePod is the name of the node controller's pod, "" where there is none.
func (c *site) nodePod() string {
	c.t.Helper()
	return strings.TrimSpace(c.k.Kubectl("-n", "pacer", "get", "pods", "-l", "app.kubernetes.io/component=node",
		"-o", "jsonpath={.items[*].metadata.name}"))
}

// nodeLog is what the node controller says.
func (c *site) nodeLog() string {
	c.t.Helper()
	return c.k.Kubectl("-n", "pacer", "logs", c.nodePod(), "--tail=-1")
}

// client runs a program whose driver is outside of pods, and returns its application.
func (c *site) client(want string, flags ...string) api.AppDetail {
	c.t.Helper()
	return c.ended(c.s.Submit(flags...), want, "")
}

// cluster is client with a driver in a pod, started by stock spark-submit.
func (c *site) cluster(want string, flags ...string) api.AppDetail {
	c.t.Helper()
	run, pod := c.inCluster(flags...)
	return c.ended(run, want, pod)
}

// inCluster starts a program by stock spark-submit in cluster mode. Its driver's pod has that name.
func (c *site) inCluster(flags ...string) (*realenv.Process, string) {
	c.t.Helper()
	c.drivers++
	pod := fmt.Sprintf("driver-%d", c.drivers)
	args := append([]string{"--deploy-mode", "cluster", "--driver-memory", "512m",
		"--py-files", "local://" + filepath.Join(c.k.Share, "toil.py"), "--jars", "local://" + filepath.Join(c.k.Share, "pacer.jar")},
		sparklog.Flags(c.s.Events())...)
	for _, conf := range []string{
		"spark.executor.memory=768m", "spark.pacer.profile=in-cluster", "spark.plugins=org.apache.spark.pacer.PacerPlugin", "spark.pacer.planner=" + planner,
		"spark.pacer.tls.ca=" + filepath.Join(c.k.Share, "ca.pem"),
		"spark.pacer.credentials=" + filepath.Join(c.k.Share, "user.key"), "spark.kubernetes.driver.pod.name=" + pod,
	} {
		args = append(args, "--conf", conf)
	}
	flags = slices.Clone(flags)
	for i, flag := range flags { // The program is where the pods have it.
		if strings.HasPrefix(flag, c.k.Share) {
			flags[i] = "local://" + flag
		}
	}
	return c.k.Submit(append(args, flags...)...), pod
}

// ended waits for the end of a run, whose driver is in a pod unless that has no name, and looks at its answer.
func (c *site) ended(run *realenv.Process, want, pod string) api.AppDetail {
	c.t.Helper()
	if code := run.Wait(patience); code != 0 {
		c.t.Fatalf("exit %d: %s", code, run.LastWords())
	}
	answer := run.Answer()
	if pod != "" {
		answer = c.k.Kubectl("logs", pod)
	}
	if got := realenv.Results(answer); got != want {
		c.differ++
		c.t.Errorf("the answer is\n%s\nstock Spark's\n%s", got, want)
	}
	app := c.s.AwaitApp("the run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	c.t.Logf("%s: deadline %v, took %v, error %s, %s, mean cores %.2f, notices %q", app.ID, app.Deadline, app.Duration,
		percent(app), app.Pacing, float64(app.MeanCores), app.Notices)
	return app
}

func percent(app api.AppDetail) string {
	if app.ErrorPct == nil {
		return "none"
	}
	return fmt.Sprintf("%+.2f %%", *app.ErrorPct)
}

// count counts which executors of an application the node has found.
func (c *site) count(app api.AppDetail) {
	c.t.Helper()
	if len(app.Executors) == 0 {
		c.t.Errorf("%s had no executors", app.ID)
	}
	for _, x := range app.Executors {
		c.executors++
		if x.Node != "" && x.Unpaced == "" {
			c.found++
			continue
		}
		c.t.Errorf("%s: executor %s on %s: node %q, %s", app.ID, x.ID, x.Host, x.Node, x.Unpaced)
	}
}
