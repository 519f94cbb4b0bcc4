package assign

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// sec is an instant so many seconds after 0.
func sec(s float64) units.Instant { return units.Instant(s * float64(time.Second)) }

// dueJob is a job of one-core units that has come at 0.
func dueJob(id string, tasks int, work, deadline float64) Job {
	return Job{ID: id, Unit: one, Core: 1, Elastic: tasks - 1, Tasks: tasks, Time: units.Seconds(work / float64(tasks)),
		Left: work, Due: sec(deadline)}
}

// capacity is that of the source's smallest cluster.
var capacity = Amount{Cores: 2250}

// ended is what a job of 100 tasks and a work of 10,000 shows that could use its T = 100 s.
func ended(x float64, had int, met bool) Outcome {
	return Outcome{Units: had, Most: 100, Work: 10_000, Deadline: x * 100, Met: met}
}

func learn(p Policy, outcomes ...Outcome) (b []byte) {
	for _, o := range outcomes {
		b = p.Learn(b, o)
	}
	return b
}

// Section 4.1: work 10,000, 100 tasks, due in 200 s, so a rate of 0.5. It may wait for D (1 - f).
func TestPythia(t *testing.T) {
	p := Policy{Rule: Pythia}
	learnt := learn(p, ended(2, 100, true), ended(2, 100, true))
	if f, runs, known := p.Fraction(learnt); f != 0.5 || runs != 2 || !known {
		t.Errorf("%v of %d, %v", f, runs, known)
	}
	for wait, want := range map[float64]Grant{0: {"a", 50, false}, 60: {"a", 72, false}, 100: {"a", 100, false},
		101: {"a", 0, true}, 200: {"a", 0, true}, 300: {"a", 0, true}} {
		j := dueJob("a", 100, 10_000, 200)
		same(t, "after a while", []Grant{want}, p.Assign(State{Now: sec(wait), Total: capacity, Waiting: []Job{j}, Learnt: learnt}))
	}
	// It never goes down.
	if f, _, _ := p.Fraction(learn(p, ended(1, 100, true), ended(2, 100, true), ended(4, 50, true))); f != 1 {
		t.Errorf("%v", f)
	}
}

// Section 5.1.1: what is reserved follows from the last job, the bound and the mean error.
func TestJustice(t *testing.T) {
	type end struct {
		x    float64
		had  int
		met  bool
		want float64
	}
	for name, ends := range map[string][]end{
		"Fixed2x": {{2, 100, true, 1}, {2, 100, true, .5}, {2, 50, true, .5}, {2, 50, true, .5}},
		"Jockey1x2x": {{2, 100, true, 1}, {1, 100, true, 0.5}, {2, 100, true, .5}, {1, 50, false, .625}, {1, 63, false, .789},
			{2, 79, true, .575}, {2, 58, true, .5}, {1, 50, false, .75}},
	} {
		p, learnt := Policy{Rule: Justice}, []byte(nil)
		for i, e := range ends {
			learnt = p.Learn(learnt, ended(e.x, e.had, e.met))
			f, runs, known := p.Fraction(learnt)
			if math.Abs(f-e.want) > 5e-4 || runs != i+1 || known != (i > 0) {
				t.Errorf("%s: %v after %d, want %v", name, f, runs, e.want)
			}
			if i == 0 {
				continue
			}
			want := []Grant{{"a", int(math.Ceil(100*f - 1e-6)), false}}
			s := State{Total: capacity, Waiting: []Job{dueJob("a", 100, 1, 200)}, Learnt: learnt}
			same(t, name, want, p.Assign(s))
		}
	}
	// The last error counts for all: (1 + 0.5) / 2 - 0.5; and half: (1 + 0.5) / 2 - 0.25.
	for recent, want := range map[float64]float64{1: 0.5, 0.5: 0.5} {
		p := Policy{Rule: Justice, Reading: Reading{Recent: recent}}
		if f, _, _ := p.Fraction(learn(p, ended(1, 100, true), ended(2, 100, true))); f != want {
			t.Errorf("a weight of %v: %v", recent, f)
		}
	}
	p, late := Policy{Rule: Justice, Reading: Reading{Recent: 1}}, []Outcome{ended(1, 100, true), ended(2, 100, true), ended(1, 50, false)}
	if f, _, _ := p.Fraction(learn(p, late...)); f != 1 {
		t.Errorf("an error of 0.5 alone: %v", f) // (0.5 + 1) / 2 + 0.5, and at most 1.
	}
	if f, _, _ := (Policy{Rule: Justice}).Fraction(learn(Policy{}, late...)); math.Abs(f-.75) > 1e-9 {
		t.Errorf("a mean error of 0: %v", f)
	}
}

