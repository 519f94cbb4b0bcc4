package api

// QueuePolicy is how the queue is served: Rule says who starts and who gives back for that, Order in which order
// applications wait, Size what counts as the size of one (package assign has the names). "" is as the planner is
// configured.
type QueuePolicy struct {
	Rule  string `json:"rule"`
	Order string `json:"order,omitempty"`
	Size  string `json:"size,omitempty"`
}

func (p *QueuePolicy) validate(f *faults) {
	f.text("rule", p.Rule, MostToken)
	f.text("order", p.Order, MostToken)
	f.text("size", p.Size, MostToken)
}
