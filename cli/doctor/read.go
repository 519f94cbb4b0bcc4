package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/docker"
	"github.com/sparkpacer/pacer/spark"
)

// Read reads what m's roles need, as m.Config says. find finds the Spark in a home, with "" that of the user.
func Read(ctx context.Context, m Machine, find func(home string) (Program, error), getenv func(string) string) Machine {
	client, planner, node, home := m.Config.Client, m.Config.Planner, m.Config.Node, ""
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // Without it no kernel is new enough.
	m.Kernel = string(bytes.TrimSpace(kernel))
	state, err := unix.Adjtimex(&unix.Timex{})
	m.Synchronized = Fact[bool]{state != unix.TIME_ERROR, err}
	m.Disks = m.read(readDisk, Thing{Role: Planner, Key: "planner.state", Path: planner.State},
		Thing{Role: Node, Key: "node.work", Path: cmp.Or(node.Work, node.State)})
	m.Certificates = m.read(readCertificate,
		Thing{Role: Planner, Key: "planner.tls-cert", Path: planner.Certificate().Cert},
		Thing{Role: Node, Key: "node.tls-cert", Path: node.TLS.Cert},
		Thing{Role: Node, Key: "node.tls-ca", Path: node.TLS.CA},
		Thing{Role: User, Key: "client.tls-ca", Path: client.TLS.CA})
	ports := []Thing{{Role: Planner, Key: "planner.http", Path: planner.HTTP},
		{Role: Node, Key: "node.http", Path: node.HTTP}}
	if planner.NatsURL == "" {
		ports = append(ports, Thing{Role: Planner, Key: "planner.listen", Path: planner.Listen})
	} else if m.is(Planner) {
		own, err := bus.LoadCredential(cmp.Or(planner.Credentials, daemon.PlannerPath(planner.State)), api.PrincipalPlanner)
		if planner.Credentials == "" && errors.Is(err, fs.ErrNotExist) {
			err = nil // Some servers let everybody in.
		}
		m.connect(Planner, bus.Options{Address: planner.NatsURL, TLS: planner.TLS, Plaintext: planner.Plaintext}, own, err)
	}
	m.Ports = m.read(m.readPort, ports...)
	if m.is(Node) {
		home = node.SparkHome
		m.Cgroups.Is, m.Cgroups.Err = cgroup.Look(node.CgroupRoot, cmp.Or(node.CgroupParent, cgroup.NodeParent(node.Name)))
		m.Docker.Is, m.Docker.Err = findDocker(ctx)
		_, m.Users = node.Users(executor.Layout{})
		m.YARN.Is, m.YARN.Err = findYARN("/proc")
		own, err := nodeCredential(node, client)
		m.connect(Node, bus.Options{Address: node.Planner, TLS: node.TLS, Plaintext: node.Plaintext}, own, err)
	}
	m.Java.Is, m.Java.Err = findJava(cmp.Or(node.JavaHome, getenv("JAVA_HOME")))
	m.Spark.Is, m.Spark.Err = find(home)
	if !m.is(User) {
		return m
	}
	m.Jar.Is, m.Jar.Err = installed(m.Spark.Is.Dir)
	python, err := exec.CommandContext(ctx, cmp.Or(getenv("PYSPARK_PYTHON"), "python3"), "-c",
		"import sys; print('%d.%d' % sys.version_info[:2])").Output()
	m.Python = Fact[Program]{Program{Version: string(bytes.TrimSpace(python))}, err}
	m.First.Is, m.First.Err = mayGoFirst()
	own, err := client.Credential()
	m.connect(User, bus.Options{Address: client.Planner, TLS: client.TLS, Plaintext: client.Plaintext}, own, err,
		func(conn *bus.Conn) {
			ctx, cancel := context.WithTimeout(ctx, client.Timeout)
			defer cancel()
			ping, err := conn.Control(ctx, api.VerbPing, api.ControlRequest{})
			nodes, nodesErr := conn.Control(ctx, api.VerbNodes, api.ControlRequest{})
			m.Release, m.Nodes = Fact[string]{ping.Release, errors.Join(err, nodesErr)}, map[string]string{}
			for _, n := range nodes.Nodes {
				m.Nodes[n.Node] = n.Version
			}
		})
	return m
}

// connect notes a role's credential and its way to the planner, and has others ask there.
func (m *Machine) connect(r Role, o bus.Options, own bus.Credential, err error, ask ...func(*bus.Conn)) {
	o.Credential, o.Name, o.Timeout = own, "pacer doctor", m.Config.Client.Timeout
	server := Thing{Role: r, Key: string(r), Path: o.Address, Least: bus.MaxPayload}
	conn, dialErr := bus.Dial(o)
	if server.Err = dialErr; dialErr == nil {
		defer conn.Close()
		server.Has = conn.Most()
		for _, ask := range ask {
			ask(conn)
		}
	} else if m.Release.Err = dialErr; err == nil && own.Login == "" {
		err = errors.New("there is none for " + o.Address)
	}
	m.Servers = append(m.Servers, server)
	path := cmp.Or(own.Path, "none is needed")
	m.Credentials = append(m.Credentials, Thing{r, string(r), path, own.Issued, own.Until, 0, 0, err})
}

