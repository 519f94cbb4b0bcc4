package assign

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/units"
)

func drawOutcomes(t *rapid.T) []Outcome {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Outcome {
		most := rapid.IntRange(1, 3000).Draw(t, "most")
		return Outcome{Units: rapid.IntRange(0, most).Draw(t, "had"), Most: most, Work: rapid.Float64Range(0, 1e9).Draw(t, "work"),
			Deadline: rapid.Float64Range(0.01, 1e6).Draw(t, "deadline"), Met: rapid.Bool().Draw(t, "met")}
	}), 0, 12).Draw(t, "outcomes")
}

// drawReserving is a question: who is served fits.
func drawReserving(t *rapid.T) (Policy, State) {
	p := Policy{Rule: rapid.SampledFrom(Reserving()).Draw(t, "rule")}
	p.Reading = Reading{rapid.IntRange(0, 2).Draw(t, "bootstrap"), rapid.SampledFrom([]float64{0, .25, 1}).Draw(t, "recent"),
		rapid.SampledFrom([]int{0, 5}).Draw(t, "violators"), rapid.Bool().Draw(t, "frozen"), rapid.Bool().Draw(t, "truncated"),
		rapid.Bool().Draw(t, "several")}
	total := rapid.IntRange(1, 60).Draw(t, "total")
	s := State{Now: sec(100), Total: Amount{Cores: units.Cores(total)}, Learnt: learn(p, drawOutcomes(t)...)}
	free := total
	for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
		j := dueJob(fmt.Sprintf("j%02d", i), rapid.IntRange(1, 80).Draw(t, "tasks"), rapid.Float64Range(0, 5000).Draw(t, "work"),
			rapid.Float64Range(60, 300).Draw(t, "due"))
		j.Arrival = sec(rapid.Float64Range(0, 60).Draw(t, "came"))
		if n := rapid.IntRange(0, min(free, j.Tasks)).Draw(t, "units"); n > 0 {
			free -= n
			s.Serving = append(s.Serving, serves(j, j.Arrival, n))
		} else {
			s.Waiting = append(s.Waiting, j)
		}
	}
	return p, s
}

// What is granted never exceeds what there is, nothing is taken from who keeps anything, and an answer does not hang on
// the order in which jobs are told. It is what a plain reading says.
func TestReservationsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawReserving(t)
		grants := p.Assign(s)
		other := s
		other.Serving, other.Waiting = shuffled(t, s.Serving), shuffled(t, s.Waiting)
		same(t, "in another order", grants, p.Assign(other))

		has, sum := map[string]int{}, 0
		for _, j := range s.Serving {
			has[j.ID], sum = j.Units, sum+j.Units
		}
		for _, g := range grants {
			if g.Drop && g.Units != 0 || !g.Drop && g.Units <= has[g.ID] {
				t.Fatalf("%+v to one that has %d", g, has[g.ID])
			}
			if sum += g.Units - has[g.ID]; sum > int(s.Total.Cores) {
				t.Fatalf("%d of %v are granted with %+v", sum, s.Total, g)
			}
		}
		want := plain(p, s)
		have := map[string]Grant{}
		for _, g := range grants {
			have[g.ID] = g
		}
		same(t, p.Rule, want, have)
	})
}

