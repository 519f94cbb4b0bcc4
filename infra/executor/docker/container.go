package docker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/executor"
)

// Labels of every container of Pacer's.
const (
	labelNode     = "io.github.sparkpacer.node"
	labelApp      = "io.github.sparkpacer.application"
	labelExecutor = "io.github.sparkpacer.executor"
	// labelWork is the work directory, which tells apart node controllers that
	// have the same name.
	labelWork = "io.github.sparkpacer.work"
)

// mostProcesses is how many processes and threads a container has at most. A JVM has a few
// hundred, each Python worker a few.
const mostProcesses int64 = 16 << 10

// name is the container's name, for people and for a second start's conflict.
func (r *Runtime) name(s executor.Spec) string {
	return fmt.Sprintf("pacer-%s-%s-%s", r.cfg.Node, s.App, s.ID)
}

// describe says what the container is. Paths that its command line names are put on st.
func (r *Runtime) describe(s executor.Spec, paths executor.Paths, gate string, st *stage) (*container.Config,
	*container.HostConfig, error) {
	parent, err := r.parent(s)
	if err != nil {
		return nil, nil, err
	}
	image, mounts, reads := s.Image, imageMounts, []string(nil)
	if image == "" {
		image, mounts, reads = HostImage, hostMounts, s.Reads
	}
	shown, err := st.show(s.User, mounts(s, paths, r.cfg.Mounts))
	if err != nil {
		return nil, nil, err
	}
	list, err := binds(shown)
	if err != nil {
		return nil, nil, err
	}
	env := s.Env
	if s.Image != "" {
		// Its programs are where the image says.
		env = slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, "PATH=") })
	} else if !slices.ContainsFunc(list, func(m mount.Mount) bool { return m.Target == "/tmp" }) {
		// An empty image has no place for temporary files.
		list = append(list, mount.Mount{Type: mount.TypeBind, Source: paths.Temp, Target: "/tmp"})
	}
	if s.User.Made {
		list = append(list, mount.Mount{Type: mount.TypeBind, Source: paths.Passwd, Target: "/etc/passwd", ReadOnly: true})
	}
	command := append([]string{"/bin/sh", "-c", script, starterName, paths.Stdout, paths.Stderr, gate,
		strconv.Itoa(len(reads))}, reads...)
	config := &container.Config{
		Image: image, Entrypoint: command, Cmd: s.Args, Env: env, WorkingDir: paths.Work,
		User: fmt.Sprintf("%d:%d", s.User.UID, s.User.GID),
		Labels: map[string]string{labelNode: r.cfg.Node, labelApp: string(s.App), labelExecutor: string(s.ID),
			labelWork: r.cfg.Layout.Root},
	}
	host := &container.HostConfig{
		NetworkMode: "host",
		// Without PidMode it has process ids of its own: it sees no other processes, and
		// the JVM is the first of its own, which a JVM can be.
		IpcMode:        "private",
		LogConfig:      container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "64k"}},
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges"},
		ReadonlyRootfs: s.Image == "",
		Mounts:         list,
		OomScoreAdj:    s.OOM,
		Resources: container.Resources{CgroupParent: parent, Memory: int64(s.Memory), MemorySwap: int64(s.Memory),
			PidsLimit: new(mostProcesses), Ulimits: ulimits(s)},
	}
	return config, host, nil
}

// ulimits are the bounds that a container's processes have one by one.
func ulimits(s executor.Spec) []*container.Ulimit {
	limits := []*container.Ulimit{{Name: "core"}}
	// A daemon that may not raise its own limit gives none that is higher.
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err == nil {
		files := int64(min(own.Max, executor.MostOpenFiles))
		limits = append(limits, &container.Ulimit{Name: "nofile", Soft: files, Hard: files})
	}
	if s.File > 0 {
		limits = append(limits, &container.Ulimit{Name: "fsize", Soft: int64(s.File), Hard: int64(s.File)})
	}
	return limits
}

// parent is the executor's own group: its quota binds the container's, which
// Docker makes inside.
func (r *Runtime) parent(s executor.Spec) (string, error) {
	slice, isSlice := s.Group.Slice()
	switch {
	case r.engine.systemd && isSlice:
		return slice, nil
	case r.engine.systemd:
		return "",
			fmt.Errorf(
				"the Docker daemon's cgroup driver is systemd, and %s is no slice: leave cgroup-parent out or give slices",
				s.Group.Path())
	}
	return s.Group.Path(), nil
}
