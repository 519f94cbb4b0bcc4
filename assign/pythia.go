package assign

// pythia reserves the greatest part that any deadline has needed (Algorithms 1 and 2).
func pythia() reservation {
	return reservation{late: true, need: (*reserve).learnt, fraction: func(l Learnt) float64 { return l.Most }}
}