// plain answers without heaps and tables.
func plain(p Policy, s State) map[string]Grant {
	out, free := map[string]Grant{}, int(s.Total.Cores)
	late := func(j Job) bool { return p.Rule != FS && s.Now > j.Due && j.Tasks > p.Reading.Violators }
	most := func(j Job) int { return min(j.Tasks, int(s.Total.Cores)) }
	var serving, waiting []Job
	for _, j := range slices.Concat(s.Serving, s.Waiting) {
		switch {
		case late(j) && (j.Units > 0 || p.Rule == FSReactive):
			out[j.ID] = Grant{j.ID, 0, true}
		case j.Units > 0:
			free, serving = free-j.Units, append(serving, j)
		default:
			waiting = append(waiting, j)
		}
	}
	first := func(a, b Job) int { return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID)) }
	if p.Rule == FS || p.Rule == FSReactive {
		all := waiting
		if !p.Reading.Frozen {
			all = append(all, serving...)
		}
		for ; free > 0; free-- {
			open := slices.DeleteFunc(slices.Clone(all), func(j Job) bool { return j.Units >= most(j) })
			if len(open) == 0 {
				return out
			}
			least := slices.MinFunc(open, func(a, b Job) int { return cmp.Or(cmp.Compare(a.Units, b.Units), first(a, b)) })
			i := slices.IndexFunc(all, func(j Job) bool { return j.ID == least.ID })
			all[i].Units++
			out[least.ID] = Grant{least.ID, all[i].Units, false}
		}
		return out
	}
	l, _ := ReadLearnt(s.Learnt)
	boot := p.Rule != Oracle && l.Runs < max(1, cmp.Or(p.Reading.Bootstrap, 2))
	f := map[string]float64{Pythia: l.Most, Justice: min(1, max(l.Least, l.Error+l.Last/2+map[bool]float64{true: l.Least, false: l.Most}[l.Met]/2))}[p.Rule]
	key := map[string]float64{}
	need := map[string]int{}
	for _, j := range waiting {
		left, d := float64(j.Due-s.Now)/1e9, float64(j.Due-j.Arrival)/1e9
		v := d / left * f * float64(most(j)) // As the source has it.
		if p.Rule == Oracle {
			v = j.Left / left
		}
		need[j.ID] = max(1, int(math.Ceil(v-1e-9*math.Abs(v))))
		if boot {
			need[j.ID] = most(j)
		}
		if key[j.ID] = float64(need[j.ID]) / left; left <= 0 || need[j.ID] > most(j) {
			out[j.ID] = Grant{j.ID, 0, true}
		}
	}
	slices.SortFunc(waiting, func(a, b Job) int { return cmp.Or(cmp.Compare(key[a.ID], key[b.ID]), first(a, b)) })
	for _, j := range waiting {
		n := need[j.ID]
		if boot {
			n = min(n, free)
		}
		if !out[j.ID].Drop && n > 0 && n <= free {
			out[j.ID], free = Grant{j.ID, n, false}, free-n
		}
	}
	return out
}

// What a job has used while it waited is taken off, and never makes it need more.
func TestWhatWasUsedIsTakenOff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawReserving(t)
		if p.Rule = rapid.SampledFrom([]string{Pythia, Justice}).Draw(t, "rule"); len(s.Waiting) == 0 {
			return
		}
		s.Learnt = learn(p, append(drawOutcomes(t), ended(2, 100, true), ended(2, 100, true))...)
		s.Serving, s.Waiting = nil, s.Waiting[:1]
		j := &s.Waiting[0]
		f, _, _ := p.Fraction(s.Learnt)
		j.Used = rapid.Float64Range(0, f*float64(j.Tasks)*j.Due.Sub(j.Arrival).Seconds()).Draw(t, "used")
		d, left, m := float64(j.Due-j.Arrival)/1e9, float64(j.Due-s.Now)/1e9, min(j.Tasks, int(s.Total.Cores))
		want, n := Grant{j.ID, 0, true}, max(1, math.Ceil((1-1e-9)*(f*float64(m)*d-j.Used)/left))
		if left > 0 && n <= float64(m) {
			want = Grant{j.ID, int(n), false}
		}
		same(t, "used", []Grant{want}, p.Assign(s))
	})
}

// What is learnt is the same whether it was kept as bytes or the ends were counted from the first, and is short.
func TestLearntIsWhatWasSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outcomes := drawOutcomes(t)
		p := Policy{Rule: rapid.SampledFrom([]string{Pythia, Justice}).Draw(t, "rule")}
		p.Reading.Recent = rapid.SampledFrom([]float64{0, .3}).Draw(t, "recent")
		learnt := learn(p, outcomes...)
		l, err := ReadLearnt(slices.Clone(learnt))
		if err != nil || len(learnt) > 200 || l.Runs != len(outcomes) {
			t.Fatalf("%s: %d bytes, %d runs, %v", learnt, len(learnt), l.Runs, err)
		}
		if len(outcomes) == 0 {
			return
		}
		var rates, errs []float64
		mean := 0.0
		for i, o := range outcomes {
			rates = append(rates, min(1, o.Work/o.Deadline/float64(o.Most)))
			errs = append(errs, rates[i]-float64(o.Units)/float64(o.Most))
			if weight := p.Reading.Recent; weight == 0 || i == 0 {
				mean += (errs[i] - mean) / float64(i+1)
			} else {
				mean = (1-weight)*mean + weight*errs[i]
			}
		}
		last := outcomes[len(outcomes)-1]
		if l.Least != slices.Min(rates) || l.Most != slices.Max(rates) || math.Abs(l.Error-mean) > 1e-9 || l.Met != last.Met ||
			math.Abs(l.Last-float64(last.Units)/float64(last.Most)) > 1e-12 {
			t.Fatalf("%+v, want %v to %v, error %v", l, slices.Min(rates), slices.Max(rates), mean)
		}
	})
}
