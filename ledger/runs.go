package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Run is what is kept of an application that is over when its history is gone, in MostRun bytes.
type Run struct {
	App     api.AppID    `json:"app"`
	Profile string       `json:"p,omitempty"`
	User    string       `json:"u,omitempty"`
	Class   api.Class    `json:"c,omitempty"`
	State   api.AppState `json:"state"`
	// Killed says that somebody asked for its end.
	Killed bool `json:"killed,omitempty"`
	// At is when it ended, Duration after how long on its deadline clock.
	At       units.Instant `json:"at"`
	Duration units.Seconds `json:"s,omitempty"`
	Deadline units.Seconds `json:"due,omitempty"`
	// Work is what its executors used. Compared is what its stages used where these were all of its profile's, and
	// Profiled what the profile says of them at all cores; both are 0 otherwise.
	Work     units.Work `json:"w,omitempty"`
	Compared units.Work `json:"cmp,omitempty"`
	Profiled units.Work `json:"prof,omitempty"`
	// Kept is what it had kept for what nobody foresaw, and Unforeseen what it took for that, at all cores; both are 0
	// where nothing was kept.
	Kept       units.Seconds `json:"kept,omitempty"`
	Unforeseen units.Seconds `json:"unf,omitempty"`
	// Mean is how many cores it had, Offered how many its nodes offered it.
	Mean    units.Cores `json:"mean,omitempty"`
	Offered units.Cores `json:"of,omitempty"`
}

// Result says how a run ended.
type Result string

const (
	// ResultMet and ResultLate are of runs that finished in time and after their deadlines.
	ResultMet  Result = "met"
	ResultLate Result = "late"
	// ResultUnbound is of a run that finished, and had no deadline.
	ResultUnbound Result = "unbound"
	// ResultFailed, ResultKilled and ResultRefused are of runs that did not finish.
	ResultFailed  Result = "failed"
	ResultKilled  Result = "killed"
	ResultRefused Result = "refused"
	// ResultUnknown is of a run whose exit code was not seen.
	ResultUnknown Result = "unknown"
)

// Result says how r ended.
func (r *Run) Result() Result {
	switch {
	case r.State == api.AppRefused:
		return ResultRefused
	case r.Killed:
		return ResultKilled
	case r.State == api.AppFailed:
		return ResultFailed
	case r.State != api.AppFinished:
		return ResultUnknown
	case r.Deadline <= 0:
		return ResultUnbound
	case r.Duration <= r.Deadline:
		return ResultMet
	}
	return ResultLate
}

// Freed are the core-seconds that r's nodes offered it and others could have; 0 where it never ran.
func (r *Run) Freed() units.Work {
	if r.Mean <= 0 || r.Offered <= 0 {
		return 0
	}
	return units.Work(max(0, float64(r.Offered-r.Mean)) * float64(r.Duration))
}

const (
	// MostRun is how many bytes a Run takes in the store at most.
	MostRun = 400
	// mostRunName bounds its names there, quoted.
	mostRunName = 56
	// runPiece is from how many bytes on a piece of runs takes no more: each end of a run writes one anew.
	runPiece = 8 << 10
	// agePieces is how many pieces at least there are of the time for which runs are kept: a piece goes as a whole.
	agePieces = 100
)

// RunName is a name as a Run has it: a long one ends with a digest, so that it stays the only one of its kind.
func RunName(name string) string {
	quoted := func(s string) int { b, _ := json.Marshal(s); return len(b) }
	if len(name) <= mostRunName && quoted(name) <= mostRunName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := "~" + hex.EncodeToString(sum[:6])
	for end := mostRunName; ; end-- {
		if s := strings.ToValidUTF8(name[:min(end, len(name))], "") + tail; quoted(s) <= mostRunName {
			return s
		}
	}
}

// stored is r with short names, and with numbers to the millisecond.
func (r Run) stored() Run {
	short := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	r.Profile, r.User = RunName(r.Profile), RunName(r.User)
	r.At -= r.At % units.Instant(time.Millisecond)
	r.Duration, r.Deadline = units.Seconds(short(float64(r.Duration))), units.Seconds(short(float64(r.Deadline)))
	r.Work, r.Compared = units.Work(short(float64(r.Work))), units.Work(short(float64(r.Compared)))
	r.Profiled = units.Work(short(float64(r.Profiled)))
	r.Kept, r.Unforeseen = units.Seconds(short(float64(r.Kept))), units.Seconds(short(float64(r.Unforeseen)))
	r.Mean, r.Offered = units.Cores(short(float64(r.Mean))), units.Cores(short(float64(r.Offered)))
	return r
}

// of returns an error unless r is of that application, or of none.
func (r *Run) of(app api.AppID) error {
	if r.App != "" && r.App != app {
		return fmt.Errorf("the run of application %s is that of %s", app, r.App)
	}
	return nil
}

// runShelf has the runs that are kept, in pieces as they are stored, the oldest first. Snapshots share the list and the
// pieces: both are replaced.
type runShelf struct {
	pieces []*runsPiece
	bytes  int
	of     crowd
}

// runsPiece are runs that are stored under one key.
type runsPiece struct {
	V    int   `json:"v"`
	Runs []Run `json:"runs"`

	number, bytes int
}

