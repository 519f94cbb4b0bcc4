package driver

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// nodes are the executors that may be bound, those of a node together, lowest id first:
// those listed, else all, none that leaves.
func (b *Bindings) nodes() []place {
	var usable, listed []executor
	for _, x := range b.alive {
		if b.leaving(x.id) {
			continue
		}
		usable = append(usable, x)
		if _, ok := b.listed[x.id]; ok {
			listed = append(listed, x)
		}
	}
	// A planner that lists none of them must not stop the application.
	if len(listed) > 0 {
		usable = listed
	}
	slices.SortFunc(usable, func(x, y executor) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.id, y.id))
	})
	var out []place
	for _, x := range usable {
		name := b.nodeOf(x)
		i := slices.IndexFunc(out, func(p place) bool { return p.name == name })
		if i < 0 {
			i, out = len(out), append(out, place{name: name, perStage: 1})
		}
		p := &out[i]
		p.executors, p.perStage = append(p.executors, x), max(p.perStage, b.listed[x.id].PerStage)
	}
	for _, x := range b.alive {
		name := b.nodeOf(x)
		if i := slices.IndexFunc(out, func(p place) bool { return p.name == name }); i >= 0 {
			out[i].all = append(out[i].all, x.id)
		}
	}
	return out
}

// nodeOf is the node that an executor is listed on. An executor that is not listed yet is on that of a listed one at
// its host, so that it has the same node before and after it is listed.
func (b *Bindings) nodeOf(x executor) string {
	if l := b.listed[x.id]; l.Node != "" {
		return l.Node
	}
	for _, o := range b.alive {
		if l := b.listed[o.id]; o.host == x.host && l.Node != "" {
			return l.Node
		}
	}
	return "host " + x.host
}

func (b *Bindings) leaving(id api.ExecutorID) bool { return b.listed[id].Leaving }

// capacity weighs an executor of a stage by what its node offers.
func (b *Bindings) capacity(p *part) float64 {
	x := b.listed[p.id]
	switch {
	case x.Leaving:
		return 0
	case x.Cores > 0 && !x.Cores.IsUnlimited():
		return float64(x.Cores)
	}
	return 1
}

func (b *Bindings) rebindAll() {
	for _, s := range b.stages {
		s.bound = nil
	}
	b.freed = true
	b.settle()
	for _, s := range b.stages {
		b.changed.add(s.key)
	}
}

// settle binds what can be bound, also executors that their stages leave to others: waiting
// stages first, then stages that miss some on a node. A stage keeps what nobody else needs:
// tasks may come back.
func (b *Bindings) settle() {
	nodes := b.nodes()
	b.owed = 0
	if !b.Gated() {
		b.lead(leaders(nodes, place.atOnce), b.stages...)
		return
	}
	var queue []*stage
	holders, zombies := map[api.ExecutorID]*stage{}, map[api.ExecutorID]int{}
	for _, s := range b.stages {
		if s.retired {
			for id, p := range s.parts {
				zombies[id] += p.running
			}
		}
		if s.beside {
			b.lead(leaders(nodes, place.size), s)
			continue
		}
		if s.asks() {
			queue = append(queue, s)
		}
		for _, p := range s.bound {
			holders[p.id] = s
		}
	}
	slices.SortStableFunc(queue, func(s, o *stage) int {
		return cmp.Or(cmp.Compare(min(1, len(s.bound)), min(1, len(o.bound))), cmp.Compare(s.order, o.order),
			cmp.Compare(s.key.Stage, o.key.Stage), cmp.Compare(s.key.Attempt, o.key.Attempt))
	})
	for _, s := range queue {
		var gained []api.ExecutorID
		for _, there := range nodes {
			for lacks := there.lacks(s); lacks > 0; lacks-- {
				id, ok := s.choose(there.executors, holders, zombies)
				if !ok {
					break
				}
				b.release(holders[id], id)
				gained, holders[id] = append(gained, id), s
			}
		}
		if len(gained) > 0 {
			b.bind(s, gained)
		}
	}
	b.give(queue, nodes)
}

// give has stages of several executors on a node give one to each stage that waits. It is an idle one at once, else the
// one with the fewest tasks starts no more, and the first that is idle goes over. The tasks of a barrier stage start
// together: it gives none, and one would not do for it.
func (b *Bindings) give(queue []*stage, nodes []place) {
	var gave []*part // Until now.
	for _, s := range b.stages {
		for _, p := range s.bound {
			if p.gives {
				gave, p.gives = append(gave, p), false
			}
		}
	}
	for _, s := range queue {
		if len(s.bound) > 0 || s.barrier {
			continue
		}
		o, p := giver(b.stages, nodes, gave)
		if p == nil {
			return
		}
		if p.running > 0 {
			p.gives = true
			b.owed++
			if slices.Contains(gave, p) {
				continue
			}
		} else {
			b.release(o, p.id)
		}
		b.divide(o, b.capacity)
		b.changed.add(o.key)
		if p.running == 0 {
			b.bind(s, []api.ExecutorID{p.id})
		}
	}
}

