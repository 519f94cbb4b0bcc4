package realenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Network is a bridge with network namespaces on it: a hub for planner, driver
// and commands, and one for each node. It goes when the test ends.
type Network struct {
	t   testing.TB
	hub string
	// Address is the hub's.
	Address string
}

// NewNetwork makes the namespaces. It skips the test, with a line, where the
// machine or this user cannot.
func NewNetwork(t testing.TB, nodes ...string) *Network {
	t.Helper()
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs network namespaces: %v", err)
		}
	}
	n := &Network{t: t, Address: "10.213.7.1"}
	n.hub = n.name(Hub)
	n.make(n.hub)
	n.must("-n", n.hub, "link", "add", "br0", "type", "bridge")
	n.must("-n", n.hub, "addr", "add", n.Address+"/24", "dev", "br0")
	n.must("-n", n.hub, "link", "set", "br0", "up")
	for i, node := range nodes {
		ns, port := n.name(node), fmt.Sprintf("port%d", i)
		n.make(ns)
		n.must("-n", n.hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", ns)
		n.must("-n", n.hub, "link", "set", port, "master", "br0", "up")
		n.must("-n", ns, "addr", "add", n.Of(i)+"/24", "dev", "eth0")
		n.must("-n", ns, "link", "set", "eth0", "up")
	}
	return n
}

// name is unique among the tests of this machine.
func (n *Network) name(what string) string { return fmt.Sprintf("pacer%d-%s", os.Getpid(), what) }

func (n *Network) make(ns string) {
	n.t.Helper()
	n.must("netns", "add", ns)
	n.t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "del", ns).CombinedOutput(); err != nil {
			n.t.Errorf("ip netns del %s: %v: %s", ns, err, out)
		}
	})
	n.must("-n", ns, "link", "set", "lo", "up")
}

func (n *Network) must(args ...string) {
	n.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Skipf("needs network namespaces with a bridge: ip %v: %v: %s", args, err, out)
	}
}

// Hub names the hub where a node is asked for.
const Hub = "hub"

// Namespace is the file of a node's network namespace, or of the hub's.
func (n *Network) Namespace(node string) string { return "/run/netns/" + n.name(node) }

// Of is the address of the i-th node.
func (n *Network) Of(i int) string { return fmt.Sprintf("10.213.7.%d", 11+i) }

// Inside is the command in front of what runs in the namespace of a node, or of the hub:
// the same process, cgroups and files, another network.
func (n *Network) Inside(node string) []string {
	return []string{"nsenter", "--net=" + n.Namespace(node), "--"}
}

// Within calls f on a thread that is in the network namespace of that file, "" for this one's:
// sockets that f makes are there. The thread comes back: what it has started would be told to
// end with it (PR_SET_PDEATHSIG).
func Within(namespace string, f func() error) (err error) {
	if namespace == "" {
		return f()
	}
	runtime.LockOSThread()
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer here.Close()
	there, err := os.Open(namespace)
	if err != nil {
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	err = f()
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, back) // Nobody else gets this thread.
	}
	runtime.UnlockOSThread()
	return err
}
