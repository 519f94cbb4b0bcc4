package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/spark"
)

var now = time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)

// well is a machine of all roles with which all is well.
func well() Machine {
	cfg := config.Default()
	cfg.Client.Planner, cfg.Planner.Engine.Release = "tls://planner.example:4222", "0.1.0"
	cfg.Node.Planner = cfg.Client.Planner
	year := func(role Role, key, path string) []Thing {
		return []Thing{{Role: role, Key: key, Path: path, From: now.AddDate(0, -11, 0), Until: now.AddDate(1, 0, 0)}}
	}
	day := year(Node, "node", "/etc/pacer/join.key") // By which it joins; it is not told that its day ends.
	day[0].From, day[0].Until = now.Add(-time.Hour), now.Add(23*time.Hour)
	return Machine{Now: now, Roles: all, Config: cfg, Kernel: "6.1.0-18-amd64",
		Cgroups: Fact[cgroup.Survey]{Is: cgroup.Survey{Version: cgroup.V2, Memory: true}}, Docker: Fact[string]{Is: "Docker 28.3.2"},
		Java:   Fact[Program]{Is: Program{"/usr/lib/jvm/17", "17.0.15"}},
		Spark:  Fact[Program]{Is: Program{"/opt/spark", "4.3.0"}},
		Python: Fact[Program]{Is: Program{Version: "3.11"}}, Jar: Fact[string]{Is: "/opt/spark/jars/pacer-spark.jar"},
		Credentials:  append(year(User, "user", "/home/u/cred"), day...),
		Certificates: year(Planner, "planner.tls-cert", "/var/lib/pacer/tls/cert.pem"),
		Servers:      []Thing{{Role: User, Key: "user", Path: "tls://planner.example:4222", Has: bus.MaxPayload, Least: bus.MaxPayload}},
		Ports:        []Thing{{Role: Node, Key: "node.http", Path: "127.0.0.1:4282"}},
		Disks:        []Thing{{Role: Node, Key: "node.work", Path: "/var/lib/pacer", Has: 100 << 30, Least: 1 << 30}},
		Release:      Fact[string]{Is: "0.1.0"}, Nodes: map[string]string{"n1": "0.1.0"},
		Synchronized: Fact[bool]{Is: true}, First: Fact[bool]{Is: true}}
}