// rest notes for how long executors have been spare.
func (b *Bindings) rest(now units.Instant) {
	more := false
	for _, s := range b.stages {
		for _, p := range s.bound {
			switch {
			case !s.spare(p):
				p.spare = -1
			case p.spare < 0:
				p.spare = now
			case !p.rested && now.Sub(p.spare) >= Rest:
				p.rested, more = true, true
			}
		}
	}
	if more {
		b.settle()
	}
}

// release takes an executor that is free off the stage that has it, if one has. The shares of
// the others stay.
func (b *Bindings) release(s *stage, id api.ExecutorID) {
	if s != nil {
		s.unbind(s.parts[id])
		b.changed.add(s.key)
	}
}

// lead gives stages those executors, whosever they are.
func (b *Bindings) lead(leaders []api.ExecutorID, stages ...*stage) {
	for _, s := range stages {
		if len(s.bound) != len(leaders) || slices.ContainsFunc(leaders, func(id api.ExecutorID) bool {
			return !s.has(s.parts[id])
		}) {
			s.bound = nil
			b.bind(s, leaders)
		}
	}
}

func (b *Bindings) bind(s *stage, executors []api.ExecutorID) {
	for _, id := range executors {
		s.bind(s.part(id))
	}
	b.divide(s, b.capacity)
	b.changed.add(s.key)
	b.freed = true
}

// vacate takes from executors that leave what they have not launched, and those through
// with it off their stages.
func (b *Bindings) vacate() {
	leaves := func(p *part) bool { return b.leaving(p.id) }
	for _, s := range b.stages {
		if !slices.ContainsFunc(s.bound, leaves) {
			continue
		}
		s.bound = slices.DeleteFunc(s.bound, func(p *part) bool { return leaves(p) && p.running == 0 })
		b.divide(s, b.capacity)
		b.changed.add(s.key)
		b.freed = true
	}
}

// handOver gives each executor that part of the rest which its share lacks of the
// planner's. Where there is no rest, and none of a task is lacking or one task runs, the planner has said that what
// runs is late: it may know older shares.
func (b *Bindings) handOver(h *api.StageShares) {
	s := b.stage(h.StageKey)
	if s == nil || h.Rev <= s.handed {
		return
	}
	s.handed = h.Rev
	lacks := func(p *part) float64 {
		wanted := 0.0
		for _, x := range h.Shares {
			if x.Executor == p.id {
				wanted = x.Weight
			}
		}
		return max(0, wanted*MeanWeight-float64(p.launched))
	}
	sum := 0.0
	for _, p := range s.bound {
		sum += lacks(p)
	}
	// Else tasks were to move that have started.
	s.late = s.late || b.Gated() && !s.asks() && (sum < MeanWeight || s.atWork() == 1)
	if b.Gated() && sum > 0 {
		b.divide(s, lacks)
		b.changed.add(s.key)
		b.freed = true
	}
}

// divide shares what is not launched out to the stage's executors in proportion to by, but for
// those that it gives away.
func (b *Bindings) divide(s *stage, by func(*part) float64) {
	if len(s.bound) == 0 {
		return
	}
	parts := make([]float64, len(s.bound))
	for i, p := range s.bound {
		if !p.gives {
			parts[i] = by(p)
		}
	}
	for i, n := range Apportion(s.rest, parts) {
		s.bound[i].share = s.bound[i].launched + n
	}
}

// Apportion divides total into whole numbers in proportion to parts, which are not
// negative, each within 1 of its exact part and together total. Where all parts are 0
// they are equal; a part of 0 among others gets nothing.
func Apportion(total int64, parts []float64) []int64 {
	sum := 0.0
	for _, part := range parts {
		sum += part
	}
	share := func(i int) float64 {
		if sum > 0 {
			return parts[i] / sum
		}
		return 1 / float64(len(parts))
	}
	// The last one that gets anything gets what rounding has left.
	last := 0
	for i := range parts {
		if share(i) > 0 {
			last = i
		}
	}
	out, given, upTo := make([]int64, len(parts)), int64(0), 0.0
	for i := range parts {
		part := share(i)
		if part <= 0 {
			continue
		}
		upTo += part
		end := total
		if i != last {
			end = min(total, max(given, int64(math.Round(float64(total)*upTo))))
		}
		out[i], given = end-given, end
	}
	return out
}