// Section 5.1.2: a job that was ended teaches nothing, for its work is a part of what it needs; a job that was let end
// teaches it whole. By the other reading its truncated rate is what it was given, and the error that it was too little
// is lost.
func TestJusticeLearnsNothingOfAJobThatWasEnded(t *testing.T) {
	first := []Outcome{ended(2, 100, true), ended(1, 100, true), ended(2, 100, true)}
	killed := Outcome{Units: 50, Most: 100, Work: 5000, Deadline: 100, Ended: true} // Half of 10,000, at 50 units.
	for name, c := range map[string]struct {
		reading Reading
		last    Outcome
		want    float64
		runs    int
	}{
		"ended":                {Reading{}, killed, 0.5, 3},                       // As before it: (1 + 0.5) / 2 - 1/3, and the least is 0.5.
		"ended, and it counts": {Reading{Truncated: true}, killed, 0.5, 4},        // Error 0: (0.5 + 1) / 2 - 0.25.
		"let end":              {Reading{}, ended(1, 50, false), 0.75 - 0.125, 4}, // Error 0.5.
	} {
		p := Policy{Rule: Justice, Reading: c.reading}
		if f, runs, _ := p.Fraction(learn(p, append(first, c.last)...)); math.Abs(f-c.want) > 1e-9 || runs != c.runs {
			t.Errorf("%s: %v of %d, want %v of %d", name, f, runs, c.want, c.runs)
		}
	}
}

// A job of one task has one unit, so its error is its rate less 1, at most 0. Where most jobs have one, the mean error
// draws the fraction to the least rate, whatever larger jobs need; without them in the mean it does not.
func TestJobsOfOneTaskDrawTheFractionDown(t *testing.T) {
	var outcomes []Outcome
	for range 10 {
		outcomes = append(outcomes, Outcome{Units: 1, Most: 1, Work: 25, Deadline: 100, Met: true})
	}
	outcomes = append(outcomes, ended(1, 100, true))
	for several, want := range map[bool]float64{false: 0.25, true: 0.625} { // (1 + 0.25) / 2 - 7.5 / 11, and - 0.
		p := Policy{Rule: Justice, Reading: Reading{Several: several}}
		if f, _, _ := p.Fraction(learn(p, outcomes...)); math.Abs(f-want) > 1e-9 {
			t.Errorf("left out %v: %v, want %v", several, f, want)
		}
	}
}

// Section 4.2: with what it needs by its true work, or not at all.
func TestOracle(t *testing.T) {
	p := Policy{Rule: Oracle}
	for wait, want := range map[float64]Grant{0: {"a", 50, false}, 60: {"a", 72, false}, 100: {"a", 100, false}, 101: {"a", 0, true}} {
		s := State{Now: sec(wait), Total: capacity, Waiting: []Job{dueJob("a", 100, 10_000, 200)}}
		same(t, "after a while", []Grant{want}, p.Assign(s))
	}
}

// Fair sharing gives in parts, takes nothing back, and completes later what it has begun, unless it is frozen.
func TestFairShare(t *testing.T) {
	a, b, c := dueJob("a", 6, 60, 10), dueJob("b", 6, 60, 100), dueJob("c", 1, 1, 100)
	b.Arrival, c.Arrival = 1, 2
	ten := Amount{Cores: 10}
	s := State{Total: ten, Waiting: []Job{c, b, a}}
	same(t, "at once", []Grant{{"a", 5, false}, {"b", 4, false}, {"c", 1, false}}, Policy{Rule: FS}.Assign(s))
	a.Units, b.Units = 6, 4
	s = State{Now: sec(11), Total: ten, Serving: []Job{a, b}, Waiting: []Job{c}}
	same(t, "nothing is free", []Grant(nil), Policy{Rule: FS}.Assign(s))
	same(t, "its end", []Grant{{"a", 0, true}, {"b", 6, false}, {"c", 1, false}}, Policy{Rule: FSReactive}.Assign(s))
	frozen := Policy{Rule: FSReactive, Reading: Reading{Frozen: true}}
	same(t, "frozen", []Grant{{"a", 0, true}, {"c", 1, false}}, frozen.Assign(s))
}

// The least need over time left comes first; one that does not fit gets nothing, and a smaller one behind it passes.
func TestThePassOfReservations(t *testing.T) {
	p, early, large, small := Policy{Rule: Oracle}, dueJob("early", 100, 100, 10), dueJob("large", 100, 800, 40), dueJob("small", 4, 40, 20)
	s := State{Total: Amount{Cores: 25}, Waiting: []Job{early, large, small}} // 10/10, 20/40, 2/20.
	same(t, "order", []Grant{{"small", 2, false}, {"large", 20, false}}, p.Assign(s))
	s.Serving = []Job{serves(dueJob("runs", 10, 1, 90), 0, 10)}
	same(t, "passed", []Grant{{"small", 2, false}, {"early", 10, false}}, p.Assign(s))
	// Who runs keeps what it has, and is ended at its deadline if it has more tasks than that.
	early.Units = 10
	s = State{Now: early.Due, Total: s.Total, Serving: []Job{early}}
	same(t, "at its deadline", []Grant(nil), p.Assign(s))
	s.Now++
	same(t, "after it", []Grant{{"early", 0, true}}, p.Assign(s))
	p.Reading.Violators = 99
	same(t, "more tasks", []Grant{{"early", 0, true}}, p.Assign(s))
	p.Reading.Violators = 100
	same(t, "violators", []Grant(nil), p.Assign(s))
}