// broken are machines with one thing that is broken: what the check of that name says of it.
var broken = []struct {
	check       string
	status      Status
	found, mend string
	how         func(*Machine)
}{
	{"configuration", Fault, "max-pool", "pacer config validate", func(m *Machine) { m.Faults = errors.New("planner.max-pool: 0") }},
	{"clock", Warning, "follows no other", "timedatectl", func(m *Machine) { m.Synchronized.Is = false }},
	{"clock", Fault, "begins at 2026-03-06T05:00:00Z, the clock says 2026-03-04", "timedatectl", func(m *Machine) { m.Credentials[0].From = now.AddDate(0, 0, 2) }},
	{"clock", Fault, "tls/cert.pem begins", "timedatectl", func(m *Machine) { m.Certificates[0].From = now.AddDate(0, 0, 2) }},
	{"kernel", Fault, "Linux 4.19.0: 5.4 or later", "reboot", func(m *Machine) { m.Kernel = "4.19.0" }},
	{"cgroup-version", Warning, "v1", "unified_cgroup_hierarchy", func(m *Machine) { m.Cgroups.Is.Version = cgroup.V1 }},
	{"cgroup-version", Fault, "no cpu controller", "mount -t cgroup2", func(m *Machine) { m.Cgroups.Err = cgroup.ErrUnavailable }},
	{"cgroup-controllers", Warning, "no memory", "cgroup_enable=memory", func(m *Machine) { m.Cgroups.Is.Memory = false }},
	{"cgroup-namespace", Warning, "one of its own", "--cgroupns=host", func(m *Machine) { m.Cgroups.Is.Apart = true }},
	{"cgroup-rights", Fault, "let root grant it", "sudo nodecontroller", func(m *Machine) { m.Cgroups.Is.Denied = errors.New("let root grant it: mkdir") }},
	{"docker", Fault, "is gone", "systemctl start docker", func(m *Machine) {
		m.Config.Node.Runtime, m.Docker.Err = daemon.RuntimeDocker, errors.New("the daemon is gone")
	}},
	{"docker", Fault, "is gone", "systemctl start docker", func(m *Machine) {
		m.Config.Node.Image, m.Docker.Err = "spark:4.3.0", errors.New("the daemon is gone")
	}},
	{"java", Fault, "Java 11.0.2: 17 or later is needed in /usr/lib/jvm", "openjdk-17", func(m *Machine) { m.Java.Is.Version = "11.0.2" }},
	{"java", Fault, "1.8.0_392", "openjdk-17", func(m *Machine) { m.Java.Is.Version = "1.8.0_392" }},
	{"java", Fault, "not found", "openjdk-17", func(m *Machine) { m.Java.Err = errors.New("java: not found") }},
	{"java", Warning, "is not known", "openjdk-17", func(m *Machine) { m.Java.Is.Version = "" }},
	{"spark", Fault, "Spark 3.5.9 is not supported", "pip install pyspark", func(m *Machine) { m.Spark.Is.Version = "3.5.9" }},
	{"spark", Fault, "cannot find spark-submit", "pip install pyspark", func(m *Machine) { m.Spark.Err = errors.New("cannot find spark-submit") }},
	{"jar", Fault, "another version", "pacer jar install /opt/spark", func(m *Machine) { m.Jar.Err = errors.New("it is of another version of Pacer") }},
	{"jar", Fault, "without pacer-spark.jar", "make build", func(m *Machine) { m.Jar.Err = spark.ErrNoJar }},
	{"python", Warning, "Python 3.10: 3.11 or later", "python3", func(m *Machine) { m.Python.Is.Version = "3.10" }},
	{"python", Warning, "has no Python", "python3", func(m *Machine) { m.Python.Err = errors.New("not found") }},
	{"credential", Fault, "user: everybody can read it", "pacer auth issue --user", func(m *Machine) { m.Credentials[0].Err = errors.New("everybody can read it") }},
	{"credential", Fault, "node: ", "pacer auth issue --join", func(m *Machine) { m.Credentials[1].Err = fs.ErrNotExist }},
	{"credential-end", Fault, "has expired at 2026-03-04T04", "pacer auth issue --user", func(m *Machine) { m.Credentials[0].Until = now.Add(-time.Hour) }},
	{"credential-end", Warning, "expires at 2026-03-09", "pacer auth issue --join", func(m *Machine) {
		m.Credentials[1].From, m.Credentials[1].Until = now.AddDate(0, -1, 0), now.AddDate(0, 0, 5)
	}},
	{"certificate", Fault, "holds no certificate", "pacer auth init", func(m *Machine) { m.Certificates[0].Err = errors.New("cert.pem holds no certificate") }},
	{"certificate", Fault, "client.tls-ca: ", "scp planner.example:/var/lib/pacer/tls/ca.pem /etc/ca.pem", func(m *Machine) {
		m.Certificates = append(m.Certificates, Thing{Role: User, Key: "client.tls-ca", Path: "/etc/ca.pem", Err: fs.ErrNotExist})
	}},
	{"credential", Fault, "planner: ", "pacer auth nats", func(m *Machine) {
		m.Credentials = append(m.Credentials, Thing{Role: Planner, Key: "planner", Err: fs.ErrNotExist})
	}},
	{"certificate-end", Fault, "has expired", "pacer auth init", func(m *Machine) { m.Certificates[0].Until = now.Add(-time.Hour) }},
	{"certificate-end", Warning, "expires at", "pacer auth init", func(m *Machine) { m.Certificates[0].Until = now.AddDate(0, 0, 20) }},
	{"reach", Fault, "no planner answers", "nc -vz planner.example 4222", func(m *Machine) { m.Servers[0].Err = errors.New("no planner answers") }},
	{"reach", Fault, "refused", "pacer up", func(m *Machine) { m.Servers[0].Path, m.Servers[0].Err = "127.0.0.1:4222", bus.ErrNoServer }},
	{"reach", Fault, "no planner", "nc -vz 2001:db8::7 4222", func(m *Machine) {
		m.Servers[0].Path, m.Servers[0].Err = "[2001:db8::7]:4222", errors.New("no planner answers")
	}},
	{"reach", Fault, "revoked", "pacer auth issue --user", func(m *Machine) { m.Servers[0].Err = api.Errorf(api.KindDenied, "revoked") }},
	{"payload", Fault, "user: 1 MiB at tls://planner.example:4222, at least 8 are needed", "max_payload: 8388608", func(m *Machine) { m.Servers[0].Has = 1 << 20 }},
	{"versions", Warning, "the planner is of 0.2.0, this pacer of 0.1.0", "ssh planner.example ", func(m *Machine) { m.Release.Is, m.Nodes["n1"] = "0.2.0", "0.2.0" }},
	{"versions", Warning, "node n1 is of 0.0.9", "ssh n1 ", func(m *Machine) { m.Nodes["n1"] = "0.0.9" }},
	{"versions", Warning, "no planner", "pacer nodes", func(m *Machine) { m.Release.Err = errors.New("no planner answers") }},
	{"ports", Fault, "node.http: address already in use", "ss -ltnp 'sport = :4282'", func(m *Machine) { m.Ports[0].Err = errors.New("address already in use") }},
	{"disk", Fault, "1 MiB at /var/lib/pacer, at least 1024", "du -xh /var/lib/pacer", func(m *Machine) { m.Disks[0].Has = 1 << 20 }},
	{"disk", Warning, "2048 MiB", "du -xh", func(m *Machine) { m.Disks[0].Has = 2 << 30 }},
	{"user-ids", Fault, "2000000000 is mallory's", "node.executor-uids=", func(m *Machine) { m.Users = errors.New("user ids: 2000000000 is mallory's") }},
	{"priority", Warning, "cannot go first", "nice -10", func(m *Machine) { m.First.Is = false }},
	{"yarn", Warning, "node.attach is not set", "nodecontroller --attach", func(m *Machine) { m.YARN.Is.Manager = "/yarn" }},
	{"yarn", Warning, "no NodeManager runs", "start nodemanager", func(m *Machine) { m.Config.Node.Attach = true }},
	{"yarn", Fault, "outside", "--cgroupns=host", func(m *Machine) { m.Config.Node.Attach, m.YARN.Is.Manager = true, "/../yarn" }},
	{"yarn", Warning, "no cgroups of their own", "yarn ", func(m *Machine) { m.Config.Node.Attach, m.YARN.Is = true, YARN{"/yarn", 3, 1} }},
}

