package profiles

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// keptMissed is how many runs in a row may lack a stage before it leaves its profile.
const keptMissed = 5

// place is where a stage stands in a merge, and where it comes from.
type place struct {
	// old and run are its places in the two, -1 in the one that lacks it.
	old, run int
	id, job  int
	parents  []int
	// still says that the merge has the graph that old has, skipped that the run skipped what the
	// stage reads from: its parents are those of old.
	still, skipped bool
}

// layout is the graph of a merge: the run's, with the stages that it lacks where they were.
// Where the two are of one graph it is old's: of stages that run side by side either
// may be the first in a run.
func layout(old, run api.Profile) []place {
	of := make([]int, len(old.Stages)) // The place in the run of each stage of old, -1 for none.
	for k := range of {
		of[k] = -1
	}
	paired := pairs(old, run)
	for i, k := range paired {
		if k >= 0 {
			of[k] = i
		}
	}
	if alike(old, run, of) {
		places := make([]place, len(of))
		for k, s := range old.Stages {
			places[k] = place{old: k, run: of[k], id: s.ID, job: s.Job, parents: s.Parents, still: true}
		}
		return places
	}
	places := combined(old, run, paired, of, keptMissed)
	if edges := 0; len(places) <= api.MostStages {
		for _, at := range places {
			edges += len(at.parents)
		}
		if edges <= api.MostEdges {
			return places
		}
	}
	return combined(old, run, paired, of, 0)
}

// alike reports whether the two have one graph; of has the place in the run of each stage of
// old.
func alike(old, run api.Profile, of []int) bool {
	if len(old.Stages) != len(run.Stages) || slices.Contains(of, -1) {
		return false
	}
	key := bySignature
	if lineages(old) && lineages(run) {
		key = byLineage
	}
	was, is := ranks(old), ranks(run)
	for k, s := range old.Stages {
		if was[k] != is[of[k]] || !slices.Equal(parents(old, s, key), parents(run, run.Stages[of[k]], key)) {
			return false
		}
	}
	return true
}

// position orders the stages of a merge. A job that the run lacks altogether comes after the run's job that it came
// after (gone counts such jobs). A stage of another job that the run lacks comes into that, after the stage of the run
// that it came after.
type position struct{ job, gone, after, missed int }

func (a position) compareJobs(b position) int {
	return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.gone, b.gone))
}

func (a position) compare(b position) int {
	return cmp.Or(a.compareJobs(b), cmp.Compare(a.after, b.after), cmp.Compare(a.missed, b.missed))
}

// behind is a, or where a stage comes at the earliest that reads from the one at parent.
func (a position) behind(parent position) position {
	switch c := parent.compareJobs(a); {
	case c > 0:
		a.job, a.gone, a.after = parent.job, parent.gone, parent.after
	case c == 0:
		a.after = max(a.after, parent.after)
	}
	return a
}

// node is a stage of a merge on its way to its place: those of the run come first, by its places.
type node struct {
	place
	at position
	// from are the nodes of its parents.
	from []int
}

// combined is the run's graph with those stages of old that fewer than kept runs have lacked, this
// one counted.
func combined(old, run api.Profile, paired, of []int, kept int) []place {
	nodes := make([]node, 0, len(run.Stages)+len(old.Stages))
	at := make(map[int]int, len(run.Stages)) // The places in the run by id.
	jobs := ranks(run)
	for i, s := range run.Stages {
		n := node{place: place{old: paired[i], run: i}, at: position{job: jobs[i], after: i}}
		for _, id := range s.Parents {
			n.from = append(n.from, at[id])
		}
		at[s.ID] = i
		nodes = append(nodes, n)
	}
	nodes, at = missing(old, nodes, of, kept)
	for i := range run.Stages {
		n := &nodes[i]
		if len(n.from) > 0 || n.old < 0 {
			continue
		}
		for _, id := range old.Stages[n.old].Parents {
			if parent, there := at[id]; there && nodes[parent].at.compare(n.at) < 0 {
				n.from, n.skipped = append(n.from, parent), true
			}
		}
	}
	return arrange(nodes)
}

