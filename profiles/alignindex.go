package profiles

import (
	"math/bits"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// queryID is a query of a run or of a profile: the nth of its shape.
type queryID struct {
	shape string
	nth   int
}

// exchangeID is what all queries of a shape write at one place.
type exchangeID struct {
	shape    string
	exchange int
}

// inQuery is what a query writes at one place.
type inQuery struct {
	queryID
	exchange int
}

// index has the annotations of a profile by all that a stage can be recognised by. Nothing changes
// it: aligners share it.
type index struct {
	stages []api.ProfileStage
	place  map[int]int // By id.
	// count is how many stages each place stands for, nil where that is one for all.
	count []int
	// parents and children are places. begins is the first place of each place's job.
	parents, children [][]int
	begins            []int
	// legs are the queries of the profile and the jobs that are of none, in order; leg is whose each place is.
	legs []leg
	leg  []int
	// lists are the annotations that share a key.
	lists       []keyed
	words       int // That flags of all lists take.
	byExchange  map[exchangeID]int
	bySignature map[string]int
	byLineage   map[string]int
	// on are the lists that each place is on.
	on [][]spot
	// ofQuery are the places of a query, inQuery of what it writes at one place.
	ofQuery map[queryID][]int
	shapes  map[string]bool
	inQuery map[inQuery][]int
}

// keyed is the annotations of one key: their places, ascending, and where their flags begin.
type keyed struct {
	places []int
	word   int
}

// spot is a position in a list.
type spot struct{ list, at int }

func newIndex(p *api.Profile) *index {
	stages := p.Stages
	x := &index{stages: stages, place: make(map[int]int, len(stages)), parents: make([][]int, len(stages)),
		children: make([][]int, len(stages)), begins: make([]int, len(stages)), on: make([][]spot, len(stages)),
		byExchange: map[exchangeID]int{}, bySignature: map[string]int{}, byLineage: map[string]int{},
		shapes: map[string]bool{}, ofQuery: map[queryID][]int{}, inQuery: map[inQuery][]int{}}
	if len(p.Folds) > 0 {
		x.count = make([]int, len(stages))
	}
	for i := range stages {
		s := &stages[i]
		if x.place[s.ID] = i; x.count != nil {
			x.count[i] = p.Count(s.ID)
		}
		if i > 0 && stages[i-1].Job == s.Job {
			x.begins[i] = x.begins[i-1]
		} else {
			x.begins[i] = i
		}
		for _, parent := range s.Parents {
			if p, known := x.place[parent]; known && p != i {
				x.parents[i] = append(x.parents[i], p)
				x.children[p] = append(x.children[p], i)
			}
		}
		if q := s.Query; q != nil {
			list(x, x.byExchange, exchangeID{q.Shape, q.Exchange}, i)
			x.shapes[q.Shape] = true
			in := inQuery{queryOf(q), q.Exchange}
			x.ofQuery[in.queryID] = append(x.ofQuery[in.queryID], i)
			x.inQuery[in] = append(x.inQuery[in], i)
		}
		list(x, x.bySignature, s.Signature, i)
		if s.Lineage != "" {
			list(x, x.byLineage, s.Lineage, i)
		}
	}
	x.divide()
	for i := range x.lists {
		x.lists[i].word = x.words
		x.words += (len(x.lists[i].places) + 63) / 64
	}
	return x
}

// list puts place i on the list of that key.
func list[K comparable](x *index, by map[K]int, key K, i int) {
	l, known := by[key]
	if !known {
		l = len(x.lists)
		by[key] = l
		x.lists = append(x.lists, keyed{})
	}
	x.on[i] = append(x.on[i], spot{l, len(x.lists[l].places)})
	x.lists[l].places = append(x.lists[l].places, i)
}

func queryOf(q *api.QueryStage) queryID { return queryID{q.Shape, q.Nth} }

// near is how many annotations of a key are looked at on either side of where a run is.
const near = 12

// eachNear calls f with the places on list l that are left, in order, the nearest to front: some that
// come after it, and some before it.
func (x *index) eachNear(left []uint64, l, front int, f func(place int)) {
	list := &x.lists[l]
	from, _ := slices.BinarySearch(list.places, front+1)
	flags := left[list.word : list.word+(len(list.places)+63)/64]
	for at, n := from, 0; n < near; n++ {
		if at = next(flags, at); at < 0 {
			break
		}
		f(list.places[at])
		at++
	}
	for at, n := from-1, 0; n < near; n++ {
		if at = previous(flags, at); at < 0 {
			break
		}
		f(list.places[at])
		at--
	}
}

// next is the first flag set at or after at, -1 for none.
func next(flags []uint64, at int) int {
	for w := at / 64; w < len(flags); w++ {
		word := flags[w]
		if w == at/64 {
			word &= ^uint64(0) << (at % 64)
		}
		if word != 0 {
			return 64*w + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// previous is the last flag set at or before at, -1 for none.
func previous(flags []uint64, at int) int {
	if at < 0 {
		return -1
	}
	for w := at / 64; w >= 0; w-- {
		word := flags[w]
		if w == at/64 {
			word &= ^uint64(0) >> (63 - at%64)
		}
		if word != 0 {
			return 64*w + 63 - bits.LeadingZeros64(word)
		}
	}
	return -1
}
