package fromlog

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// guessedFactor is how many times the CPU time of its threads a JVM's stage uses where nothing says more.
const guessedFactor = 1.3

// compiling is for how much CPU time of an executor's tasks its code is compiled. Where cores are short compilers take
// their time from tasks, which run for longer than their threads use. Where they are not, or others take it, too, that
// says nothing, and compilers are taken to use as much as tasks: stolen is by how many times tasks run for longer at
// least, mostCompiled what both use at most.
const (
	compiling    units.Work = 5
	stolen                  = 1.1
	mostCompiled            = 2
)

// An application tells its factor where its tasks used so much CPU time. A factor beyond the bound is the waiting for a
// busy machine.
const (
	leastTold  units.Seconds = 10
	mostFactor               = 1.6
)

// factors are how many times the CPU time of its tasks' threads each stage of an application used.
type factors struct {
	// whole is that of the application's stages that are no Python, and sure how it is known.
	whole float64
	sure  api.Sure
	// learnt are those that runs under Pacer have measured, by stage.
	learnt map[int]float64
	// compiled is the CPU time of attempts for which code was compiled meanwhile: the first ones of the executors.
	compiled map[api.StageKey]units.Work
}

// factorsOf are the factors that the log itself tells.
func factorsOf(app *eventlog.Application) factors {
	var all, rest struct{ cpu, ran units.Seconds } // rest is what is behind the compilation.
	compiled, left := map[api.StageKey]units.Work{}, compiling*units.Work(len(app.Executors))
	for i := range app.Stages {
		if app.Stages[i].Python {
			continue
		}
		for k := range app.Stages[i].Attempts {
			m := &app.Stages[i].Attempts[k].Done.Metrics
			part := min(left, units.Work(m.CPU))
			left -= part
			compiled[api.StageKey{Stage: app.Stages[i].ID, Attempt: app.Stages[i].Attempts[k].Attempt}] = part
			all.cpu, all.ran = all.cpu+m.CPU, all.ran+ran(m)
			if behind := m.CPU - units.Seconds(part); behind > 0 {
				rest.cpu, rest.ran = rest.cpu+behind, rest.ran+ran(m)*behind/m.CPU
			}
		}
	}
	if rest.cpu < leastTold {
		rest = all
	}
	if rest.cpu >= leastTold && rest.ran >= rest.cpu && rest.ran <= mostFactor*rest.cpu {
		return factors{whole: float64(rest.ran / rest.cpu), sure: api.SureDerived, compiled: compiled}
	}
	return factors{whole: guessedFactor, sure: api.SureGuessed, compiled: compiled}
}

// ran is for how long tasks, or the collector, kept their cores.
func ran(m *eventlog.Metrics) units.Seconds { return busy(m) + m.GC }

// busy is for how long tasks ran and did not wait for a fetch, the disk or the collector.
func busy(m *eventlog.Metrics) units.Seconds { return max(0, m.Run-m.FetchWait-m.WriteTime-m.GC) }

// learn takes over the factors that runs of the same stages under Pacer have shown.
func (f *factors) learn(known *api.Profile, r *profiles.Recorder) {
	f.learnt = map[int]float64{}
	for _, variant := range known.Split() {
		m := profiles.NewMatcher(variant)
		for i := range r.Attempts {
			ready := r.Attempts[i].Ready
			found, is := m.Match(ready)
			if factor := variant.Habit.Stages[found.Annotation.ID].Factor; is && factor > 0 && f.learnt[ready.Stage] == 0 {
				f.learnt[ready.Stage] = factor
			}
			m.Ended(ready.Stage)
		}
	}
}

// work is the CPU time that the groups of an attempt used, and how that is known.
func (f *factors) work(s *eventlog.Stage, a *eventlog.Attempt) (units.Work, api.Sure) {
	cpu := units.Work(a.Done.CPU + a.Lost.CPU)
	switch {
	case f.learnt[s.ID] > 0:
		return cpu * units.Work(f.learnt[s.ID]), api.SureMeasured
	case s.Python:
		return max(cpu, units.Work(busy(&a.Done.Metrics)+busy(&a.Lost.Metrics))), api.SureGuessed
	}
	early := f.compiled[api.StageKey{Stage: s.ID, Attempt: a.Attempt}]
	first := float64(mostCompiled)
	if by := float64(ran(&a.Done.Metrics) / max(a.Done.CPU, 1e-9)); by > stolen {
		first = min(first, max(f.whole, by))
	}
	return early*units.Work(first) + (cpu-early)*units.Work(f.whole), f.sure
}