// missing returns the nodes with those of the stages that the run lacks, and which node each stage of
// old is, by its id.
func missing(old api.Profile, nodes []node, of []int, kept int) (all []node, at map[int]int) {
	lost := positions(old, nodes, of)
	at = make(map[int]int, len(old.Stages))
	for k, s := range old.Stages {
		if of[k] >= 0 {
			at[s.ID] = of[k]
			continue
		}
		if s.Missed+1 >= kept || old.Count(s.ID) > 1 {
			continue // Jobs are folded anew in each run.
		}
		n := node{place: place{old: k, run: -1}, at: lost[k]}
		for _, id := range s.Parents {
			if parent, there := at[id]; there { // Others have left.
				n.from = append(n.from, parent)
				n.at = n.at.behind(nodes[parent].at)
			}
		}
		at[s.ID] = len(nodes)
		nodes = append(nodes, n)
	}
	return nodes, at
}

// positions is where the stages of old that the run lacks come, whatever their parents.
func positions(old api.Profile, ran []node, of []int) []position {
	at := make([]position, len(of))
	before, number := -1, 0 // The last job of the run that a job of old so far is in.
	for from := 0; from < len(of); number++ {
		to := from
		for to < len(of) && old.Stages[to].Job == old.Stages[from].Job {
			to++
		}
		after, last := -1, before
		in := slices.IndexFunc(of[from:to], func(i int) bool { return i >= 0 })
		for k := from; k < to; k++ {
			switch {
			case of[k] >= 0:
				after = of[k]
				last = max(last, ran[after].at.job)
			case in < 0:
				at[k] = position{job: before, gone: number + 1, missed: k + 1}
			case after < 0:
				at[k] = position{job: ran[of[from+in]].at.job, after: -1, missed: k + 1}
			default:
				at[k] = position{job: ran[after].at.job, after: after, missed: k + 1}
			}
		}
		from, before = to, last
	}
	return at
}

// arrange numbers nodes in the order of their positions.
func arrange(nodes []node) []place {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return nodes[a].at.compare(nodes[b].at) })
	places, job := make([]place, len(order)), 0
	for id, i := range order {
		n := &nodes[i]
		if id > 0 && n.at.compareJobs(nodes[order[id-1]].at) != 0 {
			job++
		}
		n.id, n.job = id, job
		for _, parent := range n.from {
			n.parents = append(n.parents, nodes[parent].id)
		}
		slices.Sort(n.parents)
		places[id] = n.place
	}
	return places
}

// pairs returns for each stage of run the place of the same one in old, -1 for none.
func pairs(old, run api.Profile) []int {
	paired := make([]int, len(run.Stages))
	for i := range paired {
		paired[i] = -1
	}
	for _, p := range align(&old, &run).Pairs {
		paired[p.Seen] = p.Known
	}
	return paired
}

// ranks is by the place of a stage of p how many jobs come before its own: job numbers need not be dense.
func ranks(p api.Profile) []int {
	of := make([]int, len(p.Stages))
	for i := 1; i < len(of); i++ {
		if of[i] = of[i-1]; p.Stages[i].Job != p.Stages[i-1].Job {
			of[i]++
		}
	}
	return of
}

func bySignature(s api.ProfileStage) string { return s.Signature }
func byLineage(s api.ProfileStage) string   { return s.Lineage }

// lineages reports whether the lineage of each stage of p is known.
func lineages(p api.Profile) bool {
	return !slices.ContainsFunc(p.Stages, func(s api.ProfileStage) bool { return s.Lineage == "" })
}

// parents returns the keys of a stage's parents in order. Their ids are no measure: of two
// branches alike either may be the first in a run.
func parents(p api.Profile, s api.ProfileStage, key func(api.ProfileStage) string) []string {
	var keys []string
	for _, other := range p.Stages {
		if slices.Contains(s.Parents, other.ID) {
			keys = append(keys, key(other))
		}
	}
	slices.Sort(keys)
	return keys
}
