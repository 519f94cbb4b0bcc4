package e2e

import (
	"testing"

	"github.com/sparkpacer/pacer/test/realenv"
)

// TestDeadlineOnKubernetes is the story of TestDeadlineOnYARN with Spark's back end of Kubernetes, whose executors run
// in groups that are named as a kubelet's are, with the quota of their limit. They request less than their core, and the
// verdict says so.
func TestDeadlineOnKubernetes(t *testing.T) {
	realenv.RequireAll(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	k := realenv.NewKubernetes(t)
	s := realenv.New(t)
	s.On(k)
	s.StartPlanner()
	node := s.StartNode("--attach")
	deadline := keepsDeadline(t, s, want)
	// The limit of a core, and the weight of the 0.9 that are requested.
	run := s.Submit("--pacer-deadline", deadline, "testdata/branches.py", scale)
	leftAsFound(t, s, node, run, k.Executors, realenv.Group{Quota: 100_000, Period: 100_000, Weight: 922})
	wantAnswer(t, run, want)
}
