package assign

// justice reserves the part that lies half way from what the last job had to the least that any has needed if that job
// was in time, else to the greatest. To that it adds the mean error (Algorithms 3 to 6).
func justice() reservation {
	return reservation{late: true, need: (*reserve).learnt, fraction: func(l Learnt) float64 {
		bound := l.Most
		if l.Met {
			bound = l.Least
		}
		return min(1, max(l.Least, (l.Last+bound)/2+l.Error))
	}}
}
