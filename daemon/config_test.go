package daemon_test

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/units"
)

func nodeConfig() daemon.NodeConfig {
	c := daemon.DefaultNodeConfig()
	c.Jar, c.ExecutorUser = "/some.jar", cmp.Or(c.ExecutorUser, "root")
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
	if got := daemon.DefaultNodeConfig().ExecutorUser; got != "nobody" {
		t.Errorf("executors run as %s", got)
	}
}

func TestNobodyBecomesRootByLeavingSomethingOut(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become it")
	}
	t.Setenv("SUDO_USER", "")
	n := daemon.DefaultNodeConfig()
	n.Jar = "/some.jar"
	if err := n.Validate(); err == nil || !strings.Contains(err.Error(), "executor-user") {
		t.Errorf("executors of %q: %v", n.ExecutorUser, err)
	}
	n.ExecutorUser = "root"
	if err := n.Validate(); err != nil && strings.Contains(err.Error(), "executor-user") {
		t.Errorf("root by name: %v", err)
	}
}

func TestValidateReportsEveryFaultAtOnce(t *testing.T) {
	p := daemon.DefaultPlannerConfig()
	p.Listen, p.HTTP, p.State, p.Engine.Alpha = "0.0.0.0:4222", "10.0.0.1:80", "", 7
	n := nodeConfig()
	n.Name, n.Planner, n.Reserve, n.Memory, n.Law, n.ExecutorUser, n.Jar, n.HTTP = "a.b", "nowhere", 1e6, 0, "magic", "no-such-user", "", "nonsense"
	err := daemon.UpConfig{Planner: p, Node: n}.Validate()
	if err == nil {
		t.Fatal("a dozen faults were taken")
	}
	for _, want := range []string{"listen", "credentials file", "http: 10.0.0.1:80", "state", "alpha",
		"planner: address \"nowhere\"", "reserve", "memory", "magic", "no-such-user", "jar", "http: address \"nonsense\""} {
		if !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	n = nodeConfig()
	n.Name, n.Quantum, n.Strategy = "a.b", -1, "luck"
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