func TestAllIsWell(t *testing.T) {
	findings := Examine(well())
	if len(findings) != len(Checks) {
		t.Errorf("%d findings of %d checks", len(findings), len(Checks))
	}
	for _, f := range findings {
		if f.Status != OK || f.Mend != "" || f.Unseen || f.Found == "" {
			t.Errorf("%+v", f)
		}
	}
}

// Each check finds what breaks it, and no other one is touched by it, but where the row's machine is another's.
func TestEachThingThatIsBrokenIsFound(t *testing.T) {
	rows, hits := map[string]bool{}, 0
	for _, row := range broken {
		m := well()
		row.how(&m)
		rows[row.check] = true
		findings := Examine(m)
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.Check == row.check })
		f := findings[at]
		if f.Status == row.status && strings.Contains(f.Found, row.found) && strings.Contains(f.Mend, row.mend) &&
			!strings.Contains(f.Found+f.Mend, "\n") {
			hits++
		} else {
			t.Errorf("%s: %+v, want %s with %q by %q", row.check, f, row.status, row.found, row.mend)
		}
		for i, other := range findings {
			sameFact := strings.HasPrefix(row.check, "cgroup") && strings.HasPrefix(other.Check, "cgroup") // The checks of the cgroups share one survey.
			if i != at && other.Status != OK && !sameFact {
				t.Errorf("%s is broken, and %s is told: %+v", row.check, other.Check, other)
			}
		}
	}
	for _, c := range Checks {
		if !rows[c.Name] {
			t.Errorf("no row breaks %s", c.Name)
		}
	}
	fmt.Printf("doctor.checks %d\ndoctor.broken_found_pct %d\n", len(Checks), 100*hits/len(broken))
	if len(Checks) < 18 {
		t.Errorf("%d checks, at least 18 were promised", len(Checks))
	}
}

