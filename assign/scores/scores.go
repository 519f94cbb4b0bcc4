package scores

import "github.com/sparkpacer/pacer/units"

// Run is an application that had a deadline and has ended, or was refused.
type Run struct {
	// Met says that it met its deadline.
	Met bool
	// Work is all that it takes (T), Used what it has used of the cluster: nothing where it never started.
	Work, Used units.Work
}

// Deadlines are the scores of runs, each from 0; WTR alone exceeds 1 where runs have used more than they take.
type Deadlines struct {
	SDR, PTR, WTR, WTRPrinted float64
}

// Of are the scores of runs; ok says that there are any that take something.
func Of(runs []Run) (d Deadlines, ok bool) {
	var met, all, missed, used units.Work
	for _, r := range runs {
		all += r.Work
		if r.Met {
			d.SDR++
			met += r.Work
			continue
		}
		missed, used = missed+r.Work, used+r.Used
	}
	if !(all > 0) {
		return Deadlines{}, false
	}
	return Deadlines{d.SDR / float64(len(runs)), float64(met / all), float64(used / all), float64(missed / all)}, true
}

// Share is what an application asks for and has, in whatever unit; one that asks for nothing counts nowhere.
type Share struct {
	Demand, Has float64
}

// jain is Jain's index; ok is false for none, or where all are 0.
func jain(f []float64) (index float64, ok bool) {
	var sum, squares float64
	for _, v := range f {
		sum, squares = sum+v, squares+v*v
	}
	if !(squares > 0) {
		return 0, false
	}
	return sum * sum / (float64(len(f)) * squares), true
}

// Fairness is how alike the parts are that applications have of what they ask for; ok is false where none has anything.
func Fairness(shares []Share) (index float64, ok bool) {
	var f []float64
	for _, s := range shares {
		if s.Demand > 0 {
			f = append(f, min(1, s.Has/s.Demand))
		}
	}
	return jain(f)
}

// Equality is how alike the shares of applications are that ask for the same; ok is false where none has anything.
// A class in which none has anything does not count.
func Equality(shares []Share) (index float64, ok bool) {
	var demands []float64
	classes := make(map[float64][]float64)
	for _, s := range shares {
		if s.Demand > 0 {
			if classes[s.Demand] == nil {
				demands = append(demands, s.Demand)
			}
			classes[s.Demand] = append(classes[s.Demand], s.Has)
		}
	}
	n := 0
	for _, d := range demands {
		if j, ok := jain(classes[d]); ok {
			index += j * float64(len(classes[d]))
			n += len(classes[d])
		}
	}
	return index / float64(max(1, n)), n > 0
}
