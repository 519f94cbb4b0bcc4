package daemon_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/daemon"
)

func TestRuntimeFaults(t *testing.T) {
	n := nodeConfig()
	n.Mounts = "data,/"
	err := n.Validate()
	for _, want := range []string{`mount "data"`, `mount "/"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	n = nodeConfig()
	n.Runtime, n.Image = daemon.RuntimeProcess, "spark:4"
	if err := n.Validate(); err == nil || !strings.Contains(err.Error(), "image: executors that run as processes have none") {
		t.Errorf("an image for processes: %v", err)
	}
}

// Without a Docker daemon executors run as processes, unless they must not.
func TestRuntimeWithoutDocker(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
	w, text := newWorld(t), &logs{}
	n := w.node(t)
	n.Deps.Runtime, n.Logger = nil, text.logger()
	d, err := daemon.NewNode(n)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(text.String(), "executors run as processes") || !strings.Contains(text.String(), "/no/such/docker.sock is gone") {
		t.Errorf("log: %s", text)
	}
	for _, change := range []func(*daemon.NodeConfig){
		func(c *daemon.NodeConfig) { c.Runtime = daemon.RuntimeDocker },
		func(c *daemon.NodeConfig) { c.Image = "spark:4" },
	} {
		n := w.node(t)
		n.Deps.Runtime = nil
		change(&n)
		if d, err := daemon.NewNode(n); err == nil || !strings.Contains(err.Error(), "docker: the Docker daemon at unix:///no/such/docker.sock is gone") {
			t.Errorf("no error: %v, %v", d, err)
		}
	}
}