// Where the planner is to be on this machine and is not, its start gives credentials, too.
func TestAPlannerThatIsNotThereIsStarted(t *testing.T) {
	m := well()
	m.Servers[0].Path, m.Servers[0].Err, m.Credentials[0].Err = "127.0.0.1:4222", bus.ErrNoServer, errors.New("there is none")
	for _, f := range Examine(m) {
		if (f.Check == "reach" || f.Check == "credential") != (f.Status == Fault && f.Mend == "pacer up") {
			t.Errorf("%+v", f)
		}
	}
}

// A fact that the caller has no right to see is told as unseen and is no fault, whatever the check.
func TestWithoutRightsNothingIsAFault(t *testing.T) {
	m := well()
	denied := &os.PathError{Op: "open", Path: "/root/x", Err: fs.ErrPermission}
	m.Config.Node.Runtime = daemon.RuntimeDocker
	m.Cgroups.Err, m.Docker.Err, m.Java.Err, m.Spark.Err, m.Jar.Err, m.Python.Err = denied, denied, denied, denied, denied, denied
	m.Synchronized.Err, m.First.Err, m.YARN.Err, m.Users, m.Release.Err = denied, denied, denied, denied, denied
	for _, list := range [][]Thing{m.Credentials, m.Certificates, m.Ports, m.Disks} {
		for i := range list {
			list[i] = Thing{Role: list[i].Role, Key: list[i].Key, Path: list[i].Path, Err: denied}
		}
	}
	unseen := 0
	for _, f := range Examine(m) {
		if f.Status == Fault || f.Unseen && (!strings.Contains(f.Found, "not seen") || f.Mend != "sudo pacer doctor") {
			t.Errorf("%+v", f)
		}
		if f.Unseen {
			unseen++
		}
	}
	if unseen != 18 {
		t.Errorf("%d checks say that they could not see, want 18", unseen)
	}
}

// Each role has its checks, and is spared what only others need.
func TestRolesHaveTheirChecks(t *testing.T) {
	for role, want := range map[Role][2]string{Planner: {"certificate", "kernel"}, Node: {"cgroup-version", "python"}, User: {"jar", "ports"}} {
		m := well()
		m.Roles = []Role{role}
		var names []string
		for _, f := range Examine(m) {
			names = append(names, f.Check)
		}
		if !slices.Contains(names, want[0]) || slices.Contains(names, want[1]) {
			t.Errorf("%s has %v", role, names)
		}
	}
	m := well()
	m.Roles, m.Config.Node.Attach = []Role{Node}, true
	m.Java.Err, m.Spark.Err, m.Docker.Err = fs.ErrNotExist, fs.ErrNotExist, fs.ErrNotExist
	for _, f := range Examine(m) {
		if f.Status == Fault {
			t.Errorf("a node that attaches: %+v", f)
		}
	}
}

func TestPythonIsThatOfTheSpark(t *testing.T) {
	for spark, want := range map[string]string{"": "3.9", "4.0.5": "3.9", "4.1.4": "3.10", "4.2.1": "3.10", "4.3.0": "3.11", "4.3.1-SNAPSHOT": "3.11"} {
		if got := leastPython(spark); got != want {
			t.Errorf("Spark %q: %s, want %s", spark, got, want)
		}
	}
}

// put writes a file below dir.
func put(t *testing.T, mode os.FileMode, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
	return name
}

