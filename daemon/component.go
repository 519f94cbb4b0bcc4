package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/node"
)

// drivers start the drivers that a node is to run, beside its executors. They fetch from the planner what these need.
type drivers struct {
	*executors
	node  string
	reach executor.Reach
	// fetch asks the planner, command makes a command line.
	fetch   func(context.Context, api.FetchRequest) (api.FetchReply, error)
	command driverLine
}

// newDrivers are those of a node that has executors; it has a connection when the first one starts.
func (n *NodeDaemon) newDrivers() *drivers {
	return &drivers{executors: n.executors, node: n.cfg.Name, command: n.driverLine,
		reach: executor.Reach{Planner: bus.HostPort(n.cfg.Planner), Plaintext: n.cfg.Plaintext, CA: n.cfg.TLS.CA},
		fetch: func(ctx context.Context, r api.FetchRequest) (api.FetchReply, error) {
			return bus.Fetch(ctx, n.conn, r)
		}}
}

// driverLine makes a driver's command line for its user.
type driverLine func(*api.Component, api.Launch, executor.Paths, executor.Credential,
	executor.Reach) (executor.CommandLine, error)

// lineOf makes command lines of drivers on a node with these settings.
func (n *NodeDaemon) lineOf(settings executor.NodeSettings) driverLine {
	return func(c *api.Component, launch api.Launch, paths executor.Paths, user executor.Credential,
		reach executor.Reach) (executor.CommandLine, error) {
		settings := settings
		if c.Name != api.DriverName {
			settings.User, settings.Image = user, cmp.Or(c.Image, n.cfg.Image)
			if settings.Image != "" && n.docker == nil {
				return executor.CommandLine{}, api.Errorf(api.KindInvalid, "image %s: node %s runs no containers (node.runtime)",
					settings.Image, n.cfg.Name)
			}
			return executor.ProgramCommand(c, paths, settings), nil
		}
		settings, err := n.inImage(settings, launch, user)
		if err != nil {
			return executor.CommandLine{}, err
		}
		return executor.DriverCommand(c, launch, paths, settings, reach)
	}
}

// fetchAgain is how long a start waits between two questions to a planner that does not answer now, fetchFor how
// long it goes on with that.
const fetchAgain, fetchFor = time.Second, 2 * time.Minute

// StartComponent implements node.Components: its files first, then a ticket for the driver, then the program.
func (d *drivers) StartComponent(ctx context.Context, key node.Key, launch api.Launch, c api.Component) error {
	paths, err := d.layout.Paths(key.App, key.ID)
	if err != nil {
		return err
	}
	user, err := d.users.Of(key.App, launch.User)
	if err != nil {
		return err
	}
	if err := d.vacant(ctx, key.App, c.Port); err != nil {
		return api.Errorf(api.KindInvalid, "port %d of component %s is taken on node %s: %v", c.Port, key.ID, d.node, err)
	}
	if err := d.files(ctx, key.App, &c, paths, user); err != nil {
		return errors.Join(err, os.RemoveAll(paths.Files))
	}
	reach := d.reach
	if c.Name == api.DriverName {
		reach.Secret = "pacer-" + rand.Text() + rand.Text()
		if reach.Credentials, err = d.ticket(ctx, key.App, &c, paths, user); err != nil {
			return err
		}
		if reach.CA, err = authority(reach.CA, paths, user); err != nil {
			return err
		}
	}
	line, err := d.command(&c, launch, paths, user, reach)
	if err != nil {
		return err
	}
	group, err := d.groups.Group(cgroup.GroupName(key.App, key.ID))
	if err != nil {
		return err
	}
	spec := executor.Spec{App: key.App, ID: key.ID, CommandLine: line, Group: group, User: user}
	handle, err := d.start(ctx, spec, launch)
	if err != nil {
		return errors.Join(err, group.Remove(context.WithoutCancel(ctx)))
	}
	d.hold(key, handle, group)
	return nil
}

// leaveFor is how long a component of an application that has ended may have its port, leaveAgain between two looks.
const leaveFor, leaveAgain = executor.Grace + 5*time.Second, 100 * time.Millisecond

