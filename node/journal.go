package node

// journal is what a call of the engine says and asks for. Its slices are used again from
// call to call.
type journal struct {
	actions  []Action
	events   []Event
	counters Counters
	// changed asks for a status at once; dirty says that State has changed since
	// it was saved, mustSave that it has to be saved now.
	changed, dirty, mustSave bool
	// kept says that the events are those of New, for the first call.
	kept bool
}

// begin begins a call.
func (j *journal) begin() {
	j.actions = j.actions[:0]
	if !j.kept {
		j.events = j.events[:0]
	}
	j.kept = false
}

func (j *journal) event(ev Event) { j.events = append(j.events, ev) }

func (j *journal) act(a Action) { j.actions = append(j.actions, a) }
