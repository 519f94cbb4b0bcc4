package attach

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Applications are like this.
const (
	most     = 16   // Executors that a user allows.
	mostWait = 60.0 // Seconds until the manager gives half of what is asked for.
	spread   = 0.05 // Of a stage's work about what its profile and its input say.
	machines = 4
	head     = 3.0
	gap      = 0.3
	tail     = 0.5
)

// job is an application with its deadline.
type job struct {
	seed     uint64
	cores    int // Of an executor.
	stages   []stage
	profile  api.Profile
	deadline float64
}

// stage is a stage as it will be: work in core-seconds, in so many tasks that are alike.
type stage struct {
	tasks   int
	work    float64
	records int64
}

func (s *stage) task() float64 { return s.work / float64(s.tasks) }

// draw is the application of a seed. What its input is today, up to a fifth more or less than in its profile, it
// knows when a stage is ready; the rest nobody knows before.
func draw(seed uint64) (*job, error) {
	r := des.Random(seed, "attach")
	j := &job{seed: seed, cores: 1 << r.IntN(3)}
	needs := 2 + 10*r.Float64() // About how many executors keep the deadline.
	seconds := 150 + 600*r.Float64()
	stages := 3 + r.IntN(6)
	input := 1 + 0.4*(r.Float64()-0.5)
	var parts []float64
	sum := 0.0
	for range stages {
		parts = append(parts, math.Exp(0.7*r.NormFloat64()))
		sum += parts[len(parts)-1]
	}
	recorded := &job{seed: seed, cores: j.cores}
	for _, part := range parts {
		s := stage{tasks: 100 + r.IntN(300), records: 1_000_000}
		s.work = part / sum * needs * float64(j.cores) * seconds
		recorded.stages = append(recorded.stages, s)
		s.records = int64(float64(s.records) * input)
		s.work *= input * math.Exp(spread*r.NormFloat64())
		j.stages = append(j.stages, s)
	}
	if err := j.record(recorded, 2+r.IntN(most-2)); err != nil {
		return nil, err
	}
	j.deadline = head + seconds*(0.9+0.6*r.Float64()) + float64(stages)*gap + mostWait/2
	return j, nil
}

// record makes j's profile of a run on so many executors that are there from the beginning.
func (j *job) record(run *job, executors int) error {
	w := newWorld(run, &fixed{n: executors})
	w.manager.at = 0
	ends, err := w.run()
	if err != nil {
		return err
	}
	j.profile = api.Profile{Schema: api.ProfileSchema, Name: fmt.Sprintf("attach-%d", j.seed), Runs: 1,
		Duration: units.Seconds(w.now), Cores: units.Cores(executors * run.cores), Head: head, Tail: tail}
	at := head
	for i, s := range run.stages {
		p := api.ProfileStage{ID: i, Job: i, Name: fmt.Sprintf("stage %d", i), Signature: fmt.Sprintf("s%d", i),
			Parents: []int{}, Tasks: s.tasks, Duration: units.Seconds(ends[i] - at), Records: s.records,
			CoreSeconds: units.Work(s.work), NominalRate: units.Rate(float64(s.records) / s.work),
			LongestTask: units.Seconds(s.task())}
		if i > 0 {
			p.Parents, p.Gap, p.Duration = []int{i - 1}, gap, p.Duration-gap
		}
		j.profile.Stages = append(j.profile.Stages, p)
		at = ends[i]
	}
	return nil
}

// manager gives executors.
type manager struct {
	random *rand.Rand
	// at is when it gives next, below 0 for nothing that is asked for.
	at float64
}

func newManager(seed uint64) *manager { return &manager{random: des.Random(seed, "manager"), at: -1} }

// gives is how many of so many that are lacking it gives now.
func (m *manager) gives(now float64, lacks int) int {
	switch {
	case lacks <= 0:
		m.at = -1
		return 0
	case m.at < 0:
		m.at = now + mostWait*m.random.Float64()
	}
	if now < m.at {
		return 0
	}
	m.at = -1
	return (lacks + 1) / 2
}