// vacant says why no program of app can listen at a port, once components of other applications have left it that
// leave.
func (d *drivers) vacant(ctx context.Context, app api.AppID, port int) error {
	others := func() (here bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for key := range d.held {
			here = here || key.App != app && key.ID.Component()
		}
		return here
	}
	for until := time.Now().Add(leaveFor); ; {
		err := vacant(port)
		if err == nil || !others() || time.Now().After(until) || !pause(ctx, leaveAgain) {
			return err
		}
	}
}

// vacant says why no program can listen at a port of this machine; of port 0 it says nothing.
func vacant(port int) error {
	if port == 0 {
		return nil
	}
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return err
	}
	return l.Close()
}

// ask is fetch, again while the planner cannot be heard.
func (d *drivers) ask(ctx context.Context, r api.FetchRequest) (api.FetchReply, error) {
	r.Node = d.node
	until := time.Now().Add(fetchFor)
	for {
		limit, cancel := context.WithTimeout(ctx, logsTimeout)
		reply, err := d.fetch(limit, r)
		cancel()
		if err == nil || api.KindOf(err) != api.KindTransient || ctx.Err() != nil || time.Now().After(until) {
			return reply, err
		}
		if !pause(ctx, fetchAgain) {
			return reply, ctx.Err()
		}
	}
}

// files fetches what a component is started with.
func (d *drivers) files(ctx context.Context, app api.AppID, c *api.Component, paths executor.Paths,
	user executor.Credential) error {
	root, err := paths.PrepareDriver(user)
	if err != nil {
		return err
	}
	defer root.Close()
	for k, f := range c.Files {
		dir := strconv.Itoa(k)
		if c.Name != api.DriverName {
			dir = "." // A program runs where its files are.
		}
		if err := d.file(ctx, app, root, dir, f, user); err != nil {
			return fmt.Errorf("file %s: %w", f.Name, err)
		}
	}
	return nil
}

// file fetches a file into a directory of root, and checks its digest.
func (d *drivers) file(ctx context.Context, app api.AppID, root *os.Root, dir string, f api.ComponentFile,
	user executor.Credential) (err error) {
	if err := root.Mkdir(dir, 0o700); err != nil && dir != "." {
		return err
	}
	out, err := root.OpenFile(path.Join(dir, f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, executor.Give(out, user), out.Close()) }()
	sum := sha256.New()
	for at := int64(0); at < f.Size; {
		reply, err := d.ask(ctx, api.FetchRequest{App: app, File: api.FilePiece{SHA256: f.SHA256, Offset: at}})
		if err != nil {
			return err
		}
		if len(reply.File.Data) == 0 {
			return io.ErrUnexpectedEOF
		}
		if _, err := io.MultiWriter(out, sum).Write(reply.File.Data); err != nil {
			return err
		}
		at += int64(len(reply.File.Data))
	}
	if digest := hex.EncodeToString(sum.Sum(nil)); digest != f.SHA256 {
		return api.Errorf(api.KindInvalid, "the digest of what came is %s, and %s was submitted", digest, f.SHA256)
	}
	parent, err := root.Open(dir) // Its user's already, where it is root.
	if err != nil {
		return err
	}
	return errors.Join(executor.GiveDir(parent, user), parent.Close())
}

// authority is a copy, for the driver's user, of the authorities of the planner's certificate, "" for the system's.
func authority(path string, paths executor.Paths, user executor.Credential) (string, error) {
	if path == "" {
		return "", nil
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the planner's authority: %w", err)
	}
	copied := filepath.Join(paths.Files, "ca.pem")
	return copied, executor.SaveFor(user, copied, body)
}

// ticket has the planner take a ticket for the driver, and returns the file that its secret is in.
func (d *drivers) ticket(ctx context.Context, app api.AppID, c *api.Component, paths executor.Paths,
	user executor.Credential) (string, error) {
	credential := bus.NewCredential(api.Principal{Kind: api.PrincipalTicket, Name: c.Submission}.Login())
	if _, err := d.ask(ctx, api.FetchRequest{App: app, Key: credential.Key()}); err != nil {
		return "", fmt.Errorf("a ticket for the driver: %w", err)
	}
	return paths.Credential, executor.SaveFor(user, paths.Credential, credential.Encode())
}
