package attached_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/units"
)

const (
	yarnGroup = "/hadoop-yarn/container_e17_1700000000000_0001_01_000002"
	uid       = "2f6a1f0e-5d3c-4b1a-9c57-0a1b2c3d4e5f"
	uidSlice  = "2f6a1f0e_5d3c_4b1a_9c57_0a1b2c3d4e5f"
	container = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
	inSlices  = "/kubepods.slice/kubepods-"
)

// layouts are the ways in which managers and container runtimes have an executor's group: where a
// process is, and which group is bounded for it ("" one of Pacer's).
var layouts = []struct {
	name, in, group string
	class           string
	us              int64 // The quota found, -1 for none.
	period          int64
	unguarded       bool
	unpaced, cpus   string
}{
	{name: "yarn default", in: "/system.slice/hadoop-yarn-nodemanager.service", class: yarnClass, us: -1, unguarded: true},
	{name: "yarn default, in the root group", in: "/", class: yarnClass, us: -1, unguarded: true},
	{name: "yarn default, a NodeManager in a container", in: "/docker/" + container, class: yarnClass, us: -1, unguarded: true},
	{name: "yarn weights", in: yarnGroup, group: yarnGroup, class: yarnClass, us: -1, period: 100000},
	{name: "yarn strict", in: yarnGroup, group: yarnGroup, class: yarnClass, us: 1000000, period: 500000},
	{name: "yarn, docker containers", in: yarnGroup + "/" + container, group: yarnGroup, class: yarnClass, us: 200000, period: 100000},
	{name: "yarn in a hierarchy of its own", in: "/yarn/prod" + strings.TrimPrefix(yarnGroup, "/hadoop-yarn"),
		group: "/yarn/prod" + strings.TrimPrefix(yarnGroup, "/hadoop-yarn"), class: yarnClass, us: -1, period: 100000},
	{name: "kubepods, cgroupfs, guaranteed", in: "/kubepods/pod" + uid + "/" + container, group: "/kubepods/pod" + uid + "/" + container,
		class: k8sClass, us: 200000, period: 100000},
	{name: "kubepods, cgroupfs, burstable", in: "/kubepods/burstable/pod" + uid + "/" + container,
		group: "/kubepods/burstable/pod" + uid + "/" + container, class: k8sClass, us: 150000, period: 100000},
	{name: "kubepods, cgroupfs, best effort", in: "/kubepods/besteffort/pod" + uid + "/" + container,
		group: "/kubepods/besteffort/pod" + uid + "/" + container, class: k8sClass, us: -1, period: 100000, unguarded: true},
	{name: "kubepods, systemd, containerd, guaranteed", in: inSlices + "pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope",
		group: inSlices + "pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope", class: k8sClass, us: 200000, period: 100000},
	{name: "kubepods, systemd, containerd, burstable",
		in:    inSlices + "burstable.slice/kubepods-burstable-pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope",
		group: inSlices + "burstable.slice/kubepods-burstable-pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope",
		class: k8sClass, us: 50000, period: 100000},
	{name: "kubepods, systemd, containerd, best effort",
		in:    inSlices + "besteffort.slice/kubepods-besteffort-pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope",
		group: inSlices + "besteffort.slice/kubepods-besteffort-pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope",
		class: k8sClass, us: -1, period: 100000, unguarded: true},
	{name: "kubepods, systemd, CRI-O with crun",
		in:    inSlices + "burstable.slice/kubepods-burstable-pod" + uidSlice + ".slice/crio-" + container + ".scope/container",
		group: inSlices + "burstable.slice/kubepods-burstable-pod" + uidSlice + ".slice/crio-" + container + ".scope",
		class: k8sClass, us: 120000, period: 100000},
	{name: "kubepods, systemd, Docker", in: inSlices + "pod" + uidSlice + ".slice/docker-" + container + ".scope",
		group: inSlices + "pod" + uidSlice + ".slice/docker-" + container + ".scope", class: k8sClass, us: 110000, period: 100000},
	{name: "kubepods, containerd that knows no slices",
		in:    "/system.slice/containerd.service/kubepods-burstable-pod" + uidSlice + ".slice:cri-containerd:" + container,
		group: "/system.slice/containerd.service/kubepods-burstable-pod" + uidSlice + ".slice:cri-containerd:" + container,
		class: k8sClass, us: 110000, period: 100000, unguarded: true},
	{name: "kubepods in kind", in: "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + uidSlice + ".slice/cri-containerd-" +
		container + ".scope", group: "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + uidSlice + ".slice/cri-containerd-" +
		container + ".scope", class: k8sClass, us: 110000, period: 100000},
	{name: "kubepods, CPUs of its own", in: "/kubepods/pod" + uid + "/" + container, group: "/kubepods/pod" + uid + "/" + container,
		class: k8sClass, us: 200000, period: 100000, cpus: "2-3", unpaced: "its pod has CPUs of its own"},
	{name: "kubepods below a kubelet's cgroupRoot", in: "/site/k8s/kubepods/burstable/pod" + uid + "/" + container,
		group: "/site/k8s/kubepods/burstable/pod" + uid + "/" + container, class: k8sClass, us: 150000, period: 100000},
	{name: "a kubelet whose groups have other names", in: "/tasks/7f3a/executor", class: k8sClass, us: -1,
		unpaced: "its group /tasks/7f3a/executor is not known to be its container's alone"},
	{name: "a pod whose container is not seen", in: "/user.slice", class: k8sClass, us: -1, unpaced: "not known to be its container's alone"},
}

