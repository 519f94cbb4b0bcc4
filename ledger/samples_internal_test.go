package ledger

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Pieces of samples are read as they were written; one of before has no requests.
func TestPiecesOfSamplesAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := make([]sample, rapid.IntRange(1, 100).Draw(t, "samples"))
		for i := range list {
			list[i] = sample{at: 1, setPoint: 0.5, progress: 0.25, grant: -1, used: 3, executor: int32(i + 1), request: rapid.Float32Range(0, 64).Draw(t, "request")}
		}
		now := appendSamples(nil, list)
		if got, err := readSamples(now); err != nil || !slices.Equal(got, list) {
			t.Errorf("%v, %v", got, err)
		}
		before := []byte{Layout}
		for i := range list {
			before = append(before, now[1+i*sampleSize:][:sampleSizeBefore]...)
			list[i].request = 0
		}
		if got, err := readSamples(before); err != nil || !slices.Equal(got, list) {
			t.Errorf("of before: %v, %v", got, err)
		}
		if got, err := readSamples(now[:len(now)-2]); err == nil {
			t.Errorf("one that is cut: %v", got)
		}
	})
}