// Until enough have ended a job has all that it can use, or what is free, whatever its deadline.
func TestBootstrap(t *testing.T) {
	waiting := []Job{dueJob("a", 100, 1, 300), dueJob("b", 100, 1, 200), dueJob("c", 100, 1, 100)}
	for _, rule := range []string{Pythia, Justice} {
		p := Policy{Rule: rule}
		s := State{Total: Amount{Cores: 150}, Waiting: waiting, Learnt: p.Learn(nil, ended(4, 100, true))}
		same(t, rule, []Grant{{"a", 100, false}, {"b", 50, false}}, p.Assign(s))
		p.Reading.Bootstrap = 1
		s.Total.Cores = 250
		if g := p.Assign(s); len(g) != 3 || g[0].Units == 100 {
			t.Errorf("%s after one: %v", rule, g)
		}
	}
}

func TestGuardsOfReservations(t *testing.T) {
	for _, rule := range []string{Pythia, Justice, Oracle} {
		p := Policy{Rule: rule}
		all := learn(p, ended(1, 100, true), ended(1, 100, true))
		ask := func(now float64, j Job) []Grant {
			return p.Assign(State{Now: sec(now), Total: capacity, Waiting: []Job{j}, Learnt: all})
		}
		drop := []Grant{{"a", 0, true}}
		same(t, rule+": its deadline has passed", drop, ask(100, dueJob("a", 1, 1, 100)))
		same(t, rule+": it has no tasks", drop, ask(0, dueJob("a", 0, 1, 100)))
		same(t, rule+": all of it", []Grant{{"a", 100, false}}, ask(0, dueJob("a", 100, 10_000, 100)))
		same(t, rule+": all of it, and a wait", drop, ask(.01, dueJob("a", 100, 10_000, 100)))
		same(t, rule+": more tasks than there are cores", []Grant{{"a", 2250, false}}, ask(0, dueJob("a", 9000, 225_000, 100)))
		same(t, rule+": one task", []Grant{{"a", 1, false}}, ask(0, dueJob("a", 1, 100, 100)))
		same(t, rule+": no deadline", []Grant(nil), ask(0, Job{ID: "a", Unit: one, Tasks: 5}))
		none := learn(p, Outcome{100, 100, 0, 100, true, false}, Outcome{100, 100, 0, 100, true, false})
		s := State{Total: capacity, Waiting: []Job{dueJob("a", 100, 0, 100)}, Learnt: none}
		same(t, rule+": no work", []Grant{{"a", 1, false}}, p.Assign(s))
		// A node is lost: the earliest due keep theirs.
		first, second, third := dueJob("first", 9, 1, 10), dueJob("second", 9, 1, 20), dueJob("third", 9, 1, 30)
		first.Units, second.Units, third.Units = 4, 4, 2
		s = State{Total: Amount{Cores: 6}, Serving: []Job{second, third, first}, Learnt: all}
		same(t, rule+": a node is lost", []Grant{{"second", 0, true}}, p.Assign(s))
	}
}

// What teaches nothing changes nothing, and what is no record of this version begins anew.
func TestWhatIsLearntBeginsAnew(t *testing.T) {
	p := Policy{Rule: Pythia}
	known := learn(p, ended(2, 100, true), ended(2, 100, true))
	for _, o := range []Outcome{{}, {1, 1, 1, 0, true, false}, {1, 0, 1, 1, true, false}, {1, 1, math.NaN(), 1, true, false}, {1, 1, -1, 1, true, false}, {1, 2, 1, 1, false, true}} {
		same(t, "no lesson", string(known), string(p.Learn(known, o)))
	}
	for _, bad := range []string{"x", "{}", strings.Replace(string(known), `"v":1`, `"v":2`, 1), strings.Replace(string(known), `0.5`, `7`, 1)} {
		l, err := ReadLearnt([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), "begins anew") || l != (Learnt{Version: 1}) {
			t.Errorf("%s: %+v, %v", bad, l, err)
		}
		same(t, "anew", string(p.Learn(nil, ended(2, 100, true))), string(p.Learn([]byte(bad), ended(2, 100, true))))
	}
}
