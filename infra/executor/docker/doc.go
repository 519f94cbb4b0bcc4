// Package docker is the executor runtime that puts each executor into a Docker
// container. Nothing else in Pacer knows Docker.
//
// # Concepts
//
// An Engine is a Docker daemon on this machine. A Runtime is executor.Process whose processes the Engine starts: files,
// handles, watching and stopping are the same code. So an executor is polled by its process's descriptor in 1 us, and
// is watched, stopped and paced while there is no daemon. Docker is asked when a container starts, when one has ended
// (how), and when it is removed.
//
// # Groups
//
// The container's cgroup parent is the executor's own group, which Pacer makes
// before the start: /pacer/node-NAME/APP-EXEC, with the container in
// /pacer/node-NAME/APP-EXEC/ID. So the quota written to the executor's group binds
// the container, one write of some microseconds, and the daemon is not asked. A
// quota that docker update writes to the container's group binds as well: the
// executor's group has it in sight (cgroup.Group.LookInside), so it is another
// writer like any (package node). A daemon with the systemd driver takes slices as
// parents only: the groups are then slices,
// pacer.slice/pacer-NAME.slice/pacer-NAME-APP_EXEC.slice, with the scope
// docker-ID.scope inside (cgroup.SliceParent, cgroup.ContainerPath).
//
// # A container
//
//	image       HostImage: empty, this machine's /usr, /lib, /bin, /etc, Spark,
//	            Java, Python environment and class path are mounted read-only; or
//	            a user's own image with Spark of the driver's version in it
//	mounts      at the same paths as outside; the executor's directory and the
//	            application's local directories writable; of what the command line
//	            names only what the executor's user can reach outside too: opened
//	            as that user and, where the node controller is root, mounted for
//	            Docker below mounts/ in the layout's root until the container has
//	            started, so that no link that changes leads it elsewhere
//	network     the host's
//	processes   ids of its own: the executor is the first process and sees no others
//	user        Spec.User, no capabilities, no new privileges; its name is in a list
//	            of users in the place of the image's
//	bounds      on processes, open files and core dumps
//	memory      CommandLine.Memory = heap + overhead + off-heap, no swap
//	labels      node, application, executor, work directory
//
// Its first program is a shell that opens the log files of executor.Layout, waits on a pipe until the runtime has taken
// hold of the process, and becomes the executor. Logs need no daemon and survive every restart.
//
// # How executors end
//
// By themselves ("exit status 1"); stopped by Pacer ("killed by signal 15");
// killed by the kernel for lack of memory; from outside; with a restart of the
// daemon; with the daemon, which is gone; removed from outside. That a daemon was
// restarted is told by who listens on its socket, so not where systemd does.
// Without live-restore a daemon that stops ends its containers.
//
// # What the caller does
//
// It calls Find, gives groups below cgroup.SliceParent if Engine.Systemd, and
// uses Runtime as package executor says. For a user's own image it asks
// Engine.Spark where Spark is before it makes the command line. Starting a
// container takes some 0.5 s. It runs in the daemon's mount name space, or in one
// whose mounts the daemon sees. The package pulls no images.
package docker
