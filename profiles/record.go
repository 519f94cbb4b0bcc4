package profiles

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Recorder accumulates one run of an application. It is a plain value that
// survives JSON; it is not safe for concurrent use.
type Recorder struct {
	// Name will be the profile's.
	Name string `json:"name"`
	// Attempts are the stage attempts in the order in which they were ready.
	Attempts []Attempt `json:"attempts"`
}

// Attempt is what is known of one stage attempt.
type Attempt struct {
	// Ready is as the driver told it, without its bindings.
	Ready   api.StageReady `json:"ready"`
	ReadyAt units.Seconds  `json:"ready_at_s"`
	// Done is nil until it ended.
	Done   *api.StageDone `json:"done,omitempty"`
	DoneAt units.Seconds  `json:"done_at_s"`
	// Work is the CPU time that the nodes saw it use.
	Work units.Work `json:"core_seconds"`
	// Reading is the part of their CPU time in which its large and long tasks read their records,
	// as a node saw them; 0 for unknown.
	Reading units.Fraction `json:"reading,omitempty"`
	// Cold is how many of its executors had run nothing while another one of their node
	// had.
	Cold int `json:"cold,omitempty"`
	// Held says that it had less than all cores at some moment.
	Held bool `json:"held,omitempty"`
	// Count is how many alike attempts, each of a job of its own, it stands for once jobs were folded (Fold): its sizes
	// and work are theirs together. Ran is how long they ran, Waited what passed before each of them, Lane says which
	// jobs ran one after the other. All are 0 before.
	Count  int           `json:"count,omitempty"`
	Ran    units.Seconds `json:"ran_s,omitempty"`
	Waited units.Seconds `json:"waited_s,omitempty"`
	Lane   int           `json:"lane,omitempty"`
	// Habit is what it has shown besides.
	Habit api.StageHabit `json:"habit,omitzero"`
}

// completed reports whether the attempt ended well.
func (a *Attempt) completed() bool { return a.Done != nil && !a.Done.Failed }

// betterThan reports whether a shows more than b, another attempt of its stage, of what the
// stage takes.
func (a *Attempt) betterThan(b *Attempt) bool {
	switch {
	case a.completed() != b.completed():
		return a.completed()
	case a.completed():
		return a.Ready.Tasks > b.Ready.Tasks
	}
	return a.Done != nil && (b.Done == nil || a.Work > b.Work)
}

// joined is the first of a stage's attempts that completed, with those before it of which it did the rest. The tasks
// that one has done before it fails are not done again, and the next attempt has fewer. Where none completed it is the
// first one.
func joined(attempts []Attempt) Attempt {
	first := slices.IndexFunc(attempts, func(a Attempt) bool { return a.completed() })
	if first < 0 {
		return attempts[0]
	}
	whole := attempts[first]
	for _, a := range slices.Backward(attempts[:first]) {
		if a.Done == nil || a.Ready.Tasks <= whole.Ready.Tasks {
			break
		}
		whole = a.followed(whole)
	}
	return whole
}

