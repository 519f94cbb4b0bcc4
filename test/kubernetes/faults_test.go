package kubernetes

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// rounds of faults, each of those below.
const rounds = 2

// removal has Pacer taken off ten times in each of two rounds while an application is held back, after faults, and
// prints how often a group of an executor was not as the kubelet makes it.
func (c *site) removal() {
	c.detach()
	run := c.s.Submit(append([]string{"--conf", "spark.dynamicAllocation.minExecutors=2"}, c.program("chain.py", "60")...)...)
	app := c.s.AwaitApp("two executors", patience, func(a api.AppDetail) bool { return a.State == api.AppRunning && len(c.k.Executors()) == 2 })
	given := c.groups()
	wanted := slices.Collect(maps.Values(given))[0]
	if code, said := c.s.Pacer("apps", "cap", string(app.ID), "0.6"); code != 0 { // It has no profile to be paced by.
		c.t.Fatal(said)
	}
	faults, changed := 0, 0
	for range rounds {
		for _, fault := range c.faults() {
			c.attach()
			c.held(wanted)
			fault.make()
			c.detach()
			faults++
			var now map[string]string
			if !realenv.Poll(200*time.Millisecond, 30*time.Second, func() bool {
				now = c.groups()
				return len(now) == 2 && !slices.ContainsFunc(slices.Collect(maps.Values(now)), func(is string) bool { return is != wanted })
			}) {
				changed++
				c.t.Errorf("after %s: %v, a kubelet makes %s", fault.name, now, wanted)
			}
			select {
			case <-run.Done():
				c.t.Fatalf("the application has ended: %s", run.LastWords())
			default:
			}
		}
	}
	fmt.Printf("k8s.left_changed %d\n", changed)
	c.t.Logf("%d faults, %d left something changed", faults, changed)
	run.Stop()
}

type fault struct {
	name string
	make func()
}

func (c *site) faults() []fault {
	again := func(name string) func() {
		return func() {
			c.kill(name)
			c.held("")
		}
	}
	return []fault{
		{"nothing", func() {}},
		{"kill -9 of the node controller, which is gone at once", func() { c.kill("nodecontroller") }},
		{"kill -9 of the node controller, which is back", func() {
			c.kill("nodecontroller")
			c.s.Await("the node controller to be back", 2*time.Minute, func() bool { return c.pid("nodecontroller") != 0 })
		}},
		{"the node controller's pod deleted by force", func() {
			c.k.Kubectl("-n", "pacer", "delete", "pod", c.nodePod(), "--force", "--grace-period=0")
		}},
		{"kill -9 of the planner", func() { c.kill("planner") }},
		{"kill -9 of the kubelet, which is back", again("kubelet")},
		{"kill -9 of containerd, which is back", again("containerd")},
		{"an executor evicted", func() {
			before := len(c.k.Executors())
			c.evict(c.executorPods()[0])
			c.s.Await("another executor", 2*time.Minute, func() bool { return len(c.k.Executors()) == before && len(c.executorPods()) == before })
		}},
		{"kill -9 of both guards", func() {
			for pid := c.pid("guard-quotas"); pid != 0; pid = c.pid("guard-quotas") {
				c.must(syscall.Kill(pid, syscall.SIGKILL))
			}
		}},
		{"a new version rolled out", func() {
			c.k.Kubectl("-n", "pacer", "rollout", "restart", "daemonset/pacer-node")
			c.k.Kubectl("-n", "pacer", "rollout", "status", "daemonset/pacer-node", "--timeout=120s")
		}},
	}
}

// held waits until both executors have had other quotas than those wanted; any where that is "".
func (c *site) held(wanted string) {
	c.t.Helper()
	lowered := map[string]bool{}
	c.s.Await("both executors to be held back", 3*time.Minute, func() bool {
		for dir, is := range c.groups() {
			if is != wanted {
				lowered[dir] = true
			}
		}
		return len(lowered) >= 2
	})
}

// groups are what bounds the executors that run, by the directories of their containers' groups: files of that group, and
// of its pod's.
func (c *site) groups() map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for dir := range c.k.Executors() {
		var text strings.Builder
		for _, at := range []string{dir, filepath.Dir(dir)} {
			for _, name := range []string{"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.shares"} {
				body, _ := os.ReadFile(filepath.Join(at, name)) // It may have ended.
				fmt.Fprintf(&text, "%s ", strings.TrimSpace(string(body)))
			}
		}
		out[dir] = text.String()
	}
	return out
}

// executorPods are the names of executors' pods that run and are not ending.
func (c *site) executorPods() (names []string) {
	c.t.Helper()
	for line := range strings.Lines(c.k.Kubectl("get", "pods", "-l", "spark-role=executor", "--field-selector=status.phase=Running",
		"-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.deletionTimestamp}{"\n"}{end}`)) {
		if fields := strings.Fields(line); len(fields) == 1 {
			names = append(names, fields[0])
		}
	}
	return names
}

// evict has the API evict a pod, as draining its node does.
func (c *site) evict(pod string) {
	c.t.Helper()
	body := filepath.Join(c.k.Dir, "eviction.json")
	c.must(os.WriteFile(body, fmt.Appendf(nil, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":"default"}}`,
		pod), 0o600))
	c.k.Kubectl("create", "--raw", "/api/v1/namespaces/default/pods/"+pod+"/eviction", "-f", body)
}

// kill kills the process of a program on the node, and waits until it is gone.
func (c *site) kill(program string) {
	c.t.Helper()
	pid := c.pid(program)
	if pid == 0 {
		c.t.Fatalf("there is no %s on the node", program)
	}
	c.must(syscall.Kill(pid, syscall.SIGKILL))
	c.s.Await(program+" to be gone", patience, func() bool { return realenv.Stat(pid) == nil || realenv.Stat(pid)[0] == "Z" })
}

// pid is a process on the node whose program has that name, or whose first argument has; 0 where there is none.
func (c *site) pid(program string) int {
	c.t.Helper()
	init, err := os.ReadFile(filepath.Join(c.k.Dir, "init"))
	c.must(err)
	dirs, err := filepath.Glob("/proc/[0-9]*")
	c.must(err)
	for _, dir := range dirs {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		guard := len(args) > 1 && args[1] == "guard-quotas"
		is := filepath.Base(args[0]) == program && !guard || guard && program == args[1]
		if pid := mustInt(filepath.Base(dir)); is && below(pid, mustInt(strings.TrimSpace(string(init)))) {
			return pid
		}
	}
	return 0
}

// below reports whether a process runs and descends from another, in whatever namespace it is.
func below(pid, root int) bool {
	if stat := realenv.Stat(pid); stat == nil || stat[0] == "Z" {
		return false
	}
	for pid > 1 && pid != root {
		pid = realenv.Parent(pid)
	}
	return pid == root
}

func mustInt(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
