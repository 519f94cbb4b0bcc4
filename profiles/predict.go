package profiles

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Ratio is an input over the annotation's, and whether that is known. It is of records, where both are known and the
// annotation's are not just its number of tasks, else of bytes; 1 where it is not.
func Ratio(annotation api.ProfileStage, records, bytes int64) (ratio float64, known bool) {
	switch {
	case records > 0 && annotation.Records > 0 && annotation.Records != int64(annotation.Tasks):
		return float64(records) / float64(annotation.Records), true
	case bytes > 0 && annotation.Bytes > 0:
		return float64(bytes) / float64(annotation.Bytes), true
	}
	return 1, false
}

// rate is the nominal rate: records per core-second.
func rate(records int64, work units.Work) units.Rate {
	return units.Rate(float64(records) / float64(work))
}

// replay returns when an application's driver would exit whose stages take just what the
// profile says, each starting its gap after what it waits for.
func replay(p api.Profile) units.Seconds {
	ends := make(map[int]units.Seconds, len(p.Stages))
	before, end := p.Head, p.Head
	for i, s := range p.Stages {
		if i > 0 && s.Job != p.Stages[i-1].Job {
			before = end
		}
		start := before
		for _, parent := range s.Parents {
			start = max(start, ends[parent])
		}
		ends[s.ID] = start + s.Gap + s.Duration
		end = max(end, ends[s.ID])
	}
	return end + p.Tail + p.Exit
}
