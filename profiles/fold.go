package profiles

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Fold folds jobs that look alike into one until about that many attempts are left, whatever they were. The n jobs of a
// shape keep their part of them, in order, each as large as those that it stands for. Jobs look alike that had the same
// stages one from another, all of which completed at once. All attempts of r have ended.
func (r *Recorder) Fold(most int) {
	jobs := r.jobs()
	r.measure(jobs)
	alike, all := map[string]int{}, 0
	for _, j := range jobs {
		alike[j.shape] += j.count
		all += j.count * len(j.at)
	}
	type block struct{ jobs, number, first int }
	blocks, gone := map[string]*block{}, map[int]bool{}
	for k := range jobs {
		j := &jobs[k]
		if j.shape == "" {
			continue
		}
		n := alike[j.shape]
		keeps := max(1, n*most/all)
		b := blocks[j.shape]
		if b == nil {
			b = &block{number: -1}
			blocks[j.shape] = b
		}
		if number := b.jobs * keeps / n; number != b.number {
			b.number, b.first = number, k
		} else {
			for i, at := range j.at {
				r.Attempts[jobs[b.first].at[i]].absorb(&r.Attempts[at])
				gone[at] = true
			}
		}
		b.jobs += j.count
	}
	kept := r.Attempts[:0]
	for i := range r.Attempts {
		if !gone[i] {
			kept = append(kept, r.Attempts[i])
		}
	}
	clear(r.Attempts[len(kept):])
	r.Attempts = kept
}

// folded is p whose stage of that id stands for n.
func folded(p api.Profile, id, n int) api.Profile {
	if p.Folds == nil {
		p.Folds = make(map[int]int)
	}
	p.Folds[id] = n
	return p
}

// asMany is stage k of p as if it stood for n.
func asMany(p *api.Profile, k, n int) api.ProfileStage {
	return p.Stages[k].Part(float64(n) / float64(p.Count(p.Stages[k].ID)))
}

// Folded reports whether r has attempts that stand for several.
func (r *Recorder) Folded() bool {
	return slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return a.Count > 1 })
}

// absorb has a stand for b, too.
func (a *Attempt) absorb(b *Attempt) {
	a.Count += b.Count
	a.Ran, a.Waited, a.Work = a.Ran+b.Ran, a.Waited+b.Waited, a.Work+b.Work
	a.DoneAt = max(a.DoneAt, b.DoneAt)
	a.Cold, a.Held = max(a.Cold, b.Cold), a.Held || b.Held
	a.Reading = meanKnown(a.Reading, b.Reading, float64(b.Count)/float64(a.Count))
	a.Ready.Tasks = max(a.Ready.Tasks, b.Ready.Tasks)
	a.Ready.Records += b.Ready.Records
	a.Ready.Bytes += b.Ready.Bytes
	done, more := *a.Done, b.Done
	done.RecordsRead += more.RecordsRead
	done.RecordsWritten += more.RecordsWritten
	done.BytesRead += more.BytesRead
	done.BytesWritten += more.BytesWritten
	done.BytesRemote, done.BytesCached = both(done.BytesRemote, more.BytesRemote), done.BytesCached+more.BytesCached
	done.TaskCPU += more.TaskCPU
	done.TaskTime += more.TaskTime
	done.LongestTask = max(done.LongestTask, more.LongestTask)
	a.Done = &done
}

// folding is a Spark job on its way into another one, or the first of those that look like it.
type folding struct {
	number int
	// at are the places of its attempts, in order of stage.
	at       []int
	from, to units.Seconds
	count    int
	// shape is how it looks, "" for one that looks like no other.
	shape string
}

// overlaps reports whether j and k ran at one time.
func (j *folding) overlaps(k *folding) bool { return j.from < k.to && k.from < j.to }

// jobs are the Spark jobs of r in the order in which they began.
func (r *Recorder) jobs() []folding {
	place := map[int]int{}
	var jobs []folding
	for i := range r.Attempts {
		a := &r.Attempts[i]
		k, known := place[a.Ready.Job]
		if !known {
			k = len(jobs)
			place[a.Ready.Job] = k
			jobs = append(jobs, folding{number: a.Ready.Job, from: a.ReadyAt, to: a.DoneAt, count: max(1, a.Count)})
		}
		j := &jobs[k]
		j.at, j.from, j.to = append(j.at, i), min(j.from, a.ReadyAt), max(j.to, a.DoneAt)
	}
	for k := range jobs {
		slices.SortFunc(jobs[k].at, func(x, y int) int {
			return compareKeys(r.Attempts[x].Ready.StageKey, r.Attempts[y].Ready.StageKey)
		})
		jobs[k].shape = r.shape(&jobs[k])
	}
	slices.SortStableFunc(jobs, func(a, b folding) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.number, b.number))
	})
	return jobs
}

func compareKeys(a, b api.StageKey) int {
	return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Attempt, b.Attempt))
}

