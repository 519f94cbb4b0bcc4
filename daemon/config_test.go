package daemon_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

func nodeConfig() daemon.NodeConfig {
	c := daemon.DefaultNodeConfig()
	c.Jar = "/some.jar"
	return c
}

func TestDefaultsAreValidAndStayOnThisMachine(t *testing.T) {
	p, n := daemon.DefaultPlannerConfig(), nodeConfig()
	if err := (daemon.UpConfig{Planner: p, Node: n}).Validate(); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{p.Listen, p.HTTP, n.Planner, n.HTTP} {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			t.Errorf("%s is not on loopback", address)
		}
	}
	if !api.ValidNodeName(n.Name) {
		t.Errorf("node name %q", n.Name)
	}
	if n.Reserve < 0.1 || n.Reserve < n.TotalCores/10-1e-9 || n.OfferedCores != 0 {
		t.Errorf("reserve %v of %v cores", n.Reserve, n.TotalCores)
	}
	if n.Memory < 64*units.MiB {
		t.Errorf("memory %v", n.Memory)
	}
}

func TestExecutorsRunAsWhoeverCalledSudo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can have been called by sudo")
	}
	t.Setenv("SUDO_USER", "nobody")
	if got := userOf(t, daemon.DefaultNodeConfig(), ""); got.Name != "nobody" {
		t.Errorf("executors run as %s", got.Name)
	}
}

// userOf is whom executors of an application run as that was submitted by a user of that
// name.
func userOf(t *testing.T, c daemon.NodeConfig, name string) executor.Credential {
	t.Helper()
	users, err := c.Users(executor.Layout{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	user, err := users.Of("app-1", name)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func TestNobodyBecomesRootByLeavingSomethingOut(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become it")
	}
	t.Setenv("SUDO_USER", "")
	n := daemon.DefaultNodeConfig()
	n.Jar = "/some.jar"
	for _, name := range []string{"", "root", "0", "no-such-user"} {
		if user := userOf(t, n, name); user.IsRoot() || !user.Made {
			t.Errorf("executors of %q run as %+v", name, user)
		}
	}
	n.ExecutorUser = "root"
	if err := n.Validate(); err != nil {
		t.Errorf("root by name: %v", err)
	}
	if user := userOf(t, n, ""); !user.IsRoot() {
		t.Errorf("root by name: %+v", user)
	}
}

func TestFaultsOfUsersAndHomes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives user ids away")
	}
	n := nodeConfig()
	n.ExecutorUIDs, n.SparkHomes, n.JavaHomes = "0-10", "spark", "/"
	err := n.Validate()
	for _, want := range []string{"executor-uids: user ids \"0-10\"", "spark-homes: \"spark\"", "java-homes: \"/\""} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestValidateReportsEveryFaultAtOnce(t *testing.T) {
	p := daemon.DefaultPlannerConfig()
	p.Listen, p.HTTP, p.State, p.Engine.Alpha = "0.0.0.0", "10.0.0.1", "", 7
	n := nodeConfig()
	n.Name, n.Planner, n.OfferedCores, n.Engine.Controller.Law, n.ExecutorUser, n.Jar, n.HTTP = "a.b", "nowhere", 1e6, "magic", "no-such-user", "", "nonsense"
	err := daemon.UpConfig{Planner: p, Node: n}.Validate()
	if err == nil {
		t.Fatal("a dozen faults were taken")
	}
	for _, want := range []string{"listen: address \"0.0.0.0\"", "http: address \"10.0.0.1\"", "state", "alpha",
		"planner: address \"nowhere\"", "offered", "magic", "no-such-user", "jar", "http: address \"nonsense\""} {
		if !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	n = nodeConfig()
	n.Name, n.Engine.Quantum, n.Engine.Supervisor.Strategy = "a.b", -1, "luck"
	err = n.Validate()
	for _, want := range []string{"a.b", "quantum", "luck"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestOneAddressForTwoServersIsAFault(t *testing.T) {
	c := daemon.UpConfig{Planner: daemon.DefaultPlannerConfig(), Node: nodeConfig()}
	c.Node.HTTP = c.Planner.HTTP
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), c.Node.HTTP) {
		t.Errorf("%v", err)
	}
}