// nodeCredential is a node's own, or that by which it has its own issued.
func nodeCredential(n daemon.NodeConfig, c config.Client) (bus.Credential, error) {
	own, err := bus.LoadCredential(n.CredentialPath(), api.PrincipalNode)
	if !errors.Is(err, fs.ErrNotExist) {
		return own, err
	}
	c.Planner, c.Credentials = n.Planner, ""
	if n.Credentials != "" {
		return bus.LoadCredential(n.Credentials, api.PrincipalJoin, api.PrincipalNode)
	}
	return c.Credential()
}

// read has look fill in the things that there are of m's roles.
func (m Machine) read(look func(*Thing), things ...Thing) (read []Thing) {
	for _, t := range things {
		if m.is(t.Role) && t.Path != "" {
			look(&t)
			read = append(read, t)
		}
	}
	return read
}

func readCertificate(t *Thing) {
	c, err := bus.ReadCertificate(t.Path)
	if t.Err = err; err == nil {
		t.From, t.Until = c.NotBefore, c.NotAfter
	}
}

// readPort looks whether a daemon can listen, or does.
func (m Machine) readPort(t *Thing) {
	state := map[Role]string{Planner: m.Config.Planner.State, Node: m.Config.Node.State}[t.Role]
	runs, unseen := daemon.Running(state, string(t.Role))
	if errors.Is(unseen, fs.ErrNotExist) {
		runs, unseen = daemon.Running(daemon.SystemStateDir, string(t.Role))
	}
	if runs {
		return
	}
	l, err := net.Listen("tcp", t.Path)
	if t.Err = err; err == nil {
		t.Err = l.Close()
	} else if errors.Is(unseen, fs.ErrPermission) {
		t.Err = unseen
	}
}

// readDisk looks at the disk of a directory, or where it will be made.
func readDisk(t *Thing) {
	for path := t.Path; ; path = filepath.Dir(path) {
		free, least, err := daemon.Room(path)
		t.Has, t.Least, t.Err = int64(free), int64(least), err
		if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return
		}
	}
}

func findDocker(ctx context.Context) (string, error) {
	engine, err := docker.Find(ctx, "")
	if err == nil {
		return engine.String(), engine.Close()
	}
	if unix.Access("/var/run/docker.sock", unix.W_OK) == unix.EACCES {
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return "", err
}

// findJava looks at the Java in home, with "" at that of the path; its file release tells the version.
func findJava(home string) (p Program, err error) {
	java := filepath.Join(home, "bin", "java")
	if home == "" {
		java = "java"
	}
	if java, err = exec.LookPath(java); err != nil {
		return Program{Dir: home}, err
	}
	if p.Dir = home; home == "" {
		p.Dir, err = executor.JavaOf(java)
	}
	text, _ := os.ReadFile(filepath.Join(p.Dir, "release")) // Without it the version is not known.
	_, version, _ := strings.Cut(string(text), `JAVA_VERSION="`)
	p.Version, _, _ = strings.Cut(version, `"`)
	return p, err
}

// installed is the jar in a Spark, "" for none.
func installed(home string) (string, error) {
	path := filepath.Join(home, "jars", executor.InstalledJar)
	have, err := os.ReadFile(path)
	switch {
	case len(spark.Jar) == 0:
		return "", spark.ErrNoJar
	case home == "" || errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err == nil && !bytes.Equal(have, spark.Jar):
		err = fmt.Errorf("%s is of another version of Pacer", path)
	}
	return path, err
}

// mayGoFirst reports whether a driver's session may get firstNice, where the kernel divides CPUs by session.
func mayGoFirst() (bool, error) {
	var limit unix.Rlimit
	var may [2]unix.CapUserData
	err := errors.Join(unix.Getrlimit(unix.RLIMIT_NICE, &limit),
		unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &may[0]))
	_, missing := os.Stat("/proc/self/autogroup")
	return missing != nil || limit.Cur >= 20-firstNice || may[0].Effective&(1<<unix.CAP_SYS_NICE) != 0, err
}

// findYARN looks for the NodeManager and for executors among the processes.
func findYARN(proc string) (y YARN, err error) {
	if _, err := os.ReadFile(filepath.Join(proc, "1", "cmdline")); err != nil {
		return y, err // Those of others are hidden.
	}
	lines, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "cmdline"))
	for _, path := range lines {
		line, _ := os.ReadFile(path) // It may have ended.
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cgroup"))
		if bytes.Contains(line, []byte("nodemanager.NodeManager\x00")) {
			y.Manager = cmp.Or(string(bytes.TrimSpace(text[bytes.LastIndex(text, []byte(":/"))+1:])), "/")
		}
		if bytes.Contains(line, []byte("YarnCoarseGrainedExecutorBackend\x00")) {
			y.Executors++
			if bytes.Contains(text, []byte("/container_")) {
				y.Apart++
			}
		}
	}
	return y, err
}
