package daemon

import (
	"log/slog"
	"os"
	"sync"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/traffic"
	"github.com/sparkpacer/pacer/units"
)

// rates are what a node says of its disks and its network. It is safe for concurrent use.
type rates struct {
	log *slog.Logger
	mu  sync.Mutex
	set api.NodeRates
	// peak is nil where the machine is none of its own, as in a test, or does not tell.
	peak *traffic.Peak
}

func newRates(set api.NodeRates, reads bool, log *slog.Logger) *rates {
	r := &rates{set: set, log: log}
	if reads {
		r.peak = &traffic.Peak{}
	}
	return r
}

// reset takes what the operator sets now.
func (r *rates) reset(set api.NodeRates) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set = set
}

// tell is what is told at a moment: what is set, and the highest rates seen until then.
func (r *rates) tell(now units.Instant) api.NodeRates {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.set
	if r.peak == nil {
		return told
	}
	m, err := traffic.Read(os.DirFS("/"))
	if err != nil {
		r.log.Info("the rates of disks and network are not shown", "error", err)
		r.peak = nil
		return told
	}
	r.peak.Observe(m, now)
	told.DiskSeen, told.NetworkSeen = r.peak.Disk, r.peak.Network
	return told
}
