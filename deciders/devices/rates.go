package devices

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// Rates are bytes a second by device: of disks and of the network.
type Rates [2]float64

// The devices of Rates.
const (
	Disk = iota
	Network
)

// Names are those of the devices.
var Names = [2]string{"disk", "network"}

var facet = ledger.Register(ledger.Facet[*ledger.Node, api.NodeRates]{Name: "rates", Check: check, After: after})

// after is what a node says of its devices: the newest status that it has sent.
func after(was api.NodeRates, _ ledger.View, _ *ledger.Node, f ledger.Fact) (api.NodeRates, bool) {
	said, ok := f.(ledger.NodeSaid)
	if !ok || said.Status.Rates == was {
		return was, false
	}
	return said.Status.Rates, true
}

func check(r api.NodeRates) error {
	if min(r.Disk, r.Network, r.DiskSeen, r.NetworkSeen) < 0 {
		return fmt.Errorf("a rate of %+v is negative", r)
	}
	return nil
}

// Said is what n says of its devices.
func Said(n *ledger.Node) api.NodeRates { return facet.Of(n) }

// Of are the rates of n's devices, as far as its operator has set them.
func Of(n *ledger.Node) Rates {
	said := facet.Of(n)
	return Rates{float64(said.Disk), float64(said.Network)}
}

// Known reports whether one of the rates is.
func (r Rates) Known() bool { return r[Disk] > 0 || r[Network] > 0 }

// Over is r divided by that many.
func (r Rates) Over(n float64) Rates { return Rates{r[Disk] / n, r[Network] / n} }

// Within is r, but no more than a device has whose rate is known: alone a stage has all of it.
func (r Rates) Within(most Rates) Rates {
	for d := range r {
		if most[d] > 0 {
			r[d] = min(r[d], most[d])
		}
	}
	return r
}

// Moves are the bytes that a stage of a profile reads and writes by device, and whether that is known. Input from
// blocks in memory is neither's.
func Moves(p *api.Profile, s *api.ProfileStage) (bytes Rates, known bool) {
	h, n := p.Habit.Stages[s.ID], int64(p.Count(s.ID))
	if h.BytesRemote == nil {
		return Rates{}, false
	}
	remote := n * *h.BytesRemote
	return Rates{float64(max(0, s.Bytes-remote-n*h.BytesCached) + s.BytesWritten), float64(remote)}, true
}
