package driver

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// place is a node with the executors there that may be bound, lowest id first.
type place struct {
	name      string
	executors []executor
	all       []api.ExecutorID // Executors that may not be bound any more or yet included.
	perStage  int              // How many of them one stage has.
}

// atOnce is how many executors one stage can have there.
func (p place) atOnce() int { return min(p.perStage, len(p.executors)) }

// size is how many executors are there.
func (p place) size() int { return len(p.executors) }

// leaders are the first executors of each node, so many of each.
func leaders(nodes []place, many func(place) int) []api.ExecutorID {
	var ids []api.ExecutorID
	for _, there := range nodes {
		for _, x := range there.executors[:many(there)] {
			ids = append(ids, x.id)
		}
	}
	return ids
}

// lacks is how many executors there s misses, negative when it has more than it is to have.
func (p place) lacks(s *stage) int {
	lacks := p.perStage
	for _, id := range p.all {
		if s.has(s.parts[id]) {
			lacks--
		}
	}
	return lacks
}

// giver is the executor to be given next with the stage that has it, nil for none: an idle one, one
// that gave before, one with fewer tasks, the one with the greatest id.
func giver(stages []*stage, nodes []place, gave []*part) (from *stage, best *part) {
	better := func(p, q *part) bool {
		if was := slices.Contains(gave, p); was != slices.Contains(gave, q) && p.running > 0 && q.running > 0 {
			return was
		}
		return p.running <= q.running
	}
	for _, there := range nodes {
		if there.perStage == 1 {
			continue
		}
		for _, s := range stages {
			var can []*part
			for _, x := range there.executors {
				if p := s.parts[x.id]; s.has(p) && !p.gives {
					can = append(can, p)
				}
			}
			if s.barrier || s.beside || len(can) < 2 {
				continue
			}
			for _, p := range can {
				if best == nil || better(p, best) {
					from, best = s, p
				}
			}
		}
	}
	return from, best
}
