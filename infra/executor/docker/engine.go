package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/client"
	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// askLimit bounds a question to the Docker daemon that it answers from memory,
// workLimit one for which it has to do something.
const (
	askLimit  = 5 * time.Second
	workLimit = time.Minute
)

// Engine is a Docker daemon on this machine that Pacer can use. It is safe for
// concurrent use.
type Engine struct {
	client *client.Client
	// socket is the path of the daemon's socket.
	socket  string
	version string
	// cgroups is "1" or "2", systemd tells its cgroup driver.
	cgroups string
	systemd bool
}

// Find returns the Docker daemon at address ("" is what DOCKER_HOST says, else
// Docker's own default). Its error is one line that says why there is none to
// use.
func Find(ctx context.Context, address string) (*Engine, error) {
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if address != "" {
		options = append(options, client.WithHost(address))
	}
	c, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	e := &Engine{client: c}
	if err := e.look(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("docker: %w", err), c.Close())
	}
	return e, nil
}

// look asks the daemon what Pacer has to know of it.
func (e *Engine) look(ctx context.Context) error {
	at, err := url.Parse(e.client.DaemonHost())
	if err != nil || at.Scheme != "unix" {
		return fmt.Errorf("the daemon at %s may be on another machine: containers are started through a unix socket only",
			e.client.DaemonHost())
	}
	e.socket = at.Path
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	info, err := e.client.Info(ctx)
	if err != nil {
		return e.explain(err)
	}
	if info.OSType != "linux" || slices.ContainsFunc(info.SecurityOptions, func(o string) bool {
		return strings.Contains(o, "name=rootless")
	}) {
		return errors.New("a rootless daemon cannot put containers into Pacer's groups: use one that runs as root")
	}
	if slices.ContainsFunc(info.SecurityOptions, func(o string) bool { return strings.Contains(o, "name=userns") }) {
		return errors.New("the daemon maps users (userns-remap): executors could not write their files")
	}
	e.version, e.cgroups, e.systemd = info.ServerVersion, info.CgroupVersion, info.CgroupDriver == "systemd"
	e.cgroups = cmp.Or(e.cgroups, "1") // Daemons before version 20.10 know no other and do not say.
	return nil
}

// Systemd reports whether containers' groups are kept by systemd: their parents
// have to be slices then (cgroup.SliceParent).
func (e *Engine) Systemd() bool { return e.systemd }

// String names the daemon for the user.
func (e *Engine) String() string { return "Docker " + e.version }

// Close closes the connections to the daemon.
func (e *Engine) Close() error { return e.client.Close() }

// explain turns what the client says into one line for the user.
func (e *Engine) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case client.IsErrConnectionFailed(err):
		return api.Errorf(api.KindTransient, "the Docker daemon at %s is gone", e.client.DaemonHost())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the Docker daemon at %s does not answer: %w", e.client.DaemonHost(), err)
	}
	return err
}

// isGone says that there is no daemon, or none that answers in time.
func isGone(err error) bool {
	return client.IsErrConnectionFailed(err) || errors.Is(err, context.DeadlineExceeded) ||
		api.KindOf(err) == api.KindTransient
}

// incarnation is the process id of who listens on the daemon's socket, 0 when
// nobody does: another one after a restart, unless systemd holds the socket for
// the daemon.
func (e *Engine) incarnation(ctx context.Context) int32 {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	conn, err := d.DialContext(ctx, "unix", e.socket)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	var peer *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if controlErr != nil || err != nil {
		return 0
	}
	return peer.Pid
}