// Every layout in every tree: the right group is held, is bounded by what was found, and is as it was
// when it is let go, by the runtime as by a guard.
func TestLayouts(t *testing.T) {
	t.Logf("attach.layouts %d", len(cgrouptest.Layouts())*len(layouts))
	for _, tree := range cgrouptest.Layouts() {
		for _, l := range layouts {
			for _, killed := range []bool{false, true} {
				m := newMachine(t, tree)
				fail := func(format string, args ...any) {
					t.Helper()
					t.Errorf(string(tree)+", "+l.name+": "+format, args...)
				}
				everywhere := l.class == k8sClass || tree == cgrouptest.V1Joined
				if l.group != "" {
					m.tree.SetQuota(t, l.group, l.us, l.period)
				}
				m.tree.Use(t, l.in, 3, 0)
				asked := 2.0 // As many as it has cores, or as it may use.
				if l.us > 0 {
					asked = min(asked, float64(l.us)/float64(l.period))
				}
				if strings.Contains(l.in, "besteffort") {
					asked = 0
				}
				if l.class == k8sClass {
					m.requests(t, l.group, asked, false)
				} else if l.group != "" {
					m.weigh(t, l.group, int(asked*1024), int(asked*100))
				}
				m.manager(t, 4200)
				m.run(t, process{pid: 4242, parent: 4200, session: 4242, args: command(l.class, "1"), groups: m.in(l.in, everywhere), cpus: l.cpus})
				m.run(t, process{pid: 4243, parent: 4242, session: 4242, args: []string{"python3"}, groups: m.in(l.in, everywhere)})
				m.kernelHas(t, l.in, "4242\n4243\n")
				r := m.runtime(t)
				h, err := r.Start(t.Context(), spec("1"))
				if err != nil {
					t.Fatalf("%s, %s: %v", tree, l.name, err)
				}
				x := r.Of(h)
				if l.unguarded != x.Unguarded || (l.unpaced == "") != (x.Unpaced == "") || !strings.Contains(x.Unpaced, l.unpaced) {
					fail("unguarded %v, unpaced %q", x.Unguarded, x.Unpaced)
				}
				if x.Group == nil {
					if l.unpaced == "" {
						fail("no group is held")
					}
					continue
				}
				own := parent + "/" + cgroup.GroupName(app, "1")
				bounded := l.group
				if bounded == "" {
					bounded = own
					if members := m.tree.Read(t, own, "cgroup.procs"); members != "4242\n4243" {
						fail("%q were moved", members)
					}
				}
				ceiling := units.Unlimited
				if l.us > 0 {
					ceiling = units.Cores(float64(l.us) / float64(l.period))
				}
				if got := x.Group.Ceiling(); got != ceiling {
					fail("ceiling %v, want %v", got, ceiling)
				}
				if err := x.Group.SetQuota(0.4); err != nil {
					t.Fatal(err)
				}
				if q, err := x.Group.Quota(); err != nil || q < 0.399 || q > 0.401 {
					fail("quota %v, %v", q, err)
				}
				quota, period := "cpu.cfs_quota_us", "cpu.cfs_period_us"
				if tree == cgrouptest.V2 {
					quota, period = "cpu.max", "cpu.max"
				}
				if text := m.tree.Read(t, bounded, quota); !strings.HasPrefix(text, "39997") {
					fail("%q is in force", text)
				}
				if killed {
					if err := m.putBack(); err != nil {
						t.Fatal(err)
					}
				} else if err := r.Stop(t.Context(), h); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(filepath.Dir(m.tree.Path(own, "cpu.stat"))); !os.IsNotExist(err) {
					fail("Pacer's group is left: %v", err)
				}
				if l.group == "" {
					continue
				}
				q, p := m.tree.Read(t, bounded, quota), m.tree.Read(t, bounded, period)
				wantQ, wantP := strconv.FormatInt(l.us, 10), strconv.FormatInt(l.period, 10)
				if tree == cgrouptest.V2 {
					wantQ = strings.Replace(wantQ, "-1", "max", 1) + " " + wantP
					wantP = wantQ
				}
				if q != wantQ || p != wantP {
					fail("%q and %q were put back, want %q and %q", q, p, wantQ, wantP)
				}
			}
		}
	}
}

