package node

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/memory/forecast"
	"github.com/sparkpacer/pacer/memory/shaping"
	"github.com/sparkpacer/pacer/units"
)

const (
	// leastSamples is from how many samples on an executor's memory is foretold, mostSamples how many are kept: gp looks
	// at as many.
	leastSamples, mostSamples = 10, 20
	// keptPart is the part of the node's memory that is never lent; above the rest of it executors that use nearly all
	// have one go that is lent its memory.
	keptPart = 0.05
	// takeWait is how long a driver has to hear that an executor's memory is taken back.
	takeWait = 3 * time.Second
)

// loan is what an executor leaves of its memory, and what it is lent.
type loan struct {
	// series are samples of its resident memory, at oldest first; it is never changed. sampled is when the last came.
	series  []float64
	sampled units.Instant
	// spare is what it is foretold to leave of its claim.
	spare units.Bytes
	// lent says that its memory is lent, taken that it is taken back, since at.
	lent, taken bool
	at          units.Instant
}

// take takes over what the Plan says of an executor.
func (h *loan) take(p *api.PlanApp, id api.ExecutorID, now units.Instant) {
	h.lent = slices.Contains(p.Loans, id)
	if !h.taken && slices.Contains(p.Taken, id) {
		h.taken, h.at = true, now
	}
}

// sample takes in what an executor that claims so much has resident, and reports whether that was due.
func (h *loan) sample(by forecast.Predictor, claim, resident units.Bytes, every time.Duration, now units.Instant) bool {
	if resident <= 0 || h.sampled != 0 && now.Sub(h.sampled) < every {
		return false
	}
	series := append(slices.Clone(h.series), float64(resident))
	h.series, h.sampled = series[max(0, len(series)-mostSamples):], now
	h.spare = 0
	if len(h.series) < leastSamples {
		return true
	}
	if mean, variance, err := by(h.series); err == nil || mean > 0 { // Where peak stands in there is a mean.
		size := shaping.DefaultParams.Size(shaping.Component{Requested: shaping.Amount{float64(claim)},
			Future: shaping.Amount{max(mean, float64(resident))}, Variance: shaping.Amount{variance}})
		h.spare = max(0, claim-units.Bytes(size[0]))
	}
	return true
}