// both is the sum of what two attempts have told, nil where one has not.
func both(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// followed is a, which failed, and rest, which did what a had left, as one attempt. The time between them is left out:
// what a could not read was written again.
func (a Attempt) followed(rest Attempt) Attempt {
	done, part := *rest.Done, a.Done
	if part.TaskCPU > done.TaskCPU {
		done.FixedPart, done.TaskCost = part.FixedPart, part.TaskCost
	}
	done.Tasks = a.Ready.Tasks
	done.RecordsRead += part.RecordsRead
	done.RecordsWritten += part.RecordsWritten
	done.BytesRead += part.BytesRead
	done.BytesWritten += part.BytesWritten
	done.BytesRemote, done.BytesCached = both(done.BytesRemote, part.BytesRemote), done.BytesCached+part.BytesCached
	done.TaskCPU += part.TaskCPU
	done.TaskTime += part.TaskTime
	done.LongestTask = max(done.LongestTask, part.LongestTask)
	if rest.Reading == 0 || a.Work > rest.Work && a.Reading > 0 {
		rest.Reading = a.Reading
	}
	rest.ReadyAt = max(a.ReadyAt, rest.ReadyAt-(a.DoneAt-a.ReadyAt))
	rest.Ready, rest.Done = a.Ready, &done
	rest.Work += a.Work
	rest.Cold, rest.Held = max(rest.Cold, a.Cold), rest.Held || a.Held
	return rest
}

// NewRecorder returns a Recorder for a profile of that name.
func NewRecorder(name string) *Recorder { return &Recorder{Name: name} }

// Ready notes that a stage attempt was submitted at the given time on the
// deadline clock. A repeated note changes nothing.
func (r *Recorder) Ready(at units.Seconds, ready api.StageReady) {
	if r.attempt(ready.StageKey) != nil {
		return
	}
	ready.Bindings = nil
	r.Attempts = append(r.Attempts, Attempt{Ready: ready, ReadyAt: at})
}

// Done notes that a stage attempt ended. A repeated note, or one of an attempt
// that was never ready, changes nothing.
func (r *Recorder) Done(at units.Seconds, done api.StageDone) {
	if a := r.attempt(done.StageKey); a != nil && a.Done == nil {
		a.Done, a.DoneAt = &done, max(at, a.ReadyAt)
	}
}

// Work notes the CPU time that a stage attempt has used so far on all its
// executors together. It may come after Done; a smaller value than the one
// before is ignored, as is one of an attempt that was never ready.
func (r *Recorder) Work(stage api.StageKey, work units.Work) {
	if a := r.attempt(stage); a != nil && work > a.Work {
		a.Work = work
	}
}

// Reading notes in which part of their CPU time the large and long tasks of a stage attempt
// read their records. 0, or an attempt that was never ready, changes nothing.
func (r *Recorder) Reading(stage api.StageKey, part units.Fraction) {
	if a := r.attempt(stage); a != nil && part > 0 {
		a.Reading = part.Clamp()
	}
}

// Cold notes on how many cold executors a stage attempt ran (Terms). An attempt that
// was never ready changes nothing.
func (r *Recorder) Cold(stage api.StageKey, executors int) {
	if a := r.attempt(stage); a != nil {
		a.Cold = executors
	}
}

// Held notes that a stage attempt did not have all cores all the time. An attempt that was never
// ready changes nothing.
func (r *Recorder) Held(stage api.StageKey) {
	if a := r.attempt(stage); a != nil {
		a.Held = true
	}
}

// Habit notes what a stage attempt has shown besides what it took. An attempt that was never ready changes nothing.
func (r *Recorder) Habit(stage api.StageKey, habit api.StageHabit) {
	if a := r.attempt(stage); a != nil {
		a.Habit = habit
	}
}

// Terms returns what is known of the run besides the profile that Finish returns.
func (r *Recorder) Terms() Terms {
	t := Terms{Held: make(map[int]bool), Cold: make(map[int]int), Tried: make(map[int]units.Work)}
	stages, err := r.observed()
	if err != nil {
		return t
	}
	again := r.again()
	beside := func(s *observed) bool {
		return slices.ContainsFunc(again, func(a Attempt) bool { return a.ReadyAt < s.DoneAt && s.ReadyAt < a.DoneAt })
	}
	for i := range stages {
		if s := &stages[i]; s.tries > 1 {
			t.Tried[i] = max(0, s.used-s.Work)
		}
		if stages[i].Held || beside(&stages[i]) {
			t.Held[i] = true
		}
		if n := stages[i].Cold; n > 0 {
			t.Cold[i] = n
		}
	}
	return t
}

// again are the attempts that tried a stage again, or repeated one.
func (r *Recorder) again() (again []Attempt) {
	origins, seen := r.origins(), make(map[int]bool)
	for i := range r.Attempts {
		stage := origins.of(r.Attempts[i].Ready.Stage)
		if seen[stage] {
			again = append(again, r.Attempts[i])
		}
		seen[stage] = true
	}
	return again
}

// Finish returns the profile of the run, given its duration on the deadline
// clock and the cores that were offered. A stage of several attempts, those that repeat it under another id included,
// is described by the completed one with the most tasks, with failed ones of which that did the rest. An attempt that
// only repeated what had been lost does not count. The profile is that of a run without the others: its duration is
// shorter then. A stage that never completed is described by the failed one that did the most work. It returns a
// KindInvalid error when the run cannot be a profile: there was no stage, or one of them has not ended.
func (r *Recorder) Finish(duration units.Seconds, cores units.Cores) (api.Profile, error) {
	stages, err := r.observed()
	if err != nil {
		return api.Profile{}, err
	}
	if r.Folded() {
		weave(stages)
	} else {
		graph(stages)
	}
	p := api.Profile{Schema: api.ProfileSchema, Name: r.Name, Runs: 1, Cores: cores, Head: stages[0].first}
	last := p.Head
	for i := range r.Attempts {
		last = max(last, r.Attempts[i].DoneAt)
	}
	for i := range stages {
		p.Stages = append(p.Stages, annotate(stages, i, p.Head))
		habit := stages[i].Habit
		habit.Factor = factor(&stages[i])
		if done, n := stages[i].Done, int64(max(1, stages[i].Count)); done.BytesRemote != nil {
			habit.BytesRemote, habit.BytesCached = new(max(0, *done.BytesRemote)/n), max(0, done.BytesCached)/n
		}
		p = withHabit(p, i, habit)
		if n := stages[i].Count; n > 1 {
			p = folded(p, i, n)
		}
	}
	p.Habit.Pool = pool(stages)
	p.Tail = max(0, duration-last)
	p.Duration = replay(p)
	if err := p.Validate(); err != nil {
		return api.Profile{}, err
	}
	return p, nil
}

func (r *Recorder) attempt(key api.StageKey) *Attempt {
	i := slices.IndexFunc(r.Attempts, func(a Attempt) bool { return a.Ready.StageKey == key })
	if i < 0 {
		return nil
	}
	return &r.Attempts[i]
}

// origins maps the stages that repeat an earlier one under an id of their own to the
// first of these.
func (r *Recorder) origins() origins {
	o, seen := make(origins), make(map[int]bool)
	for i := range r.Attempts {
		ready := &r.Attempts[i].Ready
		if earlier := ready.Repeats; earlier != nil && seen[*earlier] && !seen[ready.Stage] {
			o[ready.Stage] = o.of(*earlier)
		}
		seen[ready.Stage] = true
	}
	return o
}

type origins map[int]int

// of is the stage that one of that id repeats, itself if it repeats none.
func (o origins) of(stage int) int {
	if first, repeats := o[stage]; repeats {
		return first
	}
	return stage
}

// observed has what describes each stage, in the order in which the stages
// were first ready.
func (r *Recorder) observed() ([]observed, error) {
	origins, place := r.origins(), make(map[int]int)
	var stages []observed
	var attempts [][]Attempt // By place.
	for i := range r.Attempts {
		a := r.Attempts[i]
		a.Ready.Stage, a.Ready.Parents = origins.of(a.Ready.Stage), slices.Clone(a.Ready.Parents)
		for k, parent := range a.Ready.Parents {
			a.Ready.Parents[k] = origins.of(parent)
		}
		at, known := place[a.Ready.Stage]
		if !known {
			at = len(stages)
			place[a.Ready.Stage] = at
			stages, attempts = append(stages, observed{first: a.ReadyAt}), append(attempts, nil)
		}
		attempts[at] = append(attempts[at], a)
	}
	for i, all := range attempts {
		stages[i].tries = len(all)
		for _, a := range all {
			stages[i].used += a.Work
		}
		best := &stages[i].Attempt
		*best = joined(all)
		for _, a := range all {
			if a.betterThan(best) {
				*best = a
			}
		}
	}
	if len(stages) == 0 {
		return nil, api.Errorf(api.KindInvalid, "profile %s: the run had no stage", r.Name)
	}
	for i := range stages {
		if s := &stages[i]; s.Done == nil {
			return nil, api.Errorf(api.KindInvalid, "profile %s: stage %d (%s) has not ended", r.Name, s.Ready.Stage,
				s.Ready.Name)
		}
	}
	slices.SortStableFunc(stages, func(a, b observed) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return a.Ready.Stage - b.Ready.Stage
	})
	return stages, nil
}