// ofRequests are the shares of v1 and the weights of v2, of an older kubelet and of one from 1.35 on, for so many cores.
var ofRequests = map[float64][3]int{0: {2, 1, 1}, 0.5: {512, 20, 59}, 0.9: {921, 36, 93}, 1: {1024, 39, 100}, 1.1: {1126, 43, 108},
	1.2: {1228, 47, 116}, 1.5: {1536, 59, 138}, 2: {2048, 79, 174}, 2.5: {2560, 98, 208}, 15: {15360, 586, 893}}

// weigh gives a group its weight.
func (m *machine) weigh(t *testing.T, group string, shares, weight int) {
	t.Helper()
	path, text := m.tree.Path(group, "cpu.shares"), strconv.Itoa(shares)
	if m.layout == cgrouptest.V2 {
		path, text = m.tree.Path(group, "cpu.weight"), strconv.Itoa(weight)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, text+"\n")
}

// requests has a pod's container request so many cores of a kubelet that has 15 of the machine's 16 for pods.
func (m *machine) requests(t *testing.T, container string, cores float64, newer bool) {
	t.Helper()
	if container == "" {
		return
	}
	by := 1
	if newer {
		by = 2
	}
	all, of := ofRequests[15], ofRequests[cores]
	pods := container[:strings.Index(container, "kubepods")] + "kubepods"
	if strings.HasPrefix(container[len(pods):], ".slice") {
		pods += ".slice"
	}
	m.weigh(t, pods, all[0], all[by])
	m.weigh(t, filepath.Dir(container), of[0], of[by])
	m.weigh(t, container, of[0], of[by])
}

