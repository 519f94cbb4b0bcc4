package whatif

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// draws is how many there are. mostBend is that of the most bent: they lie evenly from 0 to there.
const (
	draws    = 6
	mostBend = 1.0
)

// paired are the draws that run in a cell as in their replay, too: what these differ by is the cell's doing alone.
var paired = [pairs]int{1, 4}

const pairs = 2

// name is that of the application in its worlds.
const name = "what-if"

// A stage took longer or less than its replay, and had a longer task, where it is by so many times: of one that ran
// alone its tasks waited.
const (
	differs = 1.25
	waits   = 1.1
)

// notice is what a stage takes longer at least.
const notice units.Seconds = 0.1

// lone is the exponent of sizes of which one is much larger than all others: large of all that there is.
const lone, large = 4, 0.92

// Worlds are run in time lapse where the profile's stages with their gaps take longer than briefly, and longer than
// brieflyStage for each of them. All times and works of the application and of the plant's habits are as much smaller.
const (
	briefly      units.Seconds = 300
	brieflyStage units.Seconds = 2
	mostLapse                  = 300
)

// table is a question under way. Its profile is in time lapse.
type table struct {
	Question
	// lapse is how many times as long all takes.
	lapse    float64
	whole    api.Profile // Without it.
	recorded Shape
	// stages are the profile's, in the order in which their tasks are offered cores.
	stages []api.ProfileStage
	// ran is by place when each of them did in the profile's run, nil where that does not count.
	ran   runs
	drawn []plant.App
	// more is by draw how many times the work of the profile it has.
	more []float64
	// reserve is by shape how many times later a promise is than an end at all cores.
	reserve []float64
	// known is the profile of a replay: what a planner goes by.
	known api.Profile
}

// config is a world of a shape for a draw.
func (t *table) config(s Shape, draw int) sim.Config {
	c := sim.Default()
	c.Seed, c.Nodes, c.Stop, c.Limit = uint64(draw+1), nil, t.Stop, 1000*24*time.Hour
	c.Plant.ByteCost = 0 // The longest task shows it.
	for _, work := range []*units.Work{&c.Plant.Start, &c.Plant.WarmWork, &c.Plant.PauseEvery, &c.Plant.PauseWork} {
		*work /= units.Work(t.lapse)
	}
	if draw < draws { // Chance in executors would hide what a cell does.
		c.Plant.Noise, c.Plant.RunNoise, c.Plant.ExitSpread, c.Plant.PauseEvery = 0, 0, 0, 0
	}
	c.Plant.Dispatch = time.Duration(float64(c.Plant.Dispatch) / t.lapse)
	for i := range s.Executors {
		c.Nodes = append(c.Nodes, sim.NodeSpec{Name: "n" + strconv.Itoa(i+1), Cores: s.Each})
	}
	return c
}

// fit draws the applications that may be behind the profile.
func (t *table) fit() error {
	t.hasten()
	fitted := func(a plant.App, draw int) (plant.App, api.Profile, error) {
		a.Bend = mostBend * float64(draw) / (draws - 1)
		p, _, err := sim.Record(t.config(t.recorded, draw), a)
		if err == nil {
			a = t.fitted(a, p)
		}
		return a, p, err
	}
	a, first, err := fitted(t.app(), draws/2)
	if !t.Profile.Contended && err == nil {
		t.ran = trace(t.Profile)
		stages, ran, was := t.stages, t.ran, t.unlike(first)
		t.stages, t.ran = t.offered(first)
		reordered, second, fault := fitted(t.app(), draws/2)
		if err = fault; err == nil && t.unlike(second) < likelier*was {
			a = reordered
		} else {
			t.stages, t.ran = stages, ran
		}
	}
	if err == nil { // A first stage has its work by steps: most of what it uses may be its executors' warm-up.
		a, t.known, err = fitted(a, draws/2)
	}
	if err != nil {
		return err
	}
	t.drawn = make([]plant.App, draws)
	if err := each(draws, func(i int) (err error) { t.drawn[i], _, err = fitted(a, i); return err }); err != nil {
		return err
	}
	t.differ()
	return nil
}

