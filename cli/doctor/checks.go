package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/spark"
)

var (
	all     = []Role{Planner, Node, User}
	daemons = []Role{Planner, Node}
	clients = []Role{Node, User}
	node    = []Role{Node}
	user    = []Role{User}
)

const (
	// leastKernel is the first Linux in which a descriptor of a process can be waited on, leastJava is that of Spark 4.
	leastKernel, leastJava = "5.4", "17"
	// firstNice is that of drivers of paced applications.
	firstNice = -10
	kernelArg = "sudo grubby --update-kernel=ALL --args=%s && sudo reboot"
	ownGroups = "docker run --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup ..."
	week      = 7 * 24 * time.Hour
)

// Checks are in the order in which their findings are mended: what comes first is often why others fail.
var Checks = []Check{
	{"configuration", all, "pacer config validate", func(m Machine) Finding {
		return of(m.Faults, Fault, "without a fault")
	}},
	{"clock", all, "sudo timedatectl set-ntp true", func(m Machine) Finding {
		if f := each(slices.Concat(m.Credentials, m.Certificates), "", m.begins); f.Status == Fault {
			return f
		}
		return unless(m.Synchronized.Is, m.Synchronized.Err, "it follows another one", "it follows no other one")
	}},
	{"kernel", node, "sudo apt-get install linux-image-generic && sudo reboot", func(m Machine) Finding {
		return atLeast(Fault, "Linux", m.Kernel, leastKernel)
	}},
	{"cgroup-version", node, fmt.Sprintf(kernelArg, "systemd.unified_cgroup_hierarchy=1"), groups(func(s survey) Finding {
		return unless(s.Version != cgroup.V1, nil, "v2", "v1: promised memory is protected less, no executor has a pressure")
	})},
	{"cgroup-controllers", node, fmt.Sprintf(kernelArg, "cgroup_enable=memory"), groups(func(s survey) Finding {
		return unless(s.Memory, nil, "cpu and memory", "no memory: what executors take is neither limited nor protected")
	})},
	{"cgroup-namespace", node, ownGroups, groups(func(s survey) Finding {
		return unless(!s.Apart, nil, "the machine's", "one of its own: other writers are found late, YARN's not at all")
	})},
	{"cgroup-rights", node, "sudo nodecontroller", groups(func(s survey) Finding {
		if s.Denied != nil { // Nothing is unseen: as this user a node cannot work.
			return found(Fault, "%v", s.Denied)
		}
		return found(OK, "Pacer's groups can be made")
	})},
	{"docker", node, "sudo systemctl start docker", func(m Machine) Finding {
		switch n := m.Config.Node; {
		case n.Attach || n.Runtime == daemon.RuntimeProcess:
			return found(OK, "not needed here")
		case n.Runtime == daemon.RuntimeDocker || n.Image != "":
			return of(m.Docker.Err, Fault, m.Docker.Is)
		}
		return of(m.Docker.Err, OK, m.Docker.Is)
	}},
	{"java", clients, "sudo apt-get install openjdk-17-jre-headless", func(m Machine) Finding {
		return m.program("Java", m.Java, func(p Program) Finding { return atLeast(Fault, "Java", p.Version, leastJava) })
	}},
	{"spark", clients, "pip install pyspark==4.3.0", func(m Machine) Finding {
		return m.program("Spark", m.Spark, func(p Program) Finding {
			return of(api.CheckSpark(p.Version), Fault, "Spark "+p.Version)
		})
	}},
	{"jar", user, "", func(m Machine) Finding {
		f := of(m.Jar.Err, Fault, cmp.Or(m.Jar.Is, "pacer submit brings it"))
		if errors.Is(m.Jar.Err, spark.ErrNoJar) {
			return f.by("make build")
		}
		return f.by("pacer jar install " + m.Spark.Is.Dir)
	}},
	{"python", user, "sudo apt-get install python3", func(m Machine) Finding {
		if m.Python.Err != nil {
			return of(fmt.Errorf("PySpark has no Python: %w", m.Python.Err), Warning, "")
		}
		return atLeast(Warning, "Python", m.Python.Is.Version, leastPython(m.Spark.Is.Version))
	}},
	{"credential", all, "", func(m Machine) Finding {
		return each(m.Credentials, "none is needed", func(t Thing) Finding { return t.there().by(m.issue(t)) })
	}},
	{"credential-end", all, "", func(m Machine) Finding {
		return each(m.Credentials, "none", func(t Thing) Finding { return m.ends(t, 2*week).by(m.issue(t)) })
	}},
	{"certificate", all, "", func(m Machine) Finding {
		return each(m.Certificates, "none is needed", func(t Thing) Finding { return t.there().by(m.renew(t)) })
	}},
	{"certificate-end", all, "", func(m Machine) Finding {
		return each(m.Certificates, "none", func(t Thing) Finding { return m.ends(t, 4*week).by(m.renew(t)) })
	}},
	{"reach", all, "", func(m Machine) Finding {
		return each(m.Servers, "the planner serves itself", func(t Thing) Finding {
			if t.absent() || api.KindOf(t.Err) == api.KindDenied {
				return t.there().by(m.issue(t))
			}
			host, port, _ := net.SplitHostPort(bus.HostPort(t.Path)) // Config has checked it.
			return t.there().by("nc -vz " + host + " " + port)
		})
	}},
	{"payload", all, fmt.Sprintf("echo max_payload: %d | sudo tee -a /etc/nats-server.conf && nats-server --signal reload",
		bus.MaxPayload), func(m Machine) Finding {
		return each(m.Servers, "the planner's own", func(t Thing) Finding {
			if t.Err != nil {
				return found(OK, "not known without a connection")
			}
			return t.roomy()
		})
	}},
	{"versions", user, "pacer nodes", func(m Machine) Finding {
		for _, name := range slices.Sorted(maps.Keys(m.Nodes)) {
			if m.Nodes[name] != m.Release.Is {
				return found(Warning, "node %s is of %s, the planner of %s", name, m.Nodes[name], m.Release.Is).
					by("ssh " + name + " sudo systemctl restart pacer-node")
			}
		}
		if own := m.Config.Planner.Engine.Release; m.Release.Err == nil && m.Release.Is != own {
			return found(Warning, "the planner is of %s, this pacer of %s", m.Release.Is, own).
				by("ssh " + m.host() + " sudo systemctl restart pacer-planner")
		}
		return of(m.Release.Err, Warning, fmt.Sprintf("the planner and %d nodes are of %s", len(m.Nodes), m.Release.Is))
	}},
	{"ports", daemons, "", func(m Machine) Finding {
		return each(m.Ports, "none", func(t Thing) Finding {
			return t.there().by("sudo ss -ltnp 'sport = " + t.Path[strings.LastIndex(t.Path, ":"):] + "'")
		})
	}},
	{"disk", daemons, "", func(m Machine) Finding {
		return each(m.Disks, "none", func(t Thing) Finding { return t.roomy().by("sudo du -xh " + t.Path + " | sort -h") })
	}},
	{"user-ids", node, "sudo nodecontroller --set node.executor-uids=2100000000-2100000999", func(m Machine) Finding {
		return of(m.Users, Fault, "executors have users")
	}},
	{"priority", user, fmt.Sprintf(`echo "$USER - nice %d" | sudo tee -a /etc/security/limits.d/pacer.conf`, firstNice),
		func(m Machine) Finding {
			return unless(m.First.Is, m.First.Err, "drivers of paced applications go first", "they cannot go first")
		}},
	{"yarn", node, "nodecontroller --attach", func(m Machine) Finding {
		switch y, attach := m.YARN.Is, m.Config.Node.Attach; {
		case m.YARN.Err != nil || y.Manager == "" && !attach:
			return of(m.YARN.Err, Warning, "no NodeManager runs")
		case y.Manager == "":
			return found(Warning, "node.attach is set, and no NodeManager runs").by("yarn --daemon start nodemanager")
		case !attach:
			return found(Warning, "a NodeManager runs and node.attach is not set: both give out the same cores")
		case strings.HasPrefix(y.Manager, "/.."):
			return found(Fault, "its cgroups lie outside the name space of this process").by(ownGroups)
		}
		paced := m.YARN.Is.Executors == m.YARN.Is.Apart || m.Cgroups.Is.Version == cgroup.V1
		return unless(paced, nil, "its cgroups are seen", "executors have no cgroups of their own, and are not paced where "+
			"their NodeManager has a limit: set yarn.nodemanager.resource.cpu.enabled").by("yarn --daemon stop nodemanager")
	}},
}

