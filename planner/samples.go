package planner

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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

// piece is what is saved at once, under app/ID/samples/STAGE.ATTEMPT/NUMBER.
type piece struct {
	stage  api.StageKey
	number int
	list   []sample
}

// sampleSize is what a stored sample takes.
const sampleSize = 5*8 + 4

// pieceVersion is the first byte of a piece's value.
const pieceVersion = 2

// appendSamples appends the value of a piece: a byte with pieceVersion, then each sample's
// numbers, little endian. A planner of many applications saves tens of thousands of
// samples a second.
func appendSamples(b []byte, list []sample) []byte {
	b = append(b, pieceVersion)
	for _, s := range list {
		for _, v := range [...]float64{float64(s.at), float64(s.setPoint), float64(s.progress), float64(s.grant), float64(s.used)} {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(s.executor))
	}
	return b
}

// readSamples is appendSamples' inverse; it also reads version 1, which was JSON.
func readSamples(b []byte) ([]sample, error) {
	if bytes.HasPrefix(b, []byte("{")) {
		var old struct{ Samples []api.AppSample }
		err := json.Unmarshal(b, &old)
		list := make([]sample, 0, len(old.Samples))
		for _, s := range old.Samples {
			list = append(list, sample{at: s.At, setPoint: s.SetPoint, progress: s.Progress, grant: s.Grant, used: s.Used, executor: int32(number(s.Executor))})
		}
		return list, err
	}
	if len(b)%sampleSize != 1 || b[0] != pieceVersion {
		return nil, fmt.Errorf("it is no piece of samples of layout %d", pieceVersion)
	}
	var list []sample
	for b = b[1:]; len(b) > 0; b = b[sampleSize:] {
		number := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }
		list = append(list, sample{at: units.Seconds(number(0)), setPoint: units.Fraction(number(1)), progress: units.Fraction(number(2)),
			grant: units.Cores(number(3)), used: units.Cores(number(4)), executor: int32(binary.LittleEndian.Uint32(b[40:]))})
	}
	return list, nil
}

func samplesPrefix(id api.AppID) string { return appKey(id) + "/samples/" }
func pieceKey(id api.AppID, k api.StageKey, number int) string {
	return samplesPrefix(id) + keyText(k) + "/" + strconv.Itoa(number)
}

// leastSamples is for how many there is room at first.
const leastSamples = 16

// add keeps one tick, halving the density when there are more than limit: every
// second sample of each executor goes.
func (s *samples) add(tick sample, limit int) {
	if len(s.list) == cap(s.list) {
		// Doubled: append would grow a long list by a quarter, and copy it four times as often.
		s.list = slices.Grow(s.list, max(leastSamples, min(len(s.list), limit+1-len(s.list))))
	}
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
	value := appendSamples(make([]byte, 0, 1+sampleSize*len(fresh)), fresh)
	e.changes = append(e.changes, Change{Key: pieceKey(id, s.key(), s.samples.pieces), Value: value})
	s.samples.saved = len(s.samples.list)
	s.samples.pieces++
}

// removeSamples removes what is saved of s's samples.
func (e *Engine) removeSamples(id api.AppID, s *stage) {
	for number := range s.samples.pieces {
		e.remove(pieceKey(id, s.key(), number))
	}
	s.samples.saved, s.samples.pieces, s.samples.thinned = 0, 0, false
}

// restorePiece reads a piece of the application's samples.
func restorePiece(id api.AppID, r Record) (piece, error) {
	var p piece
	if _, err := fmt.Sscanf(strings.TrimPrefix(r.Key, samplesPrefix(id)), "%d.%d/%d", &p.stage.Stage, &p.stage.Attempt, &p.number); err != nil {
		return piece{}, fmt.Errorf("key %s: %w", r.Key, err)
	}
	list, err := readSamples(r.Value)
	p.list = list
	return p, err
}

// restoreSamples gives a's stages their samples back.
func (a *app) restoreSamples(pieces []piece) {
	slices.SortFunc(pieces, func(p, q piece) int { return cmp.Compare(p.number, q.number) })
	for _, p := range pieces {
		if s := a.stages[p.stage]; s != nil {
			s.samples.list = append(s.samples.list, p.list...)
			s.samples.saved, s.samples.pieces = len(s.samples.list), p.number+1
		}
	}
}
