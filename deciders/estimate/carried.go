package estimate

import (
	"cmp"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
)

// leastSize and mostSize bound what is carried from one stage to another, over the profile's.
const (
	leastSize = 0.01
	mostSize  = 100
)

// carried returns how much the stages to come have to do, over the profile's, where they are not as large as there.
// They are as large as what they read from, as far as those before them have shown of today's input, else as all
// that has shown it is. Of a stage that has ended what it wrote counts, of another one what it reads. It takes as long
// as there are stages and edges.
func carried(a *ledger.App, coming []int) map[int]float64 {
	shown, all := shownSizes(a)
	if len(coming) == 0 || len(shown) == 0 {
		return nil
	}
	body := a.Profile.Body.Stages
	ahead := make(map[int]bool, len(coming))
	for _, id := range coming {
		ahead[id] = true
	}
	place, passes := make(map[int]int, len(body)), make([]float64, len(body)) // Factors handed on, 0 for unknown.
	var sizes map[int]float64
	for i := range body {
		s := &body[i]
		place[s.ID] = i
		size, has := shown[s.ID]
		if has && !ahead[s.ID] {
			passes[i] = size
			continue
		}
		size = inherited(body, s, place, passes)
		passes[i] = size
		size = cmp.Or(size, all)
		if ahead[s.ID] && size != 1 {
			if sizes == nil {
				sizes = make(map[int]float64)
			}
			sizes[s.ID] = profiles.Grown(a.Profile.Growth(s.ID), min(max(size, leastSize), mostSize))
		}
	}
	return sizes
}

// inherited is how large s is by what it reads from, 0 where that is not known: each counts as much as it
// wrote in the recorded run.
func inherited(body []api.ProfileStage, s *api.ProfileStage, place map[int]int, passes []float64) float64 {
	var sum, weights float64
	for _, id := range s.Parents {
		i, ok := place[id]
		if !ok || passes[i] == 0 {
			continue
		}
		weight := float64(max(1, body[i].BytesWritten, body[i].RecordsWritten))
		sum, weights = sum+weight*passes[i], weights+weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// shownSizes returns what the stages of a that the profile has hand on of today's input, over the profile's, by
// annotation. It also returns how large the input of all that do not read from others is; nothing where all is as it
// was.
func shownSizes(a *ledger.App) (shown map[int]float64, all float64) {
	var sum, work, sources float64
	for i := range a.Profile.Recorded.Stages {
		if s := &a.Profile.Recorded.Stages[i]; len(s.Parents) == 0 {
			sources += float64(s.CoreSeconds)
		}
	}
	same := true
	for _, s := range a.Order {
		if s.Annotation == ledger.Unmatched || s.Estimated() || again(s) || s.Done != nil && s.Done.Failed {
			continue
		}
		annotation, ok := a.Profile.Annotated(s)
		if !ok {
			continue
		}
		read, wrote, known := handedOn(annotation, s)
		if !known {
			continue
		}
		if shown == nil {
			shown = make(map[int]float64)
		}
		shown[s.Annotation] = wrote
		same = same && read == 1 && wrote == 1
		if len(annotation.Parents) == 0 {
			sum, work = sum+read*float64(annotation.CoreSeconds), work+float64(annotation.CoreSeconds)
		}
	}
	if same {
		return nil, 1
	}
	// Little says little of all: the rest is as it was.
	if rest := enough*sources - work; rest > 0 {
		sum, work = sum+rest, work+rest
	}
	return shown, sum / work
}

// enough is the part of the work of all stages that read no other from which on their input says how large
// that of the others is.
const enough = 0.5

// handedOn is what s reads, and what those read that read from it, over the profile's; false where nobody
// knows what it reads.
func handedOn(annotation api.ProfileStage, s *ledger.Stage) (read, wrote float64, known bool) {
	read, known = profiles.Ratio(annotation, s.Ready.Records, s.Ready.Bytes)
	if s.Done == nil {
		return read, read, known
	}
	if !known {
		read, known = profiles.Ratio(annotation, s.Done.RecordsRead, s.Done.BytesRead)
	}
	wrote = read
	switch {
	case annotation.RecordsWritten > 0 && s.Done.RecordsWritten > 0:
		wrote, known = float64(s.Done.RecordsWritten)/float64(annotation.RecordsWritten), true
	case annotation.BytesWritten > 0 && s.Done.BytesWritten > 0:
		wrote, known = float64(s.Done.BytesWritten)/float64(annotation.BytesWritten), true
	}
	return read, wrote, known
}