// survey is short for the table.
type survey = cgroup.Survey

func groups(look func(survey) Finding) func(Machine) Finding {
	return func(m Machine) Finding {
		if m.Cgroups.Err != nil {
			return of(m.Cgroups.Err, Fault, "").by("sudo mount -t cgroup2 none " + cgroup.DefaultRoot)
		}
		return look(m.Cgroups.Is)
	}
}

// program looks at Spark or Java, which a node without executors of its own, or with an image for them, does not need.
func (m Machine) program(what string, f Fact[Program], look func(Program) Finding) Finding {
	switch {
	case !m.is(User) && (m.Config.Node.Attach || m.Config.Node.Image != ""):
		return found(OK, "not needed here")
	case f.Err != nil:
		return of(f.Err, Fault, "")
	case f.Is.Version == "":
		return found(Warning, "the version of the %s in %s is not known", what, f.Is.Dir)
	}
	finding := look(f.Is)
	finding.Found += " in " + f.Is.Dir
	return finding
}

func (t Thing) there() Finding {
	f := of(t.Err, Fault, t.Path)
	f.Found = t.Key + ": " + f.Found
	return f
}

// roomy is a fault where a thing has too little, and a warning where a disk soon will.
func (t Thing) roomy() Finding {
	text := fmt.Sprintf("%s: %d MiB at %s", t.Key, t.Has>>20, t.Path)
	switch {
	case t.Err != nil:
		return t.there()
	case t.Has < t.Least:
		return found(Fault, "%s, at least %d are needed", text, t.Least>>20)
	case t.Has < 5*t.Least && t.Least != bus.MaxPayload:
		return found(Warning, "%s", text)
	}
	return found(OK, "%s", text)
}

