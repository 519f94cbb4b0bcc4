package assign

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/units"
)

// one is a unit of the source's exposition, which has one dimension.
var one = Amount{Cores: 1}

// job asks for units of one core, and takes so many seconds with all of them.
func job(id string, core, elastic int, seconds float64) Job {
	return Job{ID: id, Unit: one, Core: core, Elastic: elastic, Time: units.Seconds(seconds),
		Left: seconds * float64(core+elastic)}
}

// serves is j as it is served with n units since a moment.
func serves(j Job, began units.Instant, n int) Job {
	j.Began, j.Units = began, n
	return j
}

// fluid is a cluster whose jobs work as fast as they have units (section 3.1): W = T (C + E), T' = W / (C + x).
type fluid struct {
	policy  Policy
	state   State
	arrives []Job
	// at is the time in seconds, state.Now beside it to the nanosecond.
	at     float64
	ends   map[string]float64
	starts []string
	// look is shown each question with its answer, if it is not nil.
	look func(State, []Grant)
}

// run lets all jobs arrive at their times and end, and returns when each has ended, in seconds.
func run(p Policy, total Amount, jobs ...Job) *fluid {
	f := &fluid{policy: p, state: State{Total: total}, arrives: slices.Clone(jobs), ends: make(map[string]float64)}
	for f.step() {
	}
	return f
}

func (f *fluid) step() bool {
	next, ending := math.Inf(1), -1
	for i, j := range f.state.Serving {
		if end := f.at + j.Left/float64(j.Units); end < next {
			next, ending = end, i
		}
	}
	if len(f.arrives) > 0 && time.Duration(f.arrives[0].Arrival).Seconds() <= next {
		next, ending = time.Duration(f.arrives[0].Arrival).Seconds(), -1
	} else if ending < 0 {
		return false
	}
	for i := range f.state.Serving {
		f.state.Serving[i].Left -= (next - f.at) * float64(f.state.Serving[i].Units)
	}
	f.at, f.state.Now = next, units.Instant(math.Round(next*1e9))
	f.state.Freed = ending >= 0
	if ending >= 0 {
		f.ends[f.state.Serving[ending].ID] = next
		f.state.Serving = slices.Delete(f.state.Serving, ending, ending+1)
	} else {
		f.state.Waiting = append(f.state.Waiting, f.arrives[0])
		f.arrives = f.arrives[1:]
	}
	f.ask()
	return true
}

// ask asks the policy, and carries its grants out.
func (f *fluid) ask() {
	grants := f.policy.Assign(f.state)
	if f.look != nil {
		f.look(f.state, grants)
	}
	for _, g := range grants {
		if i := slices.IndexFunc(f.state.Serving, func(j Job) bool { return j.ID == g.ID }); i >= 0 {
			f.state.Serving[i].Units = g.Units
			continue
		}
		i := slices.IndexFunc(f.state.Waiting, func(j Job) bool { return j.ID == g.ID })
		f.state.Serving = append(f.state.Serving, serves(f.state.Waiting[i], f.state.Now, g.Units))
		f.state.Waiting = slices.Delete(f.state.Waiting, i, i+1)
		f.starts = append(f.starts, g.ID)
	}
}

// mean is the mean turnaround of jobs that came at 0.
func (f *fluid) mean() float64 {
	sum := 0.0
	for _, end := range f.ends {
		sum += end
	}
	return sum / float64(len(f.ends))
}

// near fails unless two numbers are the same to 1e-9.
func near(t *testing.T, what string, want, have float64) {
	t.Helper()
	if !(math.Abs(want-have) <= 1e-9) {
		t.Errorf("%s: %v, want %v", what, have, want)
	}
}

// same fails unless two values are equal.
func same(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, want, have any) {
	t.Helper()
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s: - want + have\n%s", what, diff)
	}
}

// Fig 3.1: ten units, four jobs at 0 in their order, each of which takes 10 s with all its units.
func TestFig3_1(t *testing.T) {
	for _, c := range []struct {
		rule string
		ends []float64
		mean float64
	}{
		{Rigid, []float64{10, 20, 30, 40}, 25},
		{Malleable, []float64{10, 15, 22.5, 32.5}, 20},
		{Flexible, []float64{10, 15, 165.0 / 7, 199.0 / 7}, 19.25},
		{FlexiblePreemptive, []float64{10, 15, 165.0 / 7, 199.0 / 7}, 19.25},
	} {
		p := Policy{Rule: c.rule, Order: FIFO}
		jobs := []Job{job("a", 3, 4, 10), job("b", 3, 3, 10), job("c", 3, 5, 10), job("d", 3, 2, 10)}
		f := run(p, Amount{Cores: 10}, jobs...)
		for i, end := range c.ends {
			near(t, c.rule+" "+jobs[i].ID, end, f.ends[jobs[i].ID])
		}
		near(t, c.rule+" mean", c.mean, f.mean())
		same(t, c.rule+" starts", []string{"a", "b", "c", "d"}, f.starts)
		if c.rule != Rigid {
			same(t, c.rule+" all at once", []Grant{{"a", 7, false}, {"b", 3, false}}, p.Assign(State{Total: Amount{Cores: 10}, Waiting: jobs}))
		}
	}
}

