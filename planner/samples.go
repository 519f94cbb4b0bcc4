package planner

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// sample is an api.AppSample as it is kept: a million of them, without a pointer, are
// nothing that the collector has to look at.
type sample struct {
	at                 units.Seconds
	setPoint, progress units.Fraction
	grant, used        units.Cores
	executor           int32 // Its id, a decimal number (addExecutor).
}

func newSample(s api.AppSample) sample {
	id, _ := strconv.Atoi(string(s.Executor)) // The planner has made it.
	return sample{at: s.At, setPoint: s.SetPoint, progress: s.Progress, grant: s.Grant, used: s.Used, executor: int32(id)}
}

// tellAll returns samples as they are saved and told to others.
func tellAll(list []sample) []api.AppSample {
	told := make([]api.AppSample, 0, len(list))
	for _, s := range list {
		told = append(told, api.AppSample{At: s.at, Executor: api.ExecutorID(strconv.Itoa(int(s.executor))), SetPoint: s.setPoint, Progress: s.progress,
			Grant: s.grant, Used: s.used})
	}
	return told
}

// samples are the ticks kept of a stage attempt. They are saved in pieces, each
// with what has come since the one before, so that a save writes little however
// many there are.
type samples struct {
	list []sample
	// saved is how many of them are saved, in that many pieces. thinned says that
	// the pieces are not those of list any more.
	saved, pieces int
	thinned       bool
}

// sampleRecord is one piece, under app/ID/samples/STAGE.ATTEMPT/PIECE.
type sampleRecord struct {
	V int `json:"v"`
	api.StageKey
	Piece   int             `json:"piece"`
	Samples []api.AppSample `json:"samples"`
}

func samplesPrefix(id api.AppID) string { return appKey(id) + "/samples/" }
func pieceKey(id api.AppID, k api.StageKey, piece int) string {
	return samplesPrefix(id) + strconv.Itoa(k.Stage) + "." + strconv.Itoa(k.Attempt) + "/" + strconv.Itoa(piece)
}

// add keeps one tick, halving the density when there are more than limit: every
// second sample of each executor goes.
func (s *samples) add(tick sample, limit int) {
	s.list = append(s.list, tick)
	if len(s.list) > limit {
		s.list, s.thinned = thin(s.list, sample.of), true
	}
}

// sampleLimit is how many samples are kept of each of a's stages: Samples, or what
// leaves room for those of all running applications (AllSamples), but for two of
// each executor.
func (e *Engine) sampleLimit(a *app) int {
	share := e.cfg.AllSamples / max(1, len(e.apps)) / max(1, len(a.order))
	return min(e.cfg.Samples, max(share, 2*len(a.Executors)))
}

// cut brings the samples of a's stages down to what is kept of each now that there
// is one stage more.
func (e *Engine) cut(a *app) {
	limit := e.sampleLimit(a)
	for _, s := range a.order {
		for before := 0; len(s.samples.list) > limit && len(s.samples.list) != before; {
			before = len(s.samples.list)
			s.samples.list = slices.Clone(thin(s.samples.list, sample.of))
			s.samples.thinned, s.stale = true, true
		}
	}
}

// thin drops every second sample of each executor (which of names), keeping the newest.
func thin[Sample any, ID comparable](list []Sample, of func(Sample) ID) []Sample {
	left := make(map[ID]int)
	for _, s := range list {
		left[of(s)]++
	}
	return slices.DeleteFunc(list, func(s Sample) bool {
		id := of(s)
		left[id]--
		return left[id]%2 == 1
	})
}

func (s sample) of() int32 { return s.executor }

// saveSamples saves what has come since it was called last; all, where what was
// saved has been thinned since.
func (e *Engine) saveSamples(id api.AppID, s *stage) {
	if s.samples.thinned {
		e.removeSamples(id, s)
	}
	fresh := s.samples.list[s.samples.saved:]
	if len(fresh) == 0 {
		return
	}
	e.put(pieceKey(id, s.key(), s.samples.pieces), sampleRecord{V: stateVersion, StageKey: s.key(), Piece: s.samples.pieces, Samples: tellAll(fresh)})
	s.samples.saved = len(s.samples.list)
	s.samples.pieces++
}

// removeSamples removes what is saved of s's samples.
func (e *Engine) removeSamples(id api.AppID, s *stage) {
	for piece := range s.samples.pieces {
		e.remove(pieceKey(id, s.key(), piece))
	}
	s.samples.saved, s.samples.pieces, s.samples.thinned = 0, 0, false
}

// restoreSamples gives a's stages their samples back.
func (a *app) restoreSamples(pieces []sampleRecord) {
	slices.SortFunc(pieces, func(p, q sampleRecord) int { return cmp.Compare(p.Piece, q.Piece) })
	for _, p := range pieces {
		if s := a.stages[p.StageKey]; s != nil {
			for _, told := range p.Samples {
				s.samples.list = append(s.samples.list, newSample(told))
			}
			s.samples.saved, s.samples.pieces = len(s.samples.list), p.Piece+1
		}
	}
}
