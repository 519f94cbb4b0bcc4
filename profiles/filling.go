package profiles

import (
	"maps"
	"slices"
)

// filling is how far stages have filled the places that stand for several. The zero value is that of a profile without
// such places.
type filling struct {
	// room is how many more stages may have a place, lists by list the place, counted from 1, of which some have come
	// and some not, 0 for none.
	room, lists []int
	// seen are the folds of the run where that is over: such a stage has all of a place.
	seen map[int]int
}

func (f filling) clone() filling {
	return filling{slices.Clone(f.room), slices.Clone(f.lists), maps.Clone(f.seen)}
}

// take notes that a stage of the run has place i, which is on those lists.
func (f *filling) take(i int, on []spot, stage int) {
	if f.room[i] = max(0, f.room[i]-1); f.seen[stage] > 1 {
		f.room[i] = 0
	}
	for _, on := range on {
		switch {
		case f.room[i] > 0:
			f.lists[on.list] = i + 1
		case f.lists[on.list] == i+1:
			f.lists[on.list] = 0
		}
	}
}

// folded reports whether place i stands for several stages.
func (x *index) folded(i int) bool { return x.count != nil && x.count[i] > 1 }

// folds is the place on list l that the next of its stages has which are folded: the one that fills, else the first
// that is left. Each is filled before the next one.
func (a *aligner) folds(l int) (place int, is bool) {
	if a.count == nil {
		return 0, false
	}
	if i := a.filling.lists[l]; i > 0 {
		return i - 1, true
	}
	list := &a.lists[l]
	flags := a.left[list.word : list.word+(len(list.places)+63)/64]
	for at := next(flags, 0); at >= 0; at = next(flags, at+1) {
		if a.folded(list.places[at]) {
			return list.places[at], true
		}
	}
	return 0, false
}
