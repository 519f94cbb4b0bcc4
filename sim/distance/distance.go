package distance

import "slices"

// Layer is one that holds data.
type Layer struct {
	// Far says that it is on another machine than the layer above, Proxy that all goes through a third one.
	Far, Proxy bool
	// Copies are those that a write waits for.
	Copies int
}

// Read is how many links a record crosses that is read from layers, the uppermost first.
func Read(layers []Layer) (links int) {
	for _, l := range layers {
		if l.Far {
			links += 2
		}
		if l.Proxy {
			links += 2
		}
	}
	return links
}

// Write is how many links a record crosses that is written to layers, the uppermost first.
func Write(layers []Layer) (links int) {
	if len(layers) == 0 {
		return 0
	}
	l := layers[0]
	if l.Far || l.Copies > 1 {
		links = l.Copies // One to each copy beyond the first, and the acknowledgement.
	}
	if l.Far {
		links++
	}
	if l.Proxy {
		links++
	}
	return links + l.Copies*Write(layers[1:])
}

// Ranks are those of numbers of links, the fewest first: as many links have one rank.
func Ranks(links []int) (ranks []int) {
	distinct := slices.Compact(slices.Sorted(slices.Values(links)))
	for _, n := range links {
		ranks = append(ranks, 1+slices.Index(distinct, n))
	}
	return ranks
}