// hasten puts the profile in time lapse.
func (t *table) hasten() {
	all := profiles.Takes(t.Profile)
	t.lapse = min(mostLapse, max(1, float64(all/max(briefly, brieflyStage*units.Seconds(len(t.Profile.Stages))))))
	by := units.Seconds(t.lapse)
	p := &t.Profile
	t.whole = *p
	p.Duration, p.Head, p.Tail, p.Exit = p.Duration/by, p.Head/by, p.Tail/by, p.Exit/by
	p.Stages = slices.Clone(p.Stages)
	for i, s := range p.Stages {
		s.Duration, s.Gap, s.LongestTask = s.Duration/by, s.Gap/by, s.LongestTask/by
		s.CoreSeconds /= units.Work(by)
		p.Stages[i] = s
	}
	t.stages = p.Stages
}

// app is an application that does what the profile says, as if the work were done on ideal cores.
func (t *table) app() plant.App {
	p := t.Profile
	a := plant.App{Name: name, Head: p.Head, Tail: p.Tail, Exit: p.Exit}
	place, wide := make(map[int]int, len(p.Stages)), units.Work(0)
	for i, s := range t.stages {
		stage := plant.Stage{Name: strconv.Itoa(i), Job: s.Job, Tasks: s.Tasks, Work: s.CoreSeconds, Records: s.Records,
			Written: s.RecordsWritten, Gap: s.Gap, Read: s.Reading}
		for _, parent := range s.Parents {
			stage.Parents = append(stage.Parents, place[parent])
		}
		place[s.ID] = i
		a.Stages = append(a.Stages, stage)
		wide += s.CoreSeconds * units.Work(s.Width())
	}
	a.Threads = float64(wide / p.Work())
	return a
}

// offered are the stages in the order in which Spark offers their tasks cores, which is that of their ids. A profile
// has them in the order in which they were ready. A stage that took longer than in a replay in that order came behind
// those beside it, and one that took less came before them.
func (t *table) offered(replay api.Profile) ([]api.ProfileStage, runs) {
	pace := make([]int, len(t.stages)) // 1 for longer, -1 for less.
	for _, got := range replay.Stages {
		i, _ := strconv.Atoi(got.Name)
		switch took := t.stages[i].Duration; {
		case took > differs*got.Duration+notice:
			pace[i] = 1
		case got.Duration > differs*took+notice:
			pace[i] = -1
		}
	}
	var order []int
	for k, s := range t.stages {
		at := len(order)
		for n, i := range slices.Backward(order) {
			if slices.Contains(s.Parents, t.stages[i].ID) || t.stages[i].Job != s.Job {
				break
			}
			if pace[i] > pace[k] && t.ran.beside(i, k) {
				at = n
			}
		}
		order = slices.Insert(order, at, k)
	}
	out, ran := make([]api.ProfileStage, len(order)), t.ran.picked(order)
	for i, from := range order {
		out[i] = t.stages[from]
	}
	return out, ran
}

// likelier is by how many times less a replay in another order has to be unlike the run for that to be the order.
const likelier = 0.8

// unlike is by how much the stages of a replay take longer or less than in the run.
func (t *table) unlike(replay api.Profile) (all units.Seconds) {
	for _, got := range replay.Stages {
		i, _ := strconv.Atoi(got.Name)
		all += units.Seconds(math.Abs(float64(got.Duration - t.stages[i].Duration)))
	}
	return all
}

