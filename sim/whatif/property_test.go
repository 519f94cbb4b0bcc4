package whatif_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/sim/whatif"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// drawProfile draws an application, with stages side by side or one after the other, and is the profile of its run at
// eight cores.
func drawProfile(t *rapid.T, beside bool) api.Profile {
	a := plant.App{Name: "drawn", Head: 4, Tail: 0.3, Exit: 0.5}
	job := 0
	for i := range rapid.IntRange(2, 5).Draw(t, "stages") {
		if i > 0 && (!beside || rapid.IntRange(0, 2).Draw(t, "next job") == 0) {
			job++
		}
		s := plant.Stage{Name: fmt.Sprint("stage ", i), Job: job, Tasks: rapid.IntRange(1, 40).Draw(t, "tasks"),
			Work: units.Work(rapid.Float64Range(2, 60).Draw(t, "work")), Records: 1000, Gap: 0.1}
		for k, earlier := range a.Stages {
			if earlier.Job == job && rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				s.Parents = append(s.Parents, k)
			}
		}
		a.Stages = append(a.Stages, s)
	}
	c := sim.Default()
	c.Seed, c.Nodes = 77, []sim.NodeSpec{{Name: "a", Cores: 4}, {Name: "b", Cores: 4}}
	p, _, err := sim.Record(c, a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(t interface{ Fatal(...any) }, q whatif.Question) whatif.Answer {
	if err := q.Profile.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := whatif.Ask(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMoreCoresAreNeverLaterAndMoreInputNeverEarlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, true)
		a := ask(t, whatif.Question{Profile: p, Shapes: whatif.Sums(p, 4, 8, 20), Inputs: []float64{0.5, 2}})
		if len(a.Cells) != 6 {
			t.Fatalf("%d cells, want 6", len(a.Cells))
		}
		for i, c := range a.Cells {
			if !(c.Most.Low <= c.Half.Low && c.Half.Low <= c.Finish && c.Finish <= c.Half.High && c.Half.High <= c.Most.High) {
				t.Fatalf("bounds are in no order: %+v", c)
			}
			if c.Floor.Finish > c.Finish || c.Floor.Chain < 0 || c.Floor.Driver < 0 || len(c.Path) == 0 {
				t.Fatalf("the floor is above the end, or nothing is on the path: %+v", c)
			}
			if i%3 > 0 && (c.Cores <= a.Cells[i-1].Cores || c.Finish > a.Cells[i-1].Finish || c.Promise > a.Cells[i-1].Promise) {
				t.Fatalf("more cores are later: %+v after %+v", c, a.Cells[i-1])
			}
			if i >= 3 && (c.Input <= a.Cells[i-3].Input || c.Finish < a.Cells[i-3].Finish) {
				t.Fatalf("more input is earlier: %+v after %+v", c, a.Cells[i-3])
			}
		}
	})
}

// packed is by which part an end may be earlier for how longer tasks fall to executors.
const packed = 0.01

// Of stages side by side a longer one says that it came behind the others.
func TestALongerStageIsNeverEarlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, false)
		shapes := whatif.Sums(p, 4, 16)
		before := ask(t, whatif.Question{Profile: p, Shapes: shapes})
		i := rapid.IntRange(0, len(p.Stages)-1).Draw(t, "longer")
		p.Stages = slices.Clone(p.Stages)
		by := rapid.Float64Range(1.1, 3).Draw(t, "times")
		s := p.Stages[i].Part(by)
		s.LongestTask *= units.Seconds(by)
		p.Stages[i] = s
		after := ask(t, whatif.Question{Profile: p, Shapes: shapes})
		for k := range shapes {
			if after.Cells[k].Finish < (1-packed)*before.Cells[k].Finish {
				t.Fatalf("at %v cores %v after %v", after.Cells[k].Cores, after.Cells[k].Finish, before.Cells[k].Finish)
			}
		}
	})
}

func TestTheOrderOfEqualStagesIsWithoutMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, true)
		i := rapid.IntRange(0, len(p.Stages)-1).Draw(t, "twice")
		twin, after := p.Stages[i], slices.Clone(p.Stages[i+1:])
		p.Stages = slices.Clone(p.Stages[:i+1])
		twin.ID, twin.Name = p.Stages[i].ID+1, "twin"
		p.Stages = append(p.Stages, twin)
		for _, s := range after { // All that read the one read the other.
			reads := slices.Contains(s.Parents, i)
			s.Parents = slices.Clone(s.Parents)
			for k, parent := range s.Parents {
				if parent > i {
					s.Parents[k]++
				}
			}
			if s.ID++; reads {
				s.Parents = append(s.Parents, twin.ID)
			}
			p.Stages = append(p.Stages, s)
		}
		shapes := whatif.Sums(p, 4, 16)
		one := ask(t, whatif.Question{Profile: p, Shapes: shapes})
		p.Stages[i].Name, p.Stages[i+1].Name = p.Stages[i+1].Name, p.Stages[i].Name
		for n := range p.Stages {
			p.Stages[n].Parents = slices.Clone(p.Stages[n].Parents)
			slices.Reverse(p.Stages[n].Parents)
		}
		other := ask(t, whatif.Question{Profile: p, Shapes: shapes})
		for k := range shapes {
			if one.Cells[k].Finish != other.Cells[k].Finish || one.Cells[k].Most != other.Cells[k].Most ||
				one.Cells[k].Promise != other.Cells[k].Promise || one.Cells[k].Work != other.Cells[k].Work {
				t.Fatalf("%+v, in the other order %+v", one.Cells[k], other.Cells[k])
			}
		}
	})
}
