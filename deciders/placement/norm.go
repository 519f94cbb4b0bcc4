package placement

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/deciders/devices"
)

// Rates are bytes a second by device (package devices).
type Rates = devices.Rates

// Span is a stage: when it runs, and what it reads and writes.
type Span = devices.Span

// The devices of Rates.
const (
	Disk    = devices.Disk
	Network = devices.Network
)

// Piece is what is left of a node's rates from one time to another, in seconds; below 0 where more is wanted than
// there is.
type Piece struct {
	From, To float64
	Free     Rates
}

// Norms are the numbers of Norm.
type Norms struct {
	// Eta is how much idle rates count beside rates that are wanted twice, which count 1 - Eta; 0.3, by the
	// source's trials: contention is worse.
	Eta float64
	// Raw counts bytes, as the source does. Without it each device counts over its capacity: disks would outweigh the
	// network.
	Raw bool
}

// DefaultNorms are the source's number, with devices over their capacities.
var DefaultNorms = Norms{Eta: 0.3}

// Free cuts the time from one moment to another into pieces at the borders of spans that run on a node, and says
// what they leave of its capacity. Spans need not be in order.
func Free(capacity Rates, running []Span, from, to float64) []Piece {
	borders := []float64{from, to}
	for _, s := range running {
		borders = append(borders, min(to, max(from, s.From)), min(to, max(from, s.To)))
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	pieces := make([]Piece, 0, len(borders))
	for i := range len(borders) - 1 {
		p := Piece{From: borders[i], To: borders[i+1], Free: capacity}
		for _, s := range running {
			if s.From <= p.From && s.To >= p.To {
				for r := range p.Free {
					p.Free[r] -= s.Rate[r]
				}
			}
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// Norm is how badly stages fit into what is free on a node, the smaller the better (Xu, Eq 4.1 to 4.3). By device it
// adds what stays idle times Eta and what is wanted twice times 1 - Eta, in rate times seconds. There the k-th of n
// stages counts 1 - k/n, for nearer stages are known better. A piece counts by the time that it has in common with a
// stage. A device of which the capacity is 0 is not known and does not count, nor does a stage that is not. Time of a
// stage that no piece has counts nothing.
func (p Norms) Norm(capacity Rates, free []Piece, stages []Span) float64 {
	var idle, twice Rates
	for k := range stages {
		stage := &stages[k]
		if stage.Unknown {
			continue
		}
		weight := 1 - float64(k)/float64(len(stages))
		for i := range free {
			piece := &free[i]
			if piece.To <= stage.From || piece.From >= stage.To {
				continue
			}
			time := (min(piece.To, stage.To) - max(piece.From, stage.From)) * weight
			for r := range capacity {
				if left := (piece.Free[r] - stage.Rate[r]) * time; left > 0 {
					idle[r] += left
				} else {
					twice[r] -= left
				}
			}
		}
	}
	var sum float64
	for r := range capacity {
		if capacity[r] <= 0 {
			continue
		}
		overall := (1-p.Eta)*twice[r] + p.Eta*idle[r]
		if !p.Raw {
			overall /= capacity[r]
		}
		sum += overall * overall
	}
	return math.Sqrt(sum)
}

// Fits reports whether needs fit into what is left, resource by resource, both as parts of a node.
func Fits(needs, left []float64) bool {
	for i := range needs {
		if needs[i] > left[i] {
			return false
		}
	}
	return true
}

// Dot is how well needs go with what is left (Grandl et al., "Multi-resource Packing for Cluster Schedulers", 3.2): the
// greater, the better a node that has much of what an executor needs much of.
func Dot(needs, left []float64) (sum float64) {
	for i := range needs {
		sum += needs[i] * left[i]
	}
	return sum
}
