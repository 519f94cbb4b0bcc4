package daemon

import (
	"net"
	"testing"

	"github.com/sparkpacer/pacer/node"
)

// A port that a component of another application leaves is waited for; one that something else has is not.
func TestAPortIsWaitedForThatIsBeingLeft(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	d := &drivers{executors: &executors{held: map[node.Key]*held{{App: "b", ID: "ps-0"}: {}, {App: "a", ID: "1"}: {}}}}
	if err := d.vacant(t.Context(), "b", port); err == nil {
		t.Error("a port is vacant at which something listens")
	}
	done := make(chan error)
	go func() { done <- d.vacant(t.Context(), "c", port) }()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("once it was left: %v", err)
	}
}
