package profiles_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/profiles"
)

// The form of the source's launcher: an early file has neither names nor tasks, a later one counts records and bytes.
const early = `{
  "0": {"genstage": false, "nominalrate": 2000.0, "duration": 100000, "parentsIds": [], "skipped": false, "weight": 3},
  "1": {"genstage": false, "nominalrate": 1000.0, "duration": 50000, "parentsIds": [0], "skipped": false, "weight": 2},
  "2": {"genstage": false, "nominalrate": 0.0, "duration": 0, "parentsIds": [0], "skipped": true, "weight": 0},
  "3": {"genstage": true, "nominalrate": 0.0, "duration": 2500, "parentsIds": [2, 1, 1], "skipped": false, "weight": 0},
  "10": {"genstage": false, "nominalrate": 10.0, "duration": 1000, "parentsIds": [], "skipped": false, "weight": 0}
}`

const late = `{"totalduration": 5, "inputrecord": 100, "0": {"RDDIds": {"5": {"name": "x", "callsite": "y"}}, "cachedRDDs": [2], "duration": 8000,
  "genstage": false, "name": "takeSample at KMeans.scala:386", "nominalrate": 1000.0, "numtask": 16, "parentsIds": [], "recordsread": 7000,
  "recordswrite": 0.0, "shufflerecordsread": 0.0, "shufflerecordswrite": 90.0, "bytesread": 6000, "byteswrite": 0.0, "shufflebytesread": 0.0,
  "shufflebyteswrite": 700, "skipped": false, "totalduration": 10738386, "weight": 11.9}}`

func TestTheAuthorsProfilesAreRead(t *testing.T) {
	p, is, err := profiles.Authors([]byte(early), "pagerank")
	if err != nil || !is || p.Name != "pagerank" {
		t.Fatalf("%v %v", is, err)
	}
	var ids, jobs, tasks []int
	for _, s := range p.Stages {
		ids, jobs, tasks = append(ids, s.ID), append(jobs, s.Job), append(tasks, s.Tasks)
	}
	if !slices.Equal(ids, []int{0, 1, 3, 10}) || !slices.Equal(jobs, []int{0, 0, 0, 1}) || !slices.Equal(tasks, []int{100, 50, 3, 1}) {
		t.Errorf("stages %v of jobs %v with tasks %v", ids, jobs, tasks)
	}
	if s := p.Stages[0]; s.CoreSeconds != 100 || s.Records != 200_000 || s.NominalRate != 2000 {
		t.Errorf("stage 0 is %+v: 2,000 records a second of 100 s of tasks", s)
	}
	if s := p.Stages[2]; !slices.Equal(s.Parents, []int{0, 1}) || s.Records != 3 {
		t.Errorf("stage 3 is %+v: what it reads was skipped, and it generates", s)
	}
	g, err := dag.New(profiles.Alone(p))
	if err != nil {
		t.Fatal(err)
	}
	if f := g.Forecast(dag.Default(), 0, dag.Supply{Cores: 10, Slots: 10}, 0); math.Abs(float64(f.FullCores)-16) > 1 {
		t.Errorf("153.5 core-seconds take %.1f s on ten cores", f.FullCores)
	}
	p, _, err = profiles.Authors([]byte(late), "kmeans")
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Stages[0]; s.Records != 8000 || s.Bytes != 6000 || s.RecordsWritten != 90 || s.BytesWritten != 700 || s.Tasks != 16 ||
		s.LongestTask != 0.5 || s.Name != "takeSample at KMeans.scala:386" {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsNoProfileOfTheAuthors(t *testing.T) {
	swap := func(old, by string) string { return strings.Replace(early, old, by, 1) }
	for want, text := range map[string]string{
		`unknown field "colour"`:                                 swap(`"weight": 2`, `"colour": 2`),
		"stage 1: parentsIds has 3, which is not a stage before": swap(`"parentsIds": [0]`, `"parentsIds": [3]`),
		"stage 1: parentsIds has 7":                              swap(`"parentsIds": [0]`, `"parentsIds": [7]`),
		"stage 0: nominalrate is -2":                             swap(`2000.0`, `-2`),
		"stage 0: duration is 0":                                 swap(`100000`, `0`),
		"stage 0: duration is -1":                                swap(`100000`, `-1`),
		"stage 0: json: cannot unmarshal string":                 swap(`100000`, `"long"`),
		`"x" is neither the id of a stage`:                       swap(`"10"`, `"x"`),
		"nominalrate is 1e+20":                                   swap(`2000.0`, `1e20`),
		"core_seconds is 1e+17":                                  swap(`100000`, `1e20`),
	} {
		_, is, err := profiles.Authors([]byte(text), "p")
		if !is || err == nil || !strings.Contains(err.Error(), want) || api.KindOf(err) != api.KindInvalid {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, text := range []string{`{"schema": 1}`, `[]`, `{"1": {}}`, `x`, ``} {
		if _, is, err := profiles.Authors([]byte(text), "p"); is || err != nil {
			t.Errorf("%q: %v %v", text, is, err)
		}
	}
}

// What a text of few bytes makes of itself has an end: stages, and what stages read from by way of others that were skipped.
func TestAttackProfilesOfTheAuthorsWithoutEnd(t *testing.T) {
	stages := func(n int, of func(i int) (parents []int, skipped bool)) []byte {
		all := map[int]map[string]any{}
		for i := range n {
			parents, skipped := of(i)
			all[i] = map[string]any{"duration": 1000, "parentsIds": parents, "skipped": skipped}
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	many := stages(2500, func(int) ([]int, bool) { return []int{}, false })
	through := stages(1900, func(i int) ([]int, bool) {
		if i < 100 {
			return []int{}, false
		}
		parents := []int{i - 1}
		for k := range 100 {
			parents = append(parents, k)
		}
		return parents, true
	})
	for says, text := range map[string][]byte{"it has 2500 stages, at most 2000": many, "more than 65536 parents": through} {
		if _, is, err := profiles.Authors(text, "p"); !is || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// FuzzAuthors: a text of the launcher's form is refused for a fault of its user, or is a profile that can be planned.
func FuzzAuthors(f *testing.F) {
	f.Add([]byte(early))
	f.Add([]byte(late))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, is, err := profiles.Authors(text, "p")
		if !is || err != nil {
			if err != nil && api.KindOf(err) != api.KindInvalid {
				t.Errorf("%v", err)
			}
			return
		}
		if _, err := dag.New(profiles.Alone(p)); err != nil {
			t.Errorf("%v", err)
		}
	})
}
