package planner

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
)

// samples are the ticks kept of a stage attempt. They are saved in pieces, each
// with what has come since the one before, so that a save writes little however
// many there are.
type samples struct {
	list []api.AppSample
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
func (s *samples) add(sample api.AppSample, limit int) {
	s.list = append(s.list, sample)
	if len(s.list) > limit {
		s.list, s.thinned = thin(s.list), true
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
			s.samples.list = slices.Clone(thin(s.samples.list))
			s.samples.thinned, s.stale = true, true
		}
	}
}

// thin drops every second sample of each executor, keeping the newest.
func thin(list []api.AppSample) []api.AppSample {
	left := make(map[api.ExecutorID]int)
	for _, s := range list {
		left[s.Executor]++
	}
	return slices.DeleteFunc(list, func(s api.AppSample) bool {
		left[s.Executor]--
		return left[s.Executor]%2 == 1
	})
}

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
	e.put(pieceKey(id, s.key(), s.samples.pieces), sampleRecord{V: stateVersion, StageKey: s.key(), Piece: s.samples.pieces, Samples: fresh})
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
			s.samples.list = append(s.samples.list, p.Samples...)
			s.samples.saved, s.samples.pieces = len(s.samples.list), p.Piece+1
		}
	}
}