// What a manager weighs an executor's group for is guaranteed, and it is unguarded where that is less than it can use.
func TestWhatIsGuaranteed(t *testing.T) {
	burstable := inSlices + "burstable.slice/kubepods-burstable-pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope"
	for _, c := range []struct {
		name      string
		requests  float64
		us        int64
		sidecar   float64
		cores     units.Cores
		unguarded bool
	}{
		{name: "a request below the cores and the limit", requests: 0.5, us: 200000, cores: 0.5, unguarded: true},
		{name: "the same without a limit", requests: 0.5, us: -1, cores: 0.5, unguarded: true},
		{name: "a limit as low as the request", requests: 0.5, us: 50000, cores: 0.5},
		{name: "a request of thousandths, and that limit", requests: 0.9, us: 90000, cores: 0.9},
		{name: "a request for its cores", requests: 2, us: -1, cores: 2},
		{name: "a request for more", requests: 2.5, us: 400000, cores: 2.5},
		{name: "no request", requests: 0, us: 200000, unguarded: true},
		{name: "a pod that another container has half of", requests: 2, us: -1, sidecar: 2, cores: 1, unguarded: true},
	} {
		for _, tree := range cgrouptest.Layouts() {
			for _, newer := range []bool{false, true} {
				m := newMachine(t, tree)
				m.tree.SetQuota(t, burstable, c.us, 100000)
				m.tree.Use(t, burstable, 3, 0)
				m.requests(t, burstable, c.requests, newer)
				if c.sidecar > 0 {
					by := ofRequests[c.sidecar]
					weight := by[1]
					if newer {
						weight = by[2]
					}
					m.weigh(t, filepath.Dir(burstable)+"/cri-containerd-sidecar.scope", by[0], weight)
				}
				m.weigh(t, filepath.Dir(burstable)+"/cri-containerd-sandbox.scope", 2, 1)
				m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(k8sClass, "1"), groups: m.in(burstable, true)})
				r := m.runtime(t)
				h, err := r.Start(t.Context(), spec("1"))
				if err != nil {
					t.Fatal(err)
				}
				again := m.runtime(t)
				if _, err := again.Recover(); err != nil {
					t.Fatal(err)
				}
				for how, x := range map[string]*attached.Executor{"found": r.Of(h), "recovered": again.Of(h)} {
					if x.Unguarded != c.unguarded || x.Guaranteed < c.cores-0.002 || x.Guaranteed > c.cores+0.03 || x.Unpaced != "" {
						t.Errorf("%s on %s, newer %t, %s: guaranteed %v, unguarded %t, %q", c.name, tree, newer, how, x.Guaranteed, x.Unguarded, x.Unpaced)
					}
				}
			}
		}
	}
}

// A YARN that does not schedule by CPU gives each container a vcore, whatever its executor has.
func TestAVcoreForTwoCoresIsNotGuaranteed(t *testing.T) {
	for _, tree := range cgrouptest.Layouts() {
		for vcores, unguarded := range map[int]bool{1: true, 2: false, 3: false} {
			m := newMachine(t, tree)
			m.tree.SetQuota(t, yarnGroup, -1, 100000)
			m.tree.Use(t, yarnGroup, 3, 0)
			m.weigh(t, yarnGroup, 1024*vcores, 100*vcores)
			m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true)})
			r := m.runtime(t)
			h, err := r.Start(t.Context(), spec("1"))
			if err != nil {
				t.Fatal(err)
			}
			if x := r.Of(h); x.Unguarded != unguarded || x.Guaranteed != units.Cores(vcores) {
				t.Errorf("%s, %d vcores: guaranteed %v, unguarded %t", tree, vcores, x.Guaranteed, x.Unguarded)
			}
		}
	}
}

// In v2 a move would leave the limit on a NodeManager's memory behind.
func TestAMemoryLimitIsNotLeftBehind(t *testing.T) {
	m := newMachine(t, cgrouptest.V2)
	m.tree.Use(t, "/yarn.slice/nodemanager.service", 0, 0)
	write(t, m.tree.Path("/yarn.slice", "memory.max"), "8589934592\n")
	m.manager(t, 4200)
	m.run(t, process{pid: 4242, parent: 4200, session: 4242, args: command(yarnClass, "1"), groups: m.in("/yarn.slice/nodemanager.service", true)})
	r := m.runtime(t)
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	if x := r.Of(h); x.Group != nil || !strings.Contains(x.Unpaced, "limits memory too") {
		t.Errorf("unpaced %q", x.Unpaced)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