func runsKey(number int) string { return runsPrefix + strconv.Itoa(number) }

// add keeps r, puts what is to be stored anew, and drops what is older than age, or of those that have most where all
// are more than most bytes.
func (s *runShelf) add(r Run, age time.Duration, most int, put func(key string, value []byte, err error)) {
	s.pieces = slices.Clone(s.pieces)
	last := &runsPiece{V: Layout}
	if n := len(s.pieces); n > 0 {
		p := s.pieces[n-1]
		if last.number = p.number + 1; p.bytes < runPiece && r.At.Sub(p.Runs[0].At) <= age/agePieces {
			*last = *p
			s.pieces = s.pieces[:n-1]
		}
	}
	r = r.stored()
	last.Runs = append(last.Runs, r) // Behind those that snapshots see.
	s.pieces = append(s.pieces, last)
	s.of.count(r.group(), 1)
	s.save(last, put)
	for len(s.pieces) > 1 {
		oldest := s.pieces[0]
		switch newest := oldest.Runs[len(oldest.Runs)-1].At; {
		case r.At.Sub(newest) > age:
			s.keep(0, nil, put)
		case s.bytes > most:
			s.crop(put)
		default:
			return
		}
	}
}

// crop drops the oldest runs of the group that has most.
func (s *runShelf) crop(put func(key string, value []byte, err error)) {
	most := s.of.largest()
	for i, p := range s.pieces[:len(s.pieces)-1] {
		kept := slices.DeleteFunc(slices.Clone(p.Runs), func(r Run) bool { return r.group() == most })
		if len(kept) < len(p.Runs) {
			s.keep(i, kept, put)
			return
		}
	}
	s.keep(0, nil, put) // The newest are the ones that have most.
}

// keep has those runs, nil for none, in the place of a piece's. The list is this shelf's own.
func (s *runShelf) keep(i int, kept []Run, put func(key string, value []byte, err error)) {
	old := s.pieces[i]
	for k := range old.Runs {
		s.of.count(old.Runs[k].group(), -1)
	}
	if len(kept) == 0 {
		put(runsKey(old.number), nil, nil)
		s.bytes -= old.bytes
		s.pieces = slices.Delete(s.pieces, i, i+1)
		return
	}
	for k := range kept {
		s.of.count(kept[k].group(), 1)
	}
	piece := *old
	piece.Runs, s.pieces[i] = kept, &piece
	s.save(&piece, put)
}

// group is whose r is.
func (r *Run) group() group { return group{r.User, r.State == api.AppRefused} }

func (s *runShelf) save(p *runsPiece, put func(key string, value []byte, err error)) {
	value, err := json.Marshal(p)
	put(runsKey(p.number), value, err)
	s.bytes += len(value) - p.bytes
	p.bytes = len(value)
}

// amend has the run of an application, if it is kept, say how that has ended.
func (s *runShelf) amend(app api.AppID, state api.AppState, duration units.Seconds,
	put func(key string, value []byte, err error)) {
	for i, p := range slices.Backward(s.pieces) {
		at := slices.IndexFunc(p.Runs, func(r Run) bool { return r.App == app })
		if at < 0 {
			continue
		}
		amended := *p
		amended.Runs = slices.Clone(p.Runs)
		r := &amended.Runs[at]
		s.of.count(r.group(), -1)
		r.State, r.Duration = state, duration
		*r = r.stored()
		s.of.count(r.group(), 1)
		s.pieces = slices.Clone(s.pieces)
		s.pieces[i] = &amended
		s.save(&amended, put)
		return
	}
}

// restore takes a piece in as it was stored.
func (s *runShelf) restore(pair api.Pair) error {
	p := runsPiece{bytes: len(pair.Value)}
	var err error
	if p.number, err = strconv.Atoi(strings.TrimPrefix(pair.Key, runsPrefix)); err != nil || p.number < 0 {
		return fmt.Errorf("key %s is no number", pair.Key)
	}
	if err := json.Unmarshal(pair.Value, &p); err != nil {
		return err
	}
	switch {
	case p.V != Layout:
		return otherLayout(p.V)
	case len(p.Runs) == 0:
		return errors.New("it has no runs")
	}
	for i := range p.Runs {
		r := &p.Runs[i] // They are many, of few profiles and users.
		r.Profile, r.User = unique.Make(r.Profile).Value(), unique.Make(r.User).Value()
		r.Class, r.State = unique.Make(r.Class).Value(), unique.Make(r.State).Value()
		s.of.count(r.group(), 1)
	}
	s.bytes += p.bytes
	at, _ := slices.BinarySearchFunc(s.pieces, p.number, func(q *runsPiece, n int) int { return cmp.Compare(q.number, n) })
	s.pieces = slices.Insert(s.pieces, at, &p)
	return nil
}

// all are the runs, the oldest first.
func (s *runShelf) all() iter.Seq[*Run] {
	pieces := s.pieces
	return func(yield func(*Run) bool) {
		for _, p := range pieces {
			for i := range p.Runs {
				if !yield(&p.Runs[i]) {
					return
				}
			}
		}
	}
}