// begins tells of a clock that is behind: a planner's may be ahead by an hour.
func (m Machine) begins(t Thing) Finding {
	if m.Now.Add(time.Hour).Before(t.From) {
		return found(Fault, "%s begins at %s, the clock says %s", t.Path, stamp(t.From), stamp(m.Now))
	}
	return found(OK, "")
}

// ends looks when a thing ends, soon being when it is to be renewed; not in the first half of its time.
func (m Machine) ends(t Thing, soon time.Duration) Finding {
	switch left := t.Until.Sub(m.Now); {
	case t.Until.IsZero():
		return found(OK, "%s: without end", t.Key)
	case left <= 0:
		return found(Fault, "%s has expired at %s, the clock says %s", t.Path, stamp(t.Until), stamp(m.Now))
	case left < min(soon, t.Until.Sub(t.From)/2):
		return found(Warning, "%s expires at %s", t.Path, stamp(t.Until))
	}
	return found(OK, "%s: until %s", t.Key, stamp(t.Until))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// absent says that a server is to be on this machine, and is not.
func (t Thing) absent() bool {
	return errors.Is(t.Err, bus.ErrNoServer) && bus.IsLoopback(bus.HostPort(t.Path))
}

// issue is how a role comes by a credential.
func (m Machine) issue(t Thing) string {
	switch {
	case t.Role == Planner:
		return "pacer auth nats"
	case slices.ContainsFunc(m.Servers, func(s Thing) bool { return s.Role == t.Role && s.absent() }):
		return "pacer up"
	case t.Role == Node:
		return "pacer auth issue --join --out node.credentials"
	}
	return "pacer auth issue --user $USER --role submit --out user.credentials"
}

// renew is how a machine comes by a certificate, or by the authority of its planner's.
func (m Machine) renew(t Thing) string {
	if strings.HasSuffix(t.Key, "tls-ca") {
		return "scp " + m.host() + ":" + filepath.Join(daemon.SystemStateDir, daemon.TLSDir, bus.AuthorityFile) + " " + t.Path
	}
	return "pacer auth init"
}

// host is the planner's.
func (m Machine) host() string {
	host, _, _ := net.SplitHostPort(bus.HostPort(m.Config.Client.Planner)) // Config has checked it.
	return host
}

// leastPython is the first Python that PySpark of a release takes.
func leastPython(spark string) string {
	if minor := numbers(spark)[1]; spark != "" && minor > 0 {
		return []string{"3.10", "3.10", "3.11"}[min(minor, 3)-1]
	}
	return "3.9"
}

// atLeast compares versions.
func atLeast(s Status, what, version, least string) Finding {
	have, want := numbers(version), numbers(least)
	if slices.Compare(have[:], want[:]) < 0 {
		return found(s, "%s %s: %s or later is needed", what, version, least)
	}
	return found(OK, "%s %s", what, version)
}

// numbers are the first two of a version; what is none is 0.
func numbers(version string) (n [2]int) {
	_, _ = fmt.Sscanf(version, "%d.%d", &n[0], &n[1])
	return n
}
