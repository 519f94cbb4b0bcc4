package profiles

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Basis is what the work of a stage that the profile lacks is estimated from.
type Basis string

// The bases, the surest first. A stage's own tasks are surer than any.
const (
	ByKind Basis = "kind" // Stages of its kind in the profile.
	ByRun  Basis = "run"  // Stages of this run that read the same way.
	ByTask Basis = "task" // The profile's mean task.
)

// Ended is what a stage of this run was told to read and has used.
type Ended struct {
	Ready api.StageReady
	Work  units.Work
}

// Estimate is the annotation, without an id, a job and parents, of a stage that became ready and is not in p, and what
// its work is estimated from. That is, by byte or, where nobody knows bytes, by record or task, what stages of its kind
// use in the profile. Else it is what stages of the run that have ended use that read the same way, shuffles or
// sources; else what p's mean task uses. It takes as long as there are stages.
func Estimate(p api.Profile, ended []Ended, ready api.StageReady) (api.ProfileStage, Basis) {
	records := known(ready.Records, int64(max(1, ready.Tasks)))
	s := api.ProfileStage{Name: ready.Name, Signature: ready.Signature, Lineage: ready.Lineage,
		Tasks: max(1, ready.Tasks), Records: records, Bytes: known(ready.Bytes, 0)}
	kind, basis := kindOf(p, ready), ByKind
	if len(kind) == 0 {
		kind, basis = readAlike(ended, ready), ByRun
	}
	if len(kind) == 0 {
		kind, basis = ones(p), ByTask
	}
	size := sizes(kind, s)
	if basis == ByTask {
		size = func(s *api.ProfileStage) float64 { return float64(s.Tasks) }
	}
	var work, of, longest, mean float64
	for i := range kind {
		k := &kind[i]
		work, of = work+float64(k.CoreSeconds), of+size(k)
		longest += float64(k.LongestTask)
		mean += float64(k.CoreSeconds) / float64(k.Tasks)
		s.TaskCores = max(s.TaskCores, k.TaskCores)
	}
	s.CoreSeconds = max(leastWork, units.Work(work*size(&s)/of))
	s.NominalRate = rate(s.Records, s.CoreSeconds)
	own := units.Seconds(s.CoreSeconds) / units.Seconds(s.Tasks)
	if s.LongestTask = own; mean > 0 {
		s.LongestTask = min(units.Seconds(s.CoreSeconds), own*units.Seconds(max(1, longest/mean)))
	}
	cores := units.Cores(s.Tasks) * s.Width()
	if p.Cores > 0 {
		cores = min(cores, p.Cores)
	}
	s.Duration = max(leastDuration, s.LongestTask/units.Seconds(s.Width()),
		units.Seconds(float64(s.CoreSeconds)/float64(cores)))
	return s, basis
}

// kindOf are the stages of p that are most like one that became ready: of its signature, else of its
// lineage, of its place in a query of its shape, of its name.
func kindOf(p api.Profile, ready api.StageReady) []api.ProfileStage {
	for _, same := range []func(*api.ProfileStage) bool{
		func(s *api.ProfileStage) bool { return ready.Signature != "" && s.Signature == ready.Signature },
		func(s *api.ProfileStage) bool { return ready.Lineage != "" && s.Lineage == ready.Lineage },
		func(s *api.ProfileStage) bool {
			return ready.Query != nil && s.Query != nil && s.Query.Shape == ready.Query.Shape &&
				s.Query.Exchange == ready.Query.Exchange
		},
		func(s *api.ProfileStage) bool { return ready.Name != "" && s.Name == ready.Name },
	} {
		var kind []api.ProfileStage
		for i := range p.Stages {
			if same(&p.Stages[i]) {
				kind = append(kind, asMany(&p, i, 1))
			}
		}
		if len(kind) > 0 {
			return kind
		}
	}
	return nil
}

// ones are the stages of p with what one of those that each stands for takes.
func ones(p api.Profile) []api.ProfileStage {
	if len(p.Folds) == 0 {
		return p.Stages
	}
	all := make([]api.ProfileStage, 0, len(p.Stages))
	for i := range p.Stages {
		all = append(all, asMany(&p, i, 1))
	}
	return all
}

// readAlike are the stages of a run that read the same way as one that became ready.
func readAlike(ended []Ended, ready api.StageReady) (like []api.ProfileStage) {
	for _, e := range ended {
		if (len(e.Ready.Parents) > 0) == (len(ready.Parents) > 0) && e.Work > 0 {
			like = append(like, api.ProfileStage{Tasks: max(1, e.Ready.Tasks), CoreSeconds: e.Work,
				Records: known(e.Ready.Records, int64(max(1, e.Ready.Tasks))), Bytes: known(e.Ready.Bytes, 0)})
		}
	}
	return like
}

// sizes returns how large a stage is in the unit that is known of s and of all those others: bytes,
// records, tasks.
func sizes(others []api.ProfileStage, s api.ProfileStage) func(*api.ProfileStage) float64 {
	bytes, records := s.Bytes > 0, s.Records != int64(s.Tasks)
	for i := range others {
		o := &others[i]
		bytes, records = bytes && o.Bytes > 0, records && o.Records != int64(o.Tasks)
	}
	switch {
	case bytes:
		return func(s *api.ProfileStage) float64 { return float64(s.Bytes) }
	case records:
		return func(s *api.ProfileStage) float64 { return float64(s.Records) }
	}
	return func(s *api.ProfileStage) float64 { return float64(s.Tasks) }
}
