package assign

import (
	"encoding/json"
	"fmt"
)

// Outcome is what a job that has ended, or was ended at its deadline, shows of what deadlines need.
type Outcome struct {
	// Units are those that it had, Most those that it could use at once (M).
	Units, Most int
	// Work are the unit-seconds that it has used, Deadline the seconds from its arrival to its deadline.
	Work, Deadline float64
	Met            bool
	// Ended says that it was ended at its deadline: Work is a part of what it needs.
	Ended bool
}

// Learnt is what the rules that reserve know of the jobs that have ended. A rate is work / deadline / M, at most 1.
type Learnt struct {
	Version int `json:"v"`
	Runs    int `json:"n"`
	// Least and Most are of all rates.
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	// Last is which part of what it could use the last job had, Met whether it met its deadline.
	Last float64 `json:"last"`
	Met  bool    `json:"met"`
	// Error is the mean of rate - part had: equal weights, or Reading.Recent for the last one. Erred is of how many, 0
	// of all runs.
	Error float64 `json:"error"`
	Erred int     `json:"erred,omitempty"`
}

// learntVersion is that of the bytes.
const learntVersion = 1

// ReadLearnt reads what Policy.Learn has made, nothing of no bytes. Of bytes of another version it keeps nothing, and
// the error says so.
func ReadLearnt(b []byte) (l Learnt, err error) {
	fresh := Learnt{Version: learntVersion}
	if len(b) == 0 {
		return fresh, nil
	}
	if err = json.Unmarshal(b, &l); err == nil && (l.Version != learntVersion || !l.valid()) {
		err = fmt.Errorf("want version %d, and fractions from 0 to 1", learntVersion)
	}
	if err != nil {
		return fresh, fmt.Errorf("what was learnt of deadlines begins anew: %w", err)
	}
	return l, nil
}

func (l Learnt) valid() bool {
	part := func(f float64) bool { return f >= 0 && f <= 1 }
	return l.Runs >= l.Erred && l.Erred >= 0 && part(l.Least) && part(l.Most) && part(l.Last) && l.Error >= -1 &&
		l.Error <= 1
}

// Learn is what is known once o has ended, at most 200 bytes, for State.Learnt. All rules that reserve learn the same,
// so that each goes on with what another has learnt. A job without deadline or units that it could use teaches nothing,
// nor does a job that was ended, unless the reading is Truncated.
func (p Policy) Learn(learnt []byte, o Outcome) []byte {
	if !(o.Deadline > 0 && o.Work >= 0 && o.Most > 0) || o.Ended && !p.Reading.Truncated {
		return learnt
	}
	l, _ := ReadLearnt(learnt)
	rate := min(1, o.Work/o.Deadline/float64(o.Most))
	l.Last, l.Met = min(1, float64(max(0, o.Units))/float64(o.Most)), o.Met
	l.Runs++
	if l.Runs == 1 {
		l.Least, l.Most = rate, rate
	}
	l.Least, l.Most = min(l.Least, rate), max(l.Most, rate)
	if n := l.Runs; !p.Reading.Several || o.Most > 1 {
		if p.Reading.Several {
			l.Erred++
			n = l.Erred
		}
		weight := p.Reading.Recent
		if weight == 0 || n == 1 {
			weight = 1 / float64(n)
		}
		l.Error = min(1, max(-1, l.Error+weight*(rate-l.Last-l.Error)))
	}
	b, err := json.Marshal(l)
	if err != nil {
		return learnt // There are no numbers in it that JSON has not.
	}
	return b
}

// Fraction is the part of what a job could use that p reserves for one that comes now, and after how many ends. known
// is false until enough have ended, and under a rule that learns nothing.
func (p Policy) Fraction(learnt []byte) (fraction float64, runs int, known bool) {
	l, _ := ReadLearnt(learnt)
	of := find(reserving(), p.Rule).fraction
	if of == nil || l.Runs < p.Reading.bootstrap() {
		return 1, l.Runs, false
	}
	return of(l), l.Runs, true
}