// Table 3.2 and section 3.3.6: which size counts decides who comes first.
func TestSizes(t *testing.T) {
	a, b := job("a", 10, 0, 2), job("b", 6, 0, 3)
	a.Unit.Memory, b.Unit.Memory = units.GiB, units.GiB
	for _, order := range []string{SJF, SRPT} {
		for size, mean := range map[string]float64{ByTime: 3.5, ByTimeUnits: 4, ByTimeCoresMemory: 4} {
			// Both wait before anything is asked.
			f := &fluid{policy: Policy{Rule: Rigid, Order: order, Size: size}, ends: make(map[string]float64),
				state: State{Total: Amount{10, 10 * units.GiB}, Waiting: []Job{b, a}}}
			f.ask()
			for f.step() {
			}
			near(t, order+" by "+size, mean, f.mean())
		}
	}
	b.Unit.Memory *= 2 // 20 and 36 of time, cores and memory.
	if p := (Policy{Order: SJF, Size: ByTimeCoresMemory}); p.Compare(0, &a, &b) >= 0 {
		t.Error("twice the memory is not a greater size")
	}
}

// Section 3.2.2: a departure lets the head start, and takes an elastic unit back for it.
func TestADepartureTakesBack(t *testing.T) {
	s := State{Now: 10, Total: Amount{Cores: 10}, Serving: []Job{serves(job("b", 3, 5, 10), 0, 8)},
		Waiting: []Job{job("d", 3, 0, 10)}}
	same(t, "nothing has left", []Grant(nil), Policy{Rule: Flexible, Order: FIFO}.Assign(s))
	s.Freed = true
	same(t, "flexible", []Grant{{"b", 7, false}, {"d", 3, false}}, Policy{Rule: Flexible, Order: FIFO}.Assign(s))
	same(t, "malleable", []Grant(nil), Policy{Rule: Malleable, Order: FIFO}.Assign(s))

	full := State{Total: Amount{Cores: 10}, Waiting: []Job{job("a", 10, 0, 10)}}
	larger := State{Total: Amount{Cores: 10}, Waiting: []Job{job("a", 11, 0, 10), job("b", 1, 0, 10)}}
	for _, rule := range Rules() {
		same(t, rule+": one that fills the whole starts", []Grant{{"a", 10, false}}, Policy{Rule: rule}.Assign(full))
		same(t, rule+": one that is larger does not block", []Grant{{"b", 1, false}}, Policy{Rule: rule}.Assign(larger))
	}
}

// Algorithm 2: B has 3 + 7 of ten units when one of a higher priority comes.
func TestAPriorJobPreempts(t *testing.T) {
	p := Policy{Rule: FlexiblePreemptive, Order: FIFO}
	prior := func(core, elastic int) Job {
		j := job("prior", core, elastic, 10)
		j.Priority, j.Arrival = 1, 5
		return j
	}
	s := State{Now: 5, Total: Amount{Cores: 10}, Serving: []Job{serves(job("b", 3, 7, 10), 0, 10)}}
	s.Waiting = []Job{job("first", 2, 0, 10), prior(4, 0)}
	same(t, "it starts", []Grant{{"b", 6, false}, {"prior", 4, false}}, p.Assign(s))
	s.Waiting = []Job{prior(4, 9)}
	same(t, "its elastic units come first", []Grant{{"b", 3, false}, {"prior", 7, false}}, p.Assign(s))
	s.Waiting = []Job{job("first", 2, 0, 10), prior(8, 0)}
	same(t, "it waits", []Grant(nil), p.Assign(s))
	s.Freed = true
	same(t, "it waits before the line", []Grant(nil), p.Assign(s))
	s.Waiting = s.Waiting[:1]
	same(t, "the line starts on a departure", []Grant(nil), p.Assign(s))
	s.Serving = nil
	s.Waiting = []Job{job("first", 2, 0, 10), prior(8, 0)}
	same(t, "both start", []Grant{{"prior", 8, false}, {"first", 2, false}}, p.Assign(s))
	s.Serving, s.Waiting = []Job{serves(job("b", 3, 7, 10), 0, 10)}, []Job{prior(4, 0)}
	same(t, "not under Algorithm 1", []Grant(nil), Policy{Rule: Flexible, Order: FIFO}.Assign(State{Now: 5, Total: s.Total,
		Serving: s.Serving, Waiting: s.Waiting}))
}

// The line is closed as soon as those that are served can fill one dimension.
func TestTheLineClosesInEitherDimension(t *testing.T) {
	s := State{Now: 10, Freed: true, Total: Amount{10, 100}, Waiting: []Job{job("d", 1, 0, 10)}}
	served := job("b", 1, 3, 10)
	s.Serving = []Job{serves(served, 0, 4)}
	p := Policy{Rule: Flexible}
	same(t, "open", []Grant{{"d", 1, false}}, p.Assign(s))
	s.Serving[0].Unit.Memory = 25
	same(t, "closed", []Grant(nil), p.Assign(s))
}

