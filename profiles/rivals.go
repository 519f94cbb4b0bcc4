package profiles

import "github.com/sparkpacer/pacer/api"

// Rivals aligns a run with the other variants of its profile while it goes on, so that the run's can be told from them.
// NewRivals makes them, and nil is those of a profile without variants. It is not safe for concurrent use.
type Rivals struct {
	variants []rival
	// seen are the run's stages.
	seen map[int]bool
}

// rival is another variant, with those of its annotations that its newest run had.
type rival struct {
	*Matcher
	fresh map[int]bool
}

// NewRivals returns the rivals of p for a run of which no stage is ready yet.
func NewRivals(p api.Profile) *Rivals {
	if len(p.Variants) == 0 {
		return nil
	}
	r := &Rivals{seen: map[int]bool{}}
	for _, v := range p.Split() {
		r.variants = append(r.variants, rival{NewMatcher(v), fresh(v)})
	}
	return r
}

// fresh are the ids of the stages that p's newest run had.
func fresh(p api.Profile) map[int]bool {
	ids := make(map[int]bool, len(p.Stages))
	for i := range p.Stages {
		if p.Stages[i].Missed == 0 {
			ids[p.Stages[i].ID] = true
		}
	}
	return ids
}

// Ready, Ended and QueryEnded note what Matcher's methods of these names and Match do.
func (r *Rivals) Ready(ready api.StageReady) {
	if r == nil {
		return
	}
	r.seen[ready.Stage] = true
	for _, v := range r.variants {
		v.Match(ready)
	}
}

// Ended notes that an attempt of a stage of the run has ended.
func (r *Rivals) Ended(stage int) {
	if r == nil {
		return
	}
	for _, v := range r.variants {
		v.Ended(stage)
	}
}

// QueryEnded notes that a SQL query of the run has ended.
func (r *Rivals) QueryEnded(execution int64) {
	if r == nil {
		return
	}
	for _, v := range r.variants {
		v.QueryEnded(execution)
	}
}

// clearly is how many times worse the present variant has to fit the run than the one that takes its place.
const clearly = 2

// Better returns the place in the profile's Variants of one that fits the run clearly better so far
// than the profile itself, false where none does. A run fits the worse the more of its stages a variant
// does not know, and the more stages of the variant's newest run have been left out.
func (r *Rivals) Better() (place int, is bool) {
	if r == nil {
		return 0, false
	}
	least := r.misfits(0)
	for i := 1; i < len(r.variants); i++ {
		if n := r.misfits(i); n < least && clearly*n <= r.misfits(0) {
			place, least, is = i-1, n, true
		}
	}
	return place, is
}

// misfits is how many stages of the run and of a variant have nothing beside them.
func (r *Rivals) misfits(i int) int {
	v := r.variants[i]
	n := 0
	for stage := range r.seen {
		if found, known := v.Of(stage); !known || found.By == ByPlace { // Its code is another.
			n++
		}
	}
	for _, id := range v.leftBehind() {
		if v.fresh[id] {
			n++
		}
	}
	return n
}

// Taken returns p with the variant at that place of its Variants in its own place.
func Taken(p api.Profile, place int) api.Profile {
	all := p.Split()
	taken := all[place+1]
	taken.Variants = append(append([]api.Profile{}, all[:place+1]...), all[place+2:]...)
	return taken
}
