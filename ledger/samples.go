package ledger

import (
	"encoding/binary"
	"errors"
	"math"
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
	executor           int32 // Its number.
	request            float32
}

func (s sample) of() int32 { return s.executor }

// Samples are the ticks kept of a stage attempt. They are saved in pieces, each
// with what has come since the one before, so that a save writes little however
// many there are.
type Samples struct {
	list []sample
	// saved is how many of them are saved, in that many pieces. thinned says that
	// the pieces are not those of list any more.
	saved, pieces int
	thinned       bool
}

// All returns the samples as they are told to others.
func (s *Samples) All() []api.AppSample {
	told := make([]api.AppSample, 0, len(s.list))
	for _, v := range s.list {
		told = append(told, api.AppSample{At: v.at, Executor: api.ExecutorID(strconv.Itoa(int(v.executor))),
			SetPoint: v.setPoint, Progress: v.progress,
			Grant: v.grant, Used: v.used, Request: units.Cores(v.request)})
	}
	return told
}

// leastSamples is for how many there is room at first.
const leastSamples = 16

// add keeps one tick, halving the density when there are more than limit: every
// second sample of each executor goes.
func (s *Samples) add(tick sample, limit int) {
	if len(s.list) == cap(s.list) {
		// Doubled: append would grow a long list by a quarter, and copy it four times as often.
		s.list = slices.Grow(s.list, max(leastSamples, min(len(s.list), limit+1-len(s.list))))
	}
	s.list = append(s.list, tick)
	if len(s.list) > limit {
		s.list, s.thinned = thin(s.list, sample.of), true
	}
}

// cut brings the samples down to limit, and reports whether that dropped any.
func (s *Samples) cut(limit int) (dropped bool) {
	for before := 0; len(s.list) > limit && len(s.list) != before; {
		before = len(s.list)
		s.list = thin(s.list, sample.of)
		s.thinned, dropped = true, true
	}
	return dropped
}

// thin returns a new list without every second sample of each executor (which of names), keeping
// the newest: snapshots share the old one.
func thin[Sample any, ID comparable](list []Sample, of func(Sample) ID) []Sample {
	left, kept := make(map[ID]int), 0
	for _, s := range list {
		id := of(s)
		left[id]++
		kept += left[id] % 2
	}
	thinned := make([]Sample, 0, kept)
	for _, s := range list {
		id := of(s)
		if left[id]--; left[id]%2 == 0 {
			thinned = append(thinned, s)
		}
	}
	return thinned
}

// limitSamples halves the density of the stage with the most samples until all
// of them together are at most limit. Two of each executor always remain.
func limitSamples(d *api.AppDetail, limit int) {
	sum := 0
	for i := range d.Stages {
		sum += len(d.Stages[i].Samples)
	}
	for sum > limit {
		most := &d.Stages[0]
		for i := range d.Stages {
			if len(d.Stages[i].Samples) > len(most.Samples) {
				most = &d.Stages[i]
			}
		}
		before := len(most.Samples)
		most.Samples = thin(most.Samples, func(s api.AppSample) api.ExecutorID { return s.Executor })
		if len(most.Samples) == before {
			return
		}
		sum -= before - len(most.Samples)
	}
}

// sampleSize is what a stored sample takes, sampleSizeBefore what one without its request did.
const (
	sampleSize       = 5*8 + 4 + 4
	sampleSizeBefore = 5*8 + 4
)

// appendSamples appends the value of a piece: a byte with Layout, then each sample's
// numbers, little endian, then a byte with Layout again: a piece without that is of before, when
// samples had no requests, and no length is one of both. A planner of many applications saves tens of thousands of
// samples a second.
func appendSamples(b []byte, list []sample) []byte {
	b = append(b, Layout)
	for _, s := range list {
		for _, v := range [...]float64{float64(s.at), float64(s.setPoint), float64(s.progress), float64(s.grant),
			float64(s.used)} {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(s.executor))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s.request))
	}
	return append(b, Layout)
}

// readSamples is appendSamples' inverse.
func readSamples(b []byte) ([]sample, error) {
	if err := ofLayout(b); err != nil {
		return nil, err
	}
	size := sampleSize
	switch {
	case len(b)%sampleSizeBefore == 1:
		size = sampleSizeBefore
	case len(b)%sampleSize != 2:
		return nil, errors.New("it is no piece of samples")
	}
	var list []sample
	for b = b[1:]; len(b) >= size; b = b[size:] {
		number := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }
		list = append(list, sample{at: units.Seconds(number(0)), setPoint: units.Fraction(number(1)),
			progress: units.Fraction(number(2)),
			grant:    units.Cores(number(3)), used: units.Cores(number(4)), executor: int32(binary.LittleEndian.Uint32(b[40:]))})
		if size == sampleSize {
			list[len(list)-1].request = math.Float32frombits(binary.LittleEndian.Uint32(b[sampleSizeBefore:]))
		}
	}
	return list, nil
}

// appendNumbers appends the value of a list of numbers or of structs of them: a byte
// with Layout, then all, little endian.
func appendNumbers[T any](list []T) ([]byte, error) {
	return binary.Append([]byte{Layout}, binary.LittleEndian, list)
}

// readNumbers is appendNumbers' inverse.
func readNumbers[T any](b []byte) ([]T, error) {
	var one T
	size := binary.Size(one)
	if err := ofLayout(b); err != nil {
		return nil, err
	}
	if (len(b)-1)%size != 0 {
		return nil, errors.New("it is cut")
	}
	list := make([]T, (len(b)-1)/size)
	_, err := binary.Decode(b[1:], binary.LittleEndian, list)
	return list, err
}
