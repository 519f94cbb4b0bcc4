package controller

// Utilization compares the CPU really used with what was in force and could be used. Tasks that wait for their input,
// for other users of the machine or for a garbage collection leave a part of their cores idle. Two sums that forget
// exponentially; the zero value knows nothing yet.
type Utilization struct {
	// Got and Had are core-seconds.
	Got float64 `json:"got"`
	Had float64 `json:"had"`
}

// update folds in a step of v.dt seconds with granted cores in force.
func (o *Utilization) update(granted float64, v *view) {
	had := min(granted, float64(v.Runnable)*v.width())
	if had <= 0 || v.dt <= 0 {
		return
	}
	keep := params.Used.Time * v.interval / (params.Used.Time*v.interval + v.dt)
	o.Had = keep*o.Had + had*v.dt
	o.Got = keep*o.Got + min(float64(v.Used), had)*v.dt
}

// share is the part of a grant that is really used, at least Used.Least. A
// request of wanted/share settles where as much as is wanted is obtained: what
// is obtained grows with the grant, less than in proportion.
func (o *Utilization) share() float64 {
	if o.Had <= 0 {
		return 1
	}
	return min(1, max(params.Used.Least, o.Got/o.Had/params.Used.Enough))
}
