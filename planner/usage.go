package planner

import "github.com/sparkpacer/pacer/units"

// usagePoint is what an executor had used at a moment of the deadline clock.
type usagePoint struct {
	at  units.Seconds
	cpu units.Work
}

// maxPoints bounds the points kept of an executor: a minute of statuses, more
// than lies between the last task's end and the final figures.
const maxPoints = 64

// use notes that x had used cpu at the given time.
func (x *executor) use(at units.Seconds, cpu units.Work) {
	x.CPU = cpu
	if len(x.points) == maxPoints {
		x.points = append(x.points[:0], x.points[maxPoints/2:]...)
	}
	x.points = append(x.points, usagePoint{at, cpu})
}

// usedAt returns what x had used at the given time, between two statuses by
// linear interpolation, since a status a second old would be wrong by a second
// of all its cores.
func (x *executor) usedAt(at units.Seconds) units.Work {
	before := usagePoint{at: x.Since, cpu: 0}
	if at <= before.at {
		return 0
	}
	for _, p := range x.points {
		if p.at >= at {
			share := float64((at - before.at) / (p.at - before.at))
			return before.cpu + units.Work(share)*(p.cpu-before.cpu)
		}
		before = p
	}
	return x.CPU
}

// measure fixes what x had used before the first task, as soon as it is known.
func (a *app) measure(x *executor) {
	if !a.Launched || x.Based || len(x.points) == 0 || x.points[len(x.points)-1].at < a.First {
		return
	}
	x.Base, x.Based, a.aged = x.usedAt(a.First), true, true
}

// launched notes the first task's launch; the driver's first ready stage tells
// it, to some milliseconds.
func (a *app) launched(at units.Seconds) {
	if a.Launched {
		return
	}
	a.Launched, a.First, a.dirty = true, at, true
	for _, x := range a.Executors {
		a.measure(x)
	}
}

// coreSeconds is what a's executors have used from the first task's launch to
// the last task's end (or until now). Where no node has said anything it is what
// the stages' tasks reported.
func (a *app) coreSeconds() units.Work {
	var sum units.Work
	for _, x := range a.Executors {
		if !x.Based {
			continue
		}
		used := x.CPU
		if !a.running() && a.marks.LastTask > 0 {
			used = x.usedAt(a.marks.LastTask)
		}
		sum += max(0, used-x.Base)
	}
	if sum > 0 {
		return sum
	}
	for _, s := range a.order {
		sum += s.work()
	}
	return sum
}

// meanCores is coreSeconds over the time between.
func (a *app) meanCores(work units.Work, now units.Instant) units.Cores {
	end := a.marks.LastTask
	if a.running() {
		end = a.at(now)
	}
	if !a.Launched || end <= a.First {
		return 0
	}
	return units.Cores(float64(work) / float64(end-a.First))
}
