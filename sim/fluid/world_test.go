package fluid

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// tens is a cluster of ten units of one core.
var tens = assign.Amount{Cores: 10}

// of is a job whose units have one core.
func of(id string, time units.Seconds, core, elastic int) assign.Job {
	return assign.Job{ID: id, Unit: assign.Amount{Cores: 1}, Core: core, Elastic: elastic, Time: time}
}

// One whose units can never be where its rule wants them is refused, and the next one starts.
func TestWhatIsLargerThanTheClusterIsRefused(t *testing.T) {
	for rule, want := range map[string]int{assign.Rigid: 2, assign.Malleable: 1, assign.Flexible: 1, assign.FlexiblePreemptive: 1} {
		c := Config{Total: tens, Policy: assign.Policy{Rule: rule, Order: assign.FIFO, Size: assign.ByTime}}
		fat := of("memory", 1, 1, 0)
		fat.Unit.Memory = 2
		c.Total.Memory = 1
		out, err := Simulate(c, []assign.Job{of("eleven", 1, 11, 0), of("wide", 1, 2, 20), of("ten", 1, 10, 0), fat})
		if err != nil || out.Refused != want+1 || len(out.Jobs) != 3-want {
			t.Errorf("%s: %v, %d refused, served %v", rule, err, out.Refused, out.Jobs)
		}
	}
}

func TestATraceThatCannotBeIsAnError(t *testing.T) {
	late := of("late", 1, 1, 0)
	late.Arrival = 5
	stop := make(chan struct{})
	close(stop)
	for want, c := range map[string]struct {
		jobs []assign.Job
		stop chan struct{}
	}{
		"job A comes before job late": {jobs: []assign.Job{late, of("A", 1, 1, 0)}},
		"two jobs A":                  {jobs: []assign.Job{of("A", 1, 1, 0), of("A", 1, 1, 0)}},
		"stopped":                     {jobs: []assign.Job{of("A", 1, 1, 0)}, stop: stop},
	} {
		_, err := Simulate(Config{Total: tens, Policy: assign.Policy{Rule: assign.Rigid, Order: assign.FIFO}, Stop: c.stop}, c.jobs)
		if err == nil || !strings.Contains(err.Error(), want) || (c.stop != nil) != errors.Is(err, des.ErrStopped) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// drawn are jobs at random that come within a minute or so, on a cluster of 40 cores and 100 bytes.
func drawn(t *rapid.T) (assign.Amount, []assign.Job) {
	var jobs []assign.Job
	at := units.Instant(0)
	for i := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		at += units.Instant(rapid.Int64Range(0, 6e9).Draw(t, "gap"))
		jobs = append(jobs, assign.Job{ID: fmt.Sprintf("%02d", i), Arrival: at, Priority: rapid.IntRange(0, 1).Draw(t, "priority"),
			Unit: assign.Amount{Cores: units.Cores(rapid.IntRange(0, 8).Draw(t, "quarters")) / 4,
				Memory: units.Bytes(rapid.IntRange(0, 5).Draw(t, "memory"))},
			Core: rapid.IntRange(1, 12).Draw(t, "core"), Elastic: rapid.IntRange(0, 20).Draw(t, "elastic"),
			Time: units.Seconds(rapid.Float64Range(0.1, 30).Draw(t, "time"))})
	}
	return assign.Amount{Cores: 40, Memory: 100}, jobs
}

// Each job leaves when the units that it was granted have done its work, under every rule and order: as a slow world
// says that looks for the next event among all jobs, and adds up what each has done.
func TestWorkIsConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, jobs := drawn(t)
		conserved(t, total, assign.Policy{Rule: rapid.SampledFrom(assign.Rules()).Draw(t, "rule"), Order: rapid.SampledFrom(assign.Orders()).Draw(t, "order"),
			Size: rapid.SampledFrom(assign.Sizes()).Draw(t, "size"), Pass: rapid.Bool().Draw(t, "pass")}, jobs)
	})
}