// shape is how a job of r looks: its stages, and which of them each reads from.
func (r *Recorder) shape(j *folding) string {
	place, text := map[int]int{}, &strings.Builder{}
	for i, at := range j.at {
		a := &r.Attempts[at]
		if !a.completed() || a.Ready.Attempt > 0 || a.Ready.Repeats != nil {
			return ""
		}
		fmt.Fprintf(text, "%q %q", a.Ready.Signature, a.Ready.Lineage)
		for _, parent := range a.Ready.Parents {
			if p, inside := place[parent]; inside {
				fmt.Fprintf(text, " %d", p)
			}
		}
		text.WriteByte('\n')
		place[a.Ready.Stage] = i
	}
	return text.String()
}

// measure notes of attempts that stand for themselves how long they ran and waited, and in which lane their jobs
// are: no two jobs of one lane ran at one time. Jobs of different lanes do not look alike.
func (r *Recorder) measure(jobs []folding) {
	lanes := map[int][]*folding{}
	for k := range jobs {
		j := &jobs[k]
		if lane := r.Attempts[j.at[0]].Lane; lane > 0 {
			lanes[lane] = append(lanes[lane], j)
		}
	}
	before := endings(jobs)
	for k := range jobs {
		j := &jobs[k]
		lane := r.Attempts[j.at[0]].Lane
		if lane == 0 {
			for lane = 1; slices.ContainsFunc(lanes[lane], j.overlaps); lane++ {
			}
			lanes[lane] = append(lanes[lane], j)
			r.time(j, lane, before(j.from))
		}
		if j.shape != "" {
			j.shape = fmt.Sprintf("%d\n%s", lane, j.shape)
		}
	}
}

// time notes of a job's attempts how long they ran, and waited for each other or for what ended at since.
func (r *Recorder) time(j *folding, lane int, since units.Seconds) {
	ended := map[int]units.Seconds{}
	for _, at := range j.at {
		a := &r.Attempts[at]
		waited, read := since, units.Seconds(-1)
		for _, parent := range a.Ready.Parents {
			if done, inside := ended[parent]; inside {
				read = max(read, done)
			}
		}
		if read >= 0 {
			waited = read
		}
		a.Count, a.Lane, a.Ran, a.Waited = 1, lane, a.DoneAt-a.ReadyAt, max(0, a.ReadyAt-waited)
		a.Work = max(a.Work, units.Work(a.Done.TaskCPU), leastWork)
		ended[a.Ready.Stage] = a.DoneAt
	}
}

// endings returns what says when the last job had ended of those that had by a moment, that moment if none had.
func endings(jobs []folding) func(by units.Seconds) units.Seconds {
	ends := make([]units.Seconds, 0, len(jobs))
	for k := range jobs {
		ends = append(ends, jobs[k].to)
	}
	slices.Sort(ends)
	return func(by units.Seconds) units.Seconds {
		if i, found := slices.BinarySearch(ends, by); found {
			return by
		} else if i > 0 {
			return ends[i-1]
		}
		return by
	}
}

// weave is graph for the stages of a run of which jobs were folded. It has one job, in which the Spark jobs of a lane
// come one after the other, each after those of other lanes, too, that had ended before it began.
func weave(stages []observed) {
	place := map[int]int{}
	for i := range stages {
		s := &stages[i]
		for _, id := range s.Ready.Parents {
			if p, ran := place[id]; ran && stages[p].Ready.Job == s.Ready.Job {
				s.parents = append(s.parents, p)
			}
		}
		place[s.Ready.Stage] = i
	}
	jobs, last := spans(stages), map[int]int{} // The last job of each lane.
	heads := map[int][]int{}
	var order []int
	for i := range stages {
		s := &stages[i]
		if len(s.parents) > 0 {
			continue
		}
		if heads[s.Ready.Job] == nil {
			order = append(order, s.Ready.Job)
		}
		heads[s.Ready.Job] = append(heads[s.Ready.Job], i)
	}
	for _, number := range order {
		lane := stages[heads[number][0]].Lane
		before := preceding(jobs, number)
		if same, is := last[lane]; is && !slices.Contains(before, same) {
			before = append(before, same)
		}
		last[lane] = number
		for _, i := range heads[number] {
			for _, b := range before {
				for _, p := range jobs[b].last {
					if p < i {
						stages[i].parents = append(stages[i].parents, p)
					}
				}
			}
			slices.Sort(stages[i].parents)
			stages[i].parents = slices.Compact(stages[i].parents)
		}
	}
}

// preceding are the jobs that had ended before one began, but for those that had before another one of them began:
// that follows them.
func preceding(jobs map[int]span, number int) (before []int) {
	from, newest := jobs[number].from, math.Inf(-1)
	for k, j := range jobs {
		if k != number && j.to <= from {
			newest = max(newest, float64(j.from))
		}
	}
	for k, j := range jobs {
		if k != number && j.to <= from && (float64(j.to) > newest || float64(j.from) == newest) {
			before = append(before, k)
		}
	}
	slices.Sort(before)
	return before
}
