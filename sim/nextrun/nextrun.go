package nextrun

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// New is the truth of a stage that the profile does not know.
const New = -1

// Runs are two runs of an application.
type Runs struct {
	// Known is the profile of the first one, Next what the profile of the second one alone would be.
	// Their stages are in order of submission, and their ids are their places.
	Known, Next api.Profile
	// Truth has for each stage of Next the one of Known that it is, or New.
	Truth []int
	// Changes are what was changed between the two.
	Changes []Change
	// alike has a number for each stage of Known that is the same for those of a code.
	alike []int
	// jobs are Spark's jobs of the stages of Next, first those of Known.
	jobs, first []int
}

// First is the first run in the place of the next one.
func (r Runs) First() Runs {
	first := Runs{Known: r.Known, Next: r.Known, alike: r.alike, jobs: r.first, first: r.first}
	for i := range r.Known.Stages {
		first.Truth = append(first.Truth, i)
	}
	return first
}

// Draw draws an application whose run has about that many stages, and its next run with those changes.
func Draw(r *rand.Rand, stages int, changes ...Change) Runs {
	runs, _ := DrawWith(r, nil, stages, changes...)
	return runs
}

// DrawWith is Draw with as many other next runs of the same application as there are others: each draws its own
// changes.
func DrawWith(r *rand.Rand, others []*rand.Rand, stages int, changes ...Change) (runs Runs, all []Runs) {
	first := drawProgram(r, stages)
	one := render(r, first, [tables]float64{1, 1, 1, 1, 1})
	runs = one.next(r, first, changes)
	for _, other := range others {
		all = append(all, one.next(other, first, DrawChanges(other)))
	}
	return runs, all
}

// next is one, which is a run of first, with a run of that with those changes.
func (x run) next(r *rand.Rand, first *program, changes []Change) Runs {
	changed, sizes := first.copy(), [tables]float64{1, 1, 1, 1, 1}
	for _, c := range changes {
		changed.change(r, c, &sizes)
	}
	two := render(r, changed, sizes)
	out := Runs{Known: x.profile, Next: two.profile, Changes: changes, jobs: two.jobs, first: x.jobs}
	numbers, left := map[identity]int{}, map[identity][]int{}
	for i, id := range x.who {
		left[id] = append(left[id], i)
		id.variant = 0
		if _, known := numbers[id]; !known {
			numbers[id] = len(numbers)
		}
		out.alike = append(out.alike, numbers[id])
	}
	for _, id := range two.who {
		truth := New
		if same := left[id]; len(same) > 0 {
			truth, left[id] = same[0], same[1:]
		}
		out.Truth = append(out.Truth, truth)
	}
	return out
}

// DrawChanges draws one to four changes, alike or not.
func DrawChanges(r *rand.Rand) []Change {
	var drawn []Change
	for range 1 + r.IntN(4) {
		drawn = append(drawn, Changes[r.IntN(len(Changes))])
	}
	return drawn
}

// Right reports whether it is right that stage i of Next is stage known of Known, or New: it is the one, or
// nothing tells it from that one.
func (r Runs) Right(i, known int) bool {
	truth := r.Truth[i]
	if truth == known || truth == New || known == New {
		return truth == known
	}
	one, other := r.Known.Stages[truth], r.Known.Stages[known]
	return r.alike[truth] == r.alike[known] && math.Abs(math.Log(float64(one.Bytes)/float64(other.Bytes))) < noticeable
}

// noticeable is from which difference on, as a logarithm, the bytes of two stages are not the same read
// twice: three times the noise of both.
const noticeable = 3 * noise * math.Sqrt2

// noise is by how much the bytes of a stage differ from run to run, as a logarithm.
const noise = 0.02

// Ready is what the driver says of stage i of Next.
func (r Runs) Ready(i int) api.StageReady {
	s := r.Next.Stages[i]
	ready := api.StageReady{StageKey: api.StageKey{Stage: s.ID}, Job: r.jobs[i], Name: s.Name,
		Signature: s.Signature, Lineage: s.Lineage,
		Parents: s.Parents, Tasks: s.Tasks, Records: api.Unknown, Bytes: s.Bytes}
	if len(s.Parents) > 0 {
		ready.Records = s.Records
	}
	if s.Query != nil {
		q := *s.Query
		q.Execution = int64(hash(q.Shape, fmt.Sprint(q.Nth)) >> 16)
		ready.Query = &q
	}
	return ready
}

// identity says who a stage is.
type identity struct{ code, variant, place int }

// run is a run of a program.
type run struct {
	profile api.Profile
	who     []identity
	// jobs are Spark's, actions how many have begun.
	jobs    []int
	actions int
}