// fitted is a, of which a replay took what it did, with what makes it take what the profile has.
func (t *table) fitted(a plant.App, replay api.Profile) plant.App {
	a.Stages = slices.Clone(a.Stages)
	for _, got := range replay.Stages {
		i, _ := strconv.Atoi(got.Name)
		s, want := &a.Stages[i], t.stages[i]
		ratio := want.CoreSeconds / got.CoreSeconds
		s.Work *= ratio
		// One task is so many times as long as in the replay, whose tasks are alike.
		if longer := float64(want.LongestTask/got.LongestTask) / float64(ratio); s.Tasks > 1 && longer > differs {
			s.Zipf, s.Skewed = lone, units.Fraction(min(1, (longer-1)/(large*float64(s.Tasks)-1)))
		}
		took := max(got.Duration, want.LongestTask/units.Seconds(want.Width())) * units.Seconds(max(1, ratio))
		if t.ran.alone(i) && want.Duration > waits*took+notice {
			turns := math.Ceil(float64(s.Tasks) / math.Ceil(float64(t.recorded.Cores())))
			s.Fetch = (want.Duration - took) / units.Seconds(turns)
		}
	}
	return a
}

// differ has the draws differ as the newest runs did: each has besides what one of them had, evenly from the least
// to the most.
func (t *table) differ() {
	t.more = slices.Repeat([]float64{1}, draws)
	var more []float64
	for _, r := range t.whole.Residuals {
		more = append(more, 1+max(0, float64(r.Unforeseen[0]/profiles.Takes(t.whole))))
	}
	slices.Sort(more)
	for i := range t.more {
		if n := len(more); n > 0 {
			t.more[i] = more[(2*i+1)%draws*n/draws] // Not in the order of the bends.
		}
	}
}

// times is a with so many times the work.
func times(a plant.App, by float64) plant.App {
	a.Stages = slices.Clone(a.Stages)
	for i := range a.Stages {
		a.Stages[i].Work *= units.Work(by)
	}
	return a
}

// input is what is known of an input: the profile's stages with it, by id, and by which part its work may be other.
type input struct {
	stages map[int]api.ProfileStage
	// grows is the part that follows from its growth alone.
	doubt, grows float64
}

// By which part the CPU time of a stage may be other that follows from that of its threads, as a log has it.
const derivedDoubt, guessedDoubt = 0.1, 0.25

// unmeasured are the parts of the work that are derived, and guessed, from the CPU time of threads.
func (t *table) unmeasured() (derived, guessed float64) {
	for _, s := range t.Profile.Stages {
		part := float64(s.CoreSeconds / t.Profile.Work())
		switch t.Profile.Habit.Stages[s.ID].Sure {
		case api.SureDerived:
			derived += part
		case api.SureGuessed:
			guessed += part
		}
	}
	return derived, guessed
}

// with is the input that is by times the profile's.
func (t *table) with(by float64) input {
	p, grows := profiles.Scaled(t.Profile, by)
	derived, guessed := t.unmeasured()
	doubt := math.Hypot(float64(grows), derivedDoubt*derived+guessedDoubt*guessed)
	x := input{make(map[int]api.ProfileStage, len(p.Stages)), doubt, float64(grows)}
	for _, s := range p.Stages {
		x.stages[s.ID] = s
	}
	return x
}

// grown is a draw with another input.
func (t *table) grown(a plant.App, with input) plant.App {
	a.Stages = slices.Clone(a.Stages)
	for i, s := range t.stages {
		to, is := with.stages[s.ID], &a.Stages[i]
		more := to.CoreSeconds / s.CoreSeconds
		is.Work *= more
		is.Fetch *= units.Seconds(float64(more) * float64(s.Tasks) / float64(to.Tasks))
		is.Tasks, is.Records, is.Written = to.Tasks, to.Records, to.RecordsWritten
	}
	return a
}

// each calls do for all below n, on all processors, and returns the first error.
func each(n int, do func(i int) error) error {
	var running sync.WaitGroup
	var next atomic.Int64
	faults := make([]error, n)
	for range min(n, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				faults[i] = do(i)
			}
		})
	}
	running.Wait()
	return cmp.Or(faults...)
}