// A job that can never start comes a nanosecond after a job that waits. By then its wait puts "waits" before "large",
// so a rule that is asked about "never" starts "waits" at once.
func TestAJobThatIsRefusedMovesNoOther(t *testing.T) {
	large, waits, never, last := of("large", 9, 6, 0), of("waits", 2, 4, 0), of("never", 1, 11, 0), of("last", 1, 1, 0)
	waits.Arrival, never.Arrival, last.Arrival = 0, 1, 1e9
	conserved(t, tens, assign.Policy{Rule: assign.Rigid, Order: assign.HRRN, Size: assign.ByTime},
		[]assign.Job{of("runs", 4, 5, 0), large, waits, never, last})
}

// conserved checks that the world serves each job when the slow one does, and refuses those alone that can never start.
func conserved(t rapid.TB, total assign.Amount, p assign.Policy, jobs []assign.Job) {
	out, err := Simulate(Config{Total: total, Policy: p}, jobs)
	if err != nil {
		t.Fatal(err)
	}
	// The rule is not asked about a job that is refused: under hrrn each moment at which it is asked may put another job first.
	possible := slices.DeleteFunc(slices.Clone(jobs), func(j assign.Job) bool {
		return len(p.Assign(assign.State{Now: j.Arrival, Total: total, Waiting: []assign.Job{j}, Freed: true})) == 0
	})
	want := slow(t, total, p, possible)
	if len(out.Jobs)+out.Refused != len(jobs) || len(out.Jobs) != len(possible) || len(want) != len(possible) {
		t.Fatalf("%d of %d jobs are served, %d refused, want %d served", len(out.Jobs), len(jobs), out.Refused, len(possible))
	}
	for _, d := range out.Jobs {
		if w, served := want[d.ID]; !served || math.Abs(des.Seconds(w[0], d.Began)) > 1e-6 || math.Abs(des.Seconds(w[1], d.Ended)) > 1e-6 {
			t.Fatalf("%s is served from %d to %d, want %v", d.ID, d.Began, d.Ended, w)
		}
	}
}

// slow is from when to when each job is served that ever is.
func slow(t rapid.TB, total assign.Amount, p assign.Policy, jobs []assign.Job) map[string][2]units.Instant {
	served := map[string][2]units.Instant{}
	var s assign.State
	s.Total = total
	end := map[string]units.Instant{}
	next := 0
	for next < len(jobs) || len(s.Serving) > 0 {
		at, who := units.Instant(math.MaxInt64), -1
		for i, j := range s.Serving {
			if end[j.ID] < at {
				at, who = end[j.ID], i
			}
		}
		if next < len(jobs) && jobs[next].Arrival < at {
			at, who = jobs[next].Arrival, -1
		}
		for i := range s.Serving {
			j := &s.Serving[i]
			j.Left -= float64(j.Units) * float64(at-s.Now) / 1e9
		}
		s.Now, s.Freed = at, who >= 0
		if who >= 0 {
			j := s.Serving[who]
			if math.Abs(j.Left) > 1e-6 {
				t.Fatalf("%s leaves with %v unit-seconds left", j.ID, j.Left)
			}
			served[j.ID] = [2]units.Instant{j.Began, at}
			s.Serving = append(s.Serving[:who], s.Serving[who+1:]...)
		} else {
			j := jobs[next]
			j.Left = float64(j.Time) * float64(j.Core+j.Elastic)
			s.Waiting = append(s.Waiting, j)
			next++
		}
		for _, g := range p.Assign(s) {
			for i, j := range s.Waiting {
				if j.ID == g.ID {
					j.Began = at
					s.Serving = append(s.Serving, j)
					s.Waiting = append(s.Waiting[:i], s.Waiting[i+1:]...)
					break
				}
			}
			for i := range s.Serving {
				if j := &s.Serving[i]; j.ID == g.ID && j.Units != g.Units {
					j.Units = g.Units
					end[j.ID] = at + units.Instant(math.Ceil(j.Left/float64(j.Units)*1e9))
				}
			}
		}
	}
	return served
}
