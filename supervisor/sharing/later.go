package sharing

import "github.com/sparkpacer/pacer/units"

// Beside says what an application has beside it on its nodes.
type Beside struct {
	// Others run there; Unheld says that the executors of one have no quota, since it has no deadline that can be kept or
	// is left alone. First says that the application is due first of several whose deadlines can be kept, or InOrder that
	// its nodes serve by deadline.
	Others, Unheld, First, InOrder bool
}

// Alpha is the share of the deadline at which stages that others follow are aimed, where that is
// alpha alone. The stages to come have the rest that is not needed (dag.Params.Aim). On nodes that do not serve in
// order an application that asks for more takes it from those that need it as much, unless they are due later. There it
// is for the one that is due first.
func (a *Aims) Alpha(alpha float64, b Beside) float64 {
	switch {
	case b.Others && (b.First || b.InOrder):
		return min(alpha, a.First)
	case b.Unheld:
		return min(alpha, a.Unheld)
	}
	return alpha
}

// Claim is what an application has been promised that is due after another one.
type Claim struct {
	// Cores are the least with which it is in time; Floor is what it has of them whatever else is.
	Cores, Floor units.Cores
	// Now < Due < Until: Due is the other's deadline, Until its own. Fastest is the time in which it
	// could end at all cores, > 0. All in seconds.
	Now, Due, Until units.Seconds
	Fastest         float64
}

// PutOff is how many core-seconds of a claim are done after the other's deadline, on nodes of so many
// cores that have taken up others' work there already. Work that is due by some moment after the deadline has room if,
// with all that is due earlier, it is at most what the nodes can do in between. Each application's at most what it does
// in that time at all cores. Promised work stays promised: it is never less than at a steady rate.
func (l *Later) PutOff(c Claim, cores units.Cores, others float64) float64 {
	after := float64(c.Until - c.Due)
	work := float64(c.Cores) * float64(c.Until-c.Now)
	room := min(l.Nodes*float64(cores)*after-others, l.Speed*work*after/c.Fastest)
	least := min(float64(c.Cores), float64(c.Floor)) * float64(c.Due-c.Now)
	return max(float64(c.Cores)*after, min(work-least, room))
}

// Yielded is the time that a stage has whose application is due later than others. left is what the equations give it,
// rest what is left of the deadline, later when the stage is due if all stages divide what others leave in place of
// time. fast is the time in which all of it could be done at the end's speed, fastest that at all cores.
func (l *Later) Yielded(left, rest, later, fast, fastest units.Seconds) units.Seconds {
	slow := fastest / units.Seconds(l.Speed)
	if fast >= rest || slow >= rest {
		return left
	}
	far := min(1, (rest-slow)/(rest-fast))
	return left + far*max(0, later-left)
}
