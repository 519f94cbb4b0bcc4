package node

import "github.com/sparkpacer/pacer/units"

// Found is what a node that attaches has found of an executor; zero for one that it has started. Quota
// is then Pacer's: units.Unlimited says that what the executor's manager has set is in force.
type Found struct {
	// Ceiling is the quota that the manager has set, 0 for none.
	Ceiling units.Cores `json:",omitzero"`
	// Unguarded says that others on the node may take what the executor is promised.
	Unguarded bool `json:",omitzero"`
	// Unpaced says why no quota can be written, "" where one can.
	Unpaced string `json:",omitzero"`
	// Page says why what it shows as its progress page is refused: nothing is known of its tasks then.
	Page string `json:",omitzero"`
}

// most is the most that its manager lets it have, units.Unlimited for no bound.
func (f *Found) most() units.Cores {
	if f.Ceiling > 0 {
		return f.Ceiling
	}
	return units.Unlimited
}