// Of a machine that is made of files, Read tells what stands there.
func TestReadTellsWhatStandsThere(t *testing.T) {
	dir := t.TempDir()
	java := filepath.Join(dir, "jdk")
	put(t, 0o755, "#!/bin/sh\n", java, "bin", "java")
	put(t, 0o644, "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.4\"\n", java, "release")
	own := bus.NewCredential(api.Principal{Kind: api.PrincipalNode, Name: "n1"}.Login())
	own.Issued, own.Until = now, now.AddDate(0, 1, 0)
	cfg := config.Default()
	cfg.Client.Planner, cfg.Client.Credentials, cfg.Planner.HTTP, cfg.Node.HTTP = "127.0.0.1:1", filepath.Join(dir, "none"), "", ""
	cfg.Planner.Listen, cfg.Node.State, cfg.Planner.State = "127.0.0.1:0", filepath.Join(dir, "a", "b"), dir
	cfg.Node.Name, cfg.Node.Planner, cfg.Node.Runtime = "n1", "127.0.0.1:1", daemon.RuntimeProcess
	cfg.Node.CgroupRoot, cfg.Node.TLS.CA = dir, put(t, 0o644, "no PEM", dir, "ca.pem")
	cfg.Node.Credentials = put(t, 0o600, string(own.Encode()), dir, "cred")
	env := map[string]string{"JAVA_HOME": java, "PYSPARK_PYTHON": put(t, 0o755, "#!/bin/sh\necho 3.8\n", dir, "python")}
	m := Read(t.Context(), Machine{Now: now, Roles: all, Config: cfg}, func(home string) (Program, error) {
		return Program{Dir: dir, Version: "4.3.0"}, nil
	}, func(name string) string { return env[name] })
	status := map[string]Finding{}
	for _, f := range Examine(m) {
		status[f.Check] = f
	}
	for check, want := range map[string]Finding{"java": {Status: OK, Found: "Java 21.0.4 in " + java}, "python": {Status: Warning, Found: "Python 3.8"},
		"reach": {Status: Fault, Found: "; user: no planner answers at 127.0.0.1:1: connection refused"}, "ports": {Status: OK, Found: "planner.listen"},
		"credential": {Status: Fault, Found: "user: credentials: open "}, "certificate": {Status: Fault, Found: "node.tls-ca: " + cfg.Node.TLS.CA + " holds no certificate"},
		"cgroup-version": {Status: Fault, Found: "cgroup"}, "versions": {Status: Warning, Found: "no planner answers"}} {
		if f := status[check]; f.Status != want.Status || !strings.Contains(f.Found, want.Found) {
			t.Errorf("%s: %+v, want %+v", check, f, want)
		}
	}
	if c := m.Credentials[0]; c.Role != Node || c.Err != nil || !c.Until.Equal(own.Until) {
		t.Errorf("the node's credential: %+v", c)
	}
	if len(m.Disks) != 2 || m.Disks[1].Path != cfg.Node.State || m.Disks[1].Err != nil || m.Disks[1].Least == 0 {
		t.Errorf("the disks: %+v", m.Disks)
	}
}

// YARN is found by the command lines of processes, and by their groups.
func TestReadFindsYARN(t *testing.T) {
	proc := t.TempDir()
	if _, err := findYARN(proc); err == nil {
		t.Error("without the first process all are hidden")
	}
	put(t, 0o644, "/sbin/init\x00", proc, "1", "cmdline")
	if y, err := findYARN(proc); err != nil || y != (YARN{}) {
		t.Errorf("%+v, %v", y, err)
	}
	put(t, 0o644, "java\x00org.apache.hadoop.yarn.server.nodemanager.NodeManager\x00", proc, "12", "cmdline")
	if y, err := findYARN(proc); err != nil || y.Manager != "/" {
		t.Errorf("its group cannot be read: %+v, %v", y, err)
	}
	put(t, 0o644, "4:cpu:/x\n0::/system.slice/yarn.service\n", proc, "12", "cgroup")
	for pid, group := range map[string]string{"13": "/yarn/container_1", "14": "/system.slice/yarn.service"} {
		put(t, 0o644, "java\x00org.apache.spark.executor.YarnCoarseGrainedExecutorBackend\x00--driver-url\x00", proc, pid, "cmdline")
		put(t, 0o644, "0::"+group+"\n", proc, pid, "cgroup")
	}
	if y, err := findYARN(proc); err != nil || y != (YARN{"/system.slice/yarn.service", 2, 1}) {
		t.Errorf("%+v, %v", y, err)
	}
}

// A jar of another version in Spark is found: Spark's own class path goes first.
func TestReadComparesTheJar(t *testing.T) {
	was := spark.Jar
	t.Cleanup(func() { spark.Jar = was })
	home := t.TempDir()
	spark.Jar = nil
	if _, err := installed(home); !errors.Is(err, spark.ErrNoJar) {
		t.Error(err)
	}
	spark.Jar = []byte("jar")
	if path, err := installed(home); path != "" || err != nil {
		t.Error(path, err)
	}
	path := put(t, 0o644, "jar", home, "jars", "pacer-spark.jar")
	if got, err := installed(home); got != path || err != nil {
		t.Error(got, err)
	}
	put(t, 0o644, "old", path)
	if _, err := installed(home); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Error(err)
	}
}