// With Pass those behind the head have what its core units, and all that have started since it came, leave.
func TestPass(t *testing.T) {
	old := serves(job("old", 5, 0, 10), 0, 5)
	wait := func(id string, core int, at units.Instant) Job {
		j := job(id, core, 0, 10)
		j.Arrival = at
		return j
	}
	s := State{Now: 9, Total: Amount{Cores: 10}, Serving: []Job{old},
		Waiting: []Job{wait("a", 7, 1), wait("b", 4, 2), wait("c", 2, 3), wait("d", 2, 4), wait("e", 1, 5)}}
	for _, rule := range Rules() {
		same(t, rule, []Grant{{"c", 2, false}, {"e", 1, false}}, Policy{Rule: rule, Order: FIFO, Pass: true}.Assign(s))
	}
	s.Serving = append(s.Serving, serves(job("young", 2, 0, 10), 2, 2))
	for _, rule := range Rules() {
		same(t, rule, []Grant{{"e", 1, false}}, Policy{Rule: rule, Order: FIFO, Pass: true}.Assign(s))
		if rule != Backfill {
			same(t, rule+" without", []Grant(nil), Policy{Rule: rule, Order: FIFO}.Assign(s))
		}
	}
}

// Those that wait come before those that are served under backfill, and after them under malleable.
func TestWhoComesFirst(t *testing.T) {
	s := State{Now: 9, Total: Amount{Cores: 10}, Serving: []Job{serves(job("b", 3, 3, 10), 0, 3)},
		Waiting: []Job{job("c", 3, 5, 10)}}
	same(t, "malleable", []Grant{{"b", 6, false}, {"c", 4, false}}, Policy{Rule: Malleable}.Assign(s))
	same(t, "backfill", []Grant{{"c", 7, false}}, Policy{Rule: Backfill}.Assign(s))
}

// Orders: what comes first, and what counts of one without a deadline, or of unknown size.
func TestOrders(t *testing.T) {
	hour := units.Instant(time.Hour)
	at := func(id string, arrival, due units.Instant, seconds float64) Job {
		j := job(id, 1, 0, seconds)
		j.Arrival, j.Due = arrival, due
		return j
	}
	for _, c := range []struct {
		order string
		now   units.Instant
		jobs  []Job // In the order in which they are to come.
	}{
		{FIFO, hour, []Job{at("b", 1, 0, 9), at("a", 2, 0, 1), at("c", 2, 0, 1)}},
		{SJF, hour, []Job{at("b", 3, 0, 1), at("unknown", 4, 0, 0), at("a", 5, 0, 5), at("c", 2, 0, 9)}},
		{SRPT, hour, []Job{at("b", 3, 0, 1), at("unknown", 4, 0, 0), at("a", 5, 0, 5), at("c", 2, 0, 9)}},
		// 1 + 90/30, 1 + 100/100, 1 + 1/10.
		{HRRN, units.Instant(100 * time.Second), []Job{at("c", units.Instant(10*time.Second), 0, 30), at("a", 0, 0, 100),
			at("b", units.Instant(99*time.Second), 0, 10)}},
		// Due at 1 h without a deadline; the latest start of c is in half an hour.
		{EDF, 0, []Job{at("c", 0, 5*hour, 4.5*3600), at("a", 0, 0, 0), at("b", 0, 2*hour, 0)}},
		{Laxity, 0, []Job{at("c", 0, 5*hour, 4.5*3600), at("a", 0, 0, 9999), at("d", 0, 5*hour, 3.5*3600),
			at("b", 0, 2*hour, 0)}},
	} {
		s := State{Now: c.now, Total: Amount{Cores: units.Cores(len(c.jobs))}, Waiting: slices.Clone(c.jobs)}
		slices.Reverse(s.Waiting)
		var want []Grant
		for _, j := range c.jobs {
			want = append(want, Grant{j.ID, 1, false})
		}
		for _, pass := range []bool{false, true} {
			same(t, c.order, want, Policy{Rule: Rigid, Order: c.order, Pass: pass}.Assign(s))
		}
	}
}

// A name that is not known is the default.
func TestTables(t *testing.T) {
	same(t, "rules", []string{"backfill", "rigid", "malleable", "flexible", "flexible-preemptive"}, Rules())
	same(t, "orders", []string{"edf", "fifo", "sjf", "srpt", "hrrn", "laxity"}, Orders())
	same(t, "sizes", []string{"time", "time-units", "time-cores-memory"}, Sizes())
	same(t, "rules that reserve", []string{"pythia", "justice", "oracle", "fs", "fs-reactive"}, Reserving())
	s := State{Total: Amount{Cores: 2}, Waiting: []Job{job("b", 2, 0, 1), job("a", 1, 0, 1)}}
	same(t, "default", Policy{Rule: Backfill, Order: EDF, Size: ByTime}.Assign(s), Policy{Rule: "none", Order: "none"}.Assign(s))
}
