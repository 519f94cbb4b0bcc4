package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/sparkpacer/pacer/cgroup"
	"github.com/sparkpacer/pacer/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/executor"
	"github.com/sparkpacer/pacer/executor/docker"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/units"
)

// quotaPairs is how often a quota is changed in each of the two ways.
const quotaPairs = 50

// dockerUpdate times, in pairs on one running container, Pacer's write of a
// quota against Docker's update of one, both until the new quota is in force. It
// speaks to the daemon itself: the command `docker update` would take longer.
func dockerUpdate(t testing.TB, add adder) {
	engine, err := docker.Find(t.Context(), "")
	if err != nil {
		t.Skipf("needs a Docker daemon: %v", err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	node := fmt.Sprintf("bench-%d", os.Getpid())
	parent := "pacer/node-" + node
	if engine.Systemd() {
		parent = cgroup.SliceParent(node)
	}
	groups := cgrouptest.Real(t, parent)
	group := startContainer(t, engine, groups, node)
	daemon, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	var direct, update, ratios []float64
	for i := range quotaPairs {
		quota := units.Cores(0.25 + 0.01*float64(i))
		begin := time.Now()
		if err := group.SetQuota(quota); err != nil {
			t.Fatal(err)
		}
		ours := time.Since(begin)
		begin = time.Now()
		_, err := daemon.ContainerUpdate(t.Context(), "pacer-"+node+"-app-1-1", container.UpdateConfig{
			Resources: container.Resources{CPUPeriod: cgroup.Period.Microseconds(), CPUQuota: int64(float64(quota) * float64(cgroup.Period.Microseconds()))}})
		if err != nil {
			t.Fatal(err)
		}
		theirs := time.Since(begin)
		direct, update = append(direct, float64(ours.Nanoseconds())/1e3), append(update, float64(theirs.Nanoseconds())/1e3)
		ratios = append(ratios, float64(theirs)/float64(ours))
	}
	add("quota.direct_us", benchline.Median(direct), "us")
	add("quota.docker_ratio", benchline.Median(ratios), "ratio")
	add("quota.docker_update_us", benchline.Median(update), "us")
}

// startContainer starts an idle executor and returns its group.
func startContainer(t testing.TB, engine *docker.Engine, groups *cgroup.Hierarchy, node string) *cgroup.Group {
	t.Helper()
	layout := executor.Layout{Root: filepath.Join(t.TempDir(), "work")}
	runtime, err := docker.New(docker.Config{Engine: engine, Layout: layout, Groups: groups, Node: node})
	if err != nil {
		t.Fatal(err)
	}
	group, err := groups.Group(cgroup.GroupName("app-1", "1"))
	if err != nil {
		t.Fatal(err)
	}
	user, err := executor.CurrentUser()
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.Start(t.Context(), executor.Spec{App: "app-1", ID: "1", Group: group, User: user,
		CommandLine: executor.CommandLine{Args: []string{"/bin/sleep", "600"}, Env: []string{"PATH=/usr/bin:/bin"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(runtime.Stop(context.Background(), h), runtime.Remove(h)); err != nil {
			t.Error(err)
		}
	})
	return group
}
