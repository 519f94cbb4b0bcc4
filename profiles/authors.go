package profiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// authorsStage is a stage as the source's launcher writes it. Times are milliseconds: duration is what all tasks took
// together, and nominalrate what the stage read over that.
type authorsStage struct {
	Name          string  `json:"name"`
	Duration      float64 `json:"duration"`
	Rate          float64 `json:"nominalrate"`
	Tasks         float64 `json:"numtask"`
	Read          float64 `json:"recordsread"`
	Written       float64 `json:"recordswrite"`
	ShuffleRead   float64 `json:"shufflerecordsread"`
	ShuffleWrite  float64 `json:"shufflerecordswrite"`
	Bytes         float64 `json:"bytesread"`
	BytesWritten  float64 `json:"byteswrite"`
	ShuffleBytes  float64 `json:"shufflebytesread"`
	BytesShuffled float64 `json:"shufflebyteswrite"`
	Parents       []int   `json:"parentsIds"`
	Skipped       bool    `json:"skipped"`
	// The fields below are not used: it follows from the rest, or says nothing of another run.
	Generates     json.RawMessage `json:"genstage"`
	Weight        json.RawMessage `json:"weight"`
	TotalDuration json.RawMessage `json:"totalduration"`
	InputRecord   json.RawMessage `json:"inputrecord"`
	RDDs          json.RawMessage `json:"RDDIds"`
	Cached        json.RawMessage `json:"cachedRDDs"`
}

// Read reads the file of a profile, as it is stored or as the source's launcher writes one, which gets that name.
func Read(text []byte, name string) (api.Profile, error) {
	p, is, err := Authors(text, name)
	if !is {
		return api.DecodeProfile(bytes.NewReader(text))
	}
	return p, err
}

// Authors reads a profile as the source's launcher writes it, NAME-app.json: an object with a stage at each of its
// ids. It reports false where the text is no such object. The work of a stage is what its tasks took, and what a run
// at all cores takes is made up from that (Alone). Stages that were skipped are left out; what reads from one reads
// from what that reads from. A stage that no other reads from ends its job.
func Authors(text []byte, name string) (p api.Profile, is bool, err error) {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil || all["schema"] != nil || all["0"] == nil {
		return p, false, nil
	}
	if most := api.MostStages; len(all) > most+2 { // Beside stages it has two fields.
		return p, true, authorsFault("it has %d stages, at most %d are taken", len(all), most)
	}
	p = api.Profile{Schema: api.ProfileSchema, Name: name, Cores: 1, Contended: true, HeadContended: true}
	stages := map[int]authorsStage{}
	for key, body := range all {
		id, err := strconv.Atoi(key)
		switch {
		case key == "totalduration" || key == "inputrecord":
			continue
		case err != nil || id < 0:
			return p, true, authorsFault("%q is neither the id of a stage nor a field of an application",
				api.Clip(key, api.MostToken))
		}
		var s authorsStage
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return p, true, authorsFault("stage %d: %v", id, err)
		}
		stages[id] = s
	}
	job, read, reads, edges := 0, map[int]bool{}, map[int][]int{}, 0
	ids := slices.Sorted(maps.Keys(stages))
	for _, id := range ids {
		for _, parent := range slices.Compact(slices.Sorted(slices.Values(stages[id].Parents))) {
			if _, known := stages[parent]; !known || parent >= id {
				return p, true, authorsFault("stage %d: parentsIds has %d, which is not a stage before it "+
					"(a profile's graph has no cycles)", id, parent)
			}
			read[parent] = read[parent] || !stages[id].Skipped
			if reads[id] = append(reads[id], parent); stages[parent].Skipped {
				reads[id] = append(reads[id][:len(reads[id])-1], reads[parent]...)
			}
		}
		slices.Sort(reads[id])
		reads[id] = slices.Compact(reads[id])
		if edges += len(reads[id]); edges > api.MostEdges {
			return p, true, authorsFault("its stages have more than %d parents", api.MostEdges)
		}
	}
	for _, id := range ids {
		of := stages[id]
		if of.Skipped {
			continue
		}
		s, err := of.stage()
		if err != nil {
			return p, true, authorsFault("stage %d: %v", id, err)
		}
		s.ID, s.Job, s.Parents = id, job, append([]int{}, reads[id]...)
		p.Stages = append(p.Stages, s)
		if !read[id] {
			job++
		}
	}
	p = Alone(p)
	return p, true, p.Validate()
}

func authorsFault(format string, args ...any) error {
	return api.Errorf(api.KindInvalid, "profile of the launcher: "+format, args...)
}

// stage is what is said of a stage that ran. Where nobody has counted its tasks they are of about a core-second.
func (s authorsStage) stage() (api.ProfileStage, error) {
	for _, n := range []struct {
		what string
		is   float64
	}{{"nominalrate", s.Rate}, {"numtask", s.Tasks}, {"recordsread", s.Read}, {"recordswrite", s.Written},
		{"shufflerecordsread", s.ShuffleRead}, {"shufflerecordswrite", s.ShuffleWrite}, {"bytesread", s.Bytes},
		{"byteswrite", s.BytesWritten}, {"shufflebytesread", s.ShuffleBytes}, {"shufflebyteswrite", s.BytesShuffled}} {
		if !(n.is >= 0 && n.is <= api.MostAmount) {
			return api.ProfileStage{}, fmt.Errorf("%s is %v, want a number from 0 to %v", n.what, n.is,
				api.MostAmount)
		}
	}
	if !(s.Duration > 0) {
		return api.ProfileStage{}, fmt.Errorf("duration is %v, want milliseconds > 0 of a stage that was not skipped",
			s.Duration)
	}
	work := units.Work(s.Duration / 1000)
	tasks := max(1, s.Tasks)
	if s.Tasks == 0 {
		tasks = min(math.Ceil(float64(work)), api.MostCount)
	}
	records := int64(math.Round(s.Rate * float64(work)))
	records = known(records, int64(s.Read+s.ShuffleRead), int64(tasks))
	return api.ProfileStage{Name: s.Name, Tasks: int(tasks), Records: max(1, records),
		Bytes:          int64(s.Bytes + s.ShuffleBytes),
		RecordsWritten: int64(s.Written + s.ShuffleWrite), BytesWritten: int64(s.BytesWritten + s.BytesShuffled),
		CoreSeconds: work, NominalRate: rate(max(1, records), work), Duration: leastDuration,
		LongestTask: units.Seconds(float64(work) / tasks)}, nil
}