// cores are those of the machine on which the runs are.
const cores = 8

// render runs p at all cores, with what tables hold.
func render(r *rand.Rand, p *program, sizes [tables]float64) run {
	out := run{profile: api.Profile{Schema: api.ProfileSchema, Name: "next", Runs: 1, Cores: cores, Head: 5, Tail: 0.5,
		Exit: 0.5}}
	queries := map[int]int{} // Of a shape, so far.
	for job, actions := range p.steps {
		var open []*progress
		for i := range actions {
			open = append(open, &progress{action: &actions[i]})
		}
		for len(open) > 0 {
			k := r.IntN(len(open))
			out.submit(r, open[k], job, queries, sizes)
			if len(open[k].ids) == len(open[k].stages) {
				open = slices.Delete(open, k, k+1)
			}
		}
	}
	out.profile.Duration = out.profile.Head + duration(out.profile.Stages) + out.profile.Tail + out.profile.Exit
	return out
}

// progress is an action under way.
type progress struct {
	*action
	nth, job int
	// By place: ids of stages that were submitted, and what their readers inherit.
	ids                []int
	signature, lineage []string
	factor             []float64
}

// submit has the next stage of an action submitted.
func (x *run) submit(r *rand.Rand, a *progress, job int, queries map[int]int, sizes [tables]float64) {
	i, id := len(a.ids), len(x.profile.Stages)
	if i == 0 {
		a.job = x.actions
		x.actions++
	}
	if i == 0 && a.sql {
		a.nth = queries[a.shape]
		queries[a.shape]++
	}
	of := &a.stages[i]
	code, kind := []string{fmt.Sprint(of.kind)}, []string{fmt.Sprint(of.kind)}
	factor, parents := sizes[of.table], []int{}
	if len(of.parents) > 0 {
		factor = 0
	}
	for _, parent := range of.parents {
		code, kind = append(code, a.signature[parent]), append(kind, a.lineage[parent])
		factor += a.factor[parent] / float64(len(of.parents))
		parents = append(parents, a.ids[parent])
	}
	code = append(code, fmt.Sprint("site ", a.site))
	s := api.ProfileStage{ID: id, Job: job, Name: fmt.Sprintf("collect at app.py:%d", a.line), Parents: parents,
		Signature: fmt.Sprintf("%016x", hash(code...)), Lineage: fmt.Sprintf("%016x", hash(kind...)), Tasks: of.tasks,
		Gap: units.Seconds(0.02 + 0.3*r.Float64())}
	if a.sql {
		s.Name = "save at NativeMethodAccessorImpl.java:0"
		s.Query = &api.QueryStage{Shape: fmt.Sprintf("%016x", hash("shape", fmt.Sprint(a.shape))), Nth: a.nth,
			Exchange: of.exchange}
	}
	s.Bytes = max(1, int64(of.bytes*factor*math.Exp(noise*r.NormFloat64())))
	s.Records = max(1, s.Bytes/100)
	mib := float64(s.Bytes) / (1 << 20)
	s.CoreSeconds = units.Work(0.2 + of.cost*mib*math.Exp(0.1*r.NormFloat64()))
	s.BytesWritten = s.Bytes / 3
	s.RecordsWritten = s.Records / 3
	s.NominalRate = units.Rate(float64(s.Records) / float64(s.CoreSeconds))
	s.LongestTask = units.Seconds(float64(s.CoreSeconds) / float64(s.Tasks))
	s.Duration = max(s.LongestTask, units.Seconds(float64(s.CoreSeconds)/cores)) + 0.05
	x.profile.Stages = append(x.profile.Stages, s)
	x.jobs = append(x.jobs, a.job)
	x.who = append(x.who, identity{a.code, a.variant, of.place})
	a.ids, a.factor = append(a.ids, id), append(a.factor, factor)
	a.signature, a.lineage = append(a.signature, s.Signature), append(a.lineage, s.Lineage)
}

// duration is from the first stage's start to the last one's end, where each starts when those that it
// reads from and the jobs before have ended.
func duration(stages []api.ProfileStage) units.Seconds {
	ends := make([]units.Seconds, len(stages))
	job, before, latest := 0, units.Seconds(0), units.Seconds(0)
	for i, s := range stages {
		if s.Job != job {
			job, before = s.Job, latest
		}
		start := before
		for _, parent := range s.Parents {
			start = max(start, ends[parent])
		}
		ends[i] = start + s.Gap + s.Duration
		latest = max(latest, ends[i])
	}
	return latest
}

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64()
}
