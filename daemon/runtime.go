package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/docker"
)

// The values of NodeConfig.Runtime.
const (
	RuntimeAuto    = "auto"
	RuntimeDocker  = "docker"
	RuntimeProcess = "process"
)

func (c NodeConfig) validateRuntime() error {
	var faults []error
	if c.Runtime == RuntimeProcess && c.Image != "" {
		faults = append(faults, errors.New("image: executors that run as processes have none"))
	}
	_, err := docker.ParseMounts(c.Mounts)
	return errors.Join(append(faults, err)...)
}

// dockerLimit is how long a node controller that starts waits for Docker.
const dockerLimit = 5 * time.Second

// findDocker looks for a Docker daemon if executors are to run in containers.
// Where they merely may, none is no fault.
func (n *NodeDaemon) findDocker() error {
	if n.deps.Runtime != nil || n.cfg.Attach || n.cfg.Runtime == RuntimeProcess {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dockerLimit)
	defer cancel()
	engine, err := docker.Find(ctx, "")
	if err != nil {
		return n.withoutDocker(err)
	}
	n.docker = engine
	n.undo.add(engine.Close)
	return nil
}

// withoutDocker is err where executors have to run in containers; elsewhere they
// run as processes.
func (n *NodeDaemon) withoutDocker(err error) error {
	if n.cfg.Runtime == RuntimeDocker || n.cfg.Image != "" {
		return err
	}
	n.docker = nil
	n.log.Info("executors run as processes", "reason", err)
	return nil
}

// cgroupParent is the group of all executors of this node.
func (n *NodeDaemon) cgroupParent() string {
	switch {
	case n.cfg.CgroupParent != "":
		return n.cfg.CgroupParent
	case n.docker != nil && n.docker.Systemd():
		return cgroup.SliceParent("node_" + n.cfg.Name)
	}
	return cgroup.NodeParent(n.cfg.Name)
}

// runtime makes the executor runtime.
func (n *NodeDaemon) runtime() (executor.Runtime, error) {
	if n.deps.Runtime != nil {
		return n.deps.Runtime(n.layout, n.groups)
	}
	if n.docker != nil {
		mounts, err := docker.ParseMounts(n.cfg.Mounts)
		if err != nil {
			return nil, err
		}
		r, err := docker.New(docker.Config{Engine: n.docker, Layout: n.layout, Groups: n.groups, Node: n.cfg.Name,
			Mounts: mounts})
		if err == nil {
			return r, nil
		}
		if err := n.withoutDocker(err); err != nil {
			return nil, err
		}
	}
	return executor.NewProcess(executor.ProcessConfig{Layout: n.layout, Groups: n.groups})
}

// runsIn ends the line for the user that says ready.
func (n *NodeDaemon) runsIn() string {
	switch {
	case n.deps.Runtime != nil:
		return ""
	case n.cfg.Attach:
		return ", executors are other managers'"
	case n.docker == nil:
		return ", executors are processes"
	case n.cfg.Image == "":
		return fmt.Sprintf(", executors are containers of %v with this machine's Spark", n.docker)
	}
	return fmt.Sprintf(", executors are containers of %v with the image %s", n.docker, n.cfg.Image)
}

// inImage is settings for an executor of a user, with the homes that are in the image of the executors, the
// application's or the node's, if they have one.
func (n *NodeDaemon) inImage(settings executor.NodeSettings, launch api.Launch,
	user executor.Credential) (executor.NodeSettings, error) {
	settings.User = user
	image := cmp.Or(launch.Image, n.cfg.Image)
	if image == "" {
		return settings, nil
	}
	if n.docker == nil {
		return settings, api.Errorf(api.KindInvalid, "spark.pacer.image is %s, but executors are processes on node %s", image,
			n.cfg.Name)
	}
	spark, err := n.docker.Spark(context.Background(), image, launch.SparkVersion)
	if err != nil {
		return settings, api.Errorf(api.KindInvalid, "%v", err)
	}
	settings.Image, settings.SparkHome, settings.JavaHome = image, spark.SparkHome, spark.JavaHome
	return settings, nil
}
