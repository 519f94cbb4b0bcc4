package assign

// oracle knows the work of each job, and reserves what that needs.
func oracle() reservation {
	return reservation{late: true, need: func(_ *reserve, j *Job, left float64) float64 { return j.Left / left }}
}
