package daemon

import (
	"log/slog"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
)

// strain fills in what statuses tell of the kernel: how long tasks of the machine wait, and what it cannot do for the
// memory of executors.
type strain struct {
	waits bool // The kernel tells how long tasks wait.
	lacks string
}

// newStrain looks at the kernel once, and says what it lacks. Executors that another manager starts have their memory
// from that one. A tree of ordinary files belongs to a test, which the machine's load must not change.
func newStrain(groups *cgroup.Hierarchy, attach bool, log *slog.Logger) strain {
	if !groups.Kernel() {
		return strain{}
	}
	var lacks []string
	if !attach {
		lacks = groups.Lacks
	}
	_, err := cgroup.MachinePressure(cgroup.PressureDir)
	if err != nil {
		lacks = append(lacks, "no pressure of the machine (the kernel's psi=1)")
	}
	s := strain{waits: err == nil, lacks: strings.Join(lacks, "; ")}
	if s.lacks != "" {
		log.Info("what the kernel cannot do for executors' memory", "lacks", s.lacks)
	}
	return s
}

// tell fills in the status.
func (s strain) tell(status *api.NodeStatus) {
	status.Kernel.Lacks = s.lacks
	if !s.waits {
		return
	}
	if p, err := cgroup.MachinePressure(cgroup.PressureDir); err == nil {
		status.Kernel.Pressure = p
	}
}
