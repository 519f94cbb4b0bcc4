package torture

import "time"

// Tally counts what happened in a run of the torture.
type Tally struct {
	Date time.Time `json:"date"`
	Seed uint64    `json:"seed"`
	// Sources is the hash of the product's sources (benchline.Sources).
	Sources string        `json:"sources"`
	Took    time.Duration `json:"took_ns"`

	Faults     int `json:"faults"`
	Kills      int `json:"kills"`
	Partitions int `json:"partitions"`
	NodeLosses int `json:"node_losses"`

	// Applications have ended Right, with OwnErrors, Lost or Wrong. Those with a deadline that
	// could be met are Possible, of which LatePossible missed it.
	Applications int `json:"applications"`
	Right        int `json:"right"`
	OwnErrors    int `json:"own_errors"`
	Lost         int `json:"lost"`
	Wrong        int `json:"wrong"`
	Possible     int `json:"possible"`
	LatePossible int `json:"late_possible"`
	// Orphans are processes, groups, mounts and namespaces that were left.
	Orphans int `json:"orphans"`
}

// Take counts an application.
func (t *Tally) Take(j Judgement) {
	t.Applications++
	switch j.Ending {
	case Right:
		t.Right++
	case OwnError:
		t.OwnErrors++
	case Lost:
		t.Lost++
	case Wrong:
		t.Wrong++
	}
	if j.Possible {
		t.Possible++
		if j.Late {
			t.LatePossible++
		}
	}
}

// Sum adds tallies up; date, seed and sources are the last one's.
func Sum(all []Tally) Tally {
	var s Tally
	for _, t := range all {
		s.Date, s.Seed, s.Sources = t.Date, t.Seed, t.Sources
		s.Took += t.Took
		s.Faults += t.Faults
		s.Kills += t.Kills
		s.Partitions += t.Partitions
		s.NodeLosses += t.NodeLosses
		s.Applications += t.Applications
		s.Right += t.Right
		s.OwnErrors += t.OwnErrors
		s.Lost += t.Lost
		s.Wrong += t.Wrong
		s.Possible += t.Possible
		s.LatePossible += t.LatePossible
		s.Orphans += t.Orphans
	}
	return s
}
