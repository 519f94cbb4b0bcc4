package sharing_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/supervisor/sharing"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// A configuration without params of its own goes by Default's.
func TestNilIsDefault(t *testing.T) {
	own := sharing.Params{}
	if p := sharing.Of(nil); *p != sharing.Default() {
		t.Errorf("nil stands for %+v", *p)
	}
	if sharing.Of(&own) != &own {
		t.Error("own params are replaced")
	}
}

// Stages are aimed earlier only beside others, and never later than alone.
func TestAimsBesideOthers(t *testing.T) {
	aims := sharing.Default().Aims
	for _, c := range []struct {
		beside sharing.Beside
		want   float64
	}{
		{sharing.Beside{}, 0.97},
		{sharing.Beside{InOrder: true}, 0.97},
		{sharing.Beside{Others: true}, 0.97},
		{sharing.Beside{Others: true, Unheld: true}, 0.94},
		{sharing.Beside{Others: true, Unheld: true, InOrder: true}, 0.88},
		{sharing.Beside{Others: true, First: true}, 0.88},
	} {
		if got := aims.Alpha(0.97, c.beside); got != c.want {
			t.Errorf("%+v: %v, want %v", c.beside, got, c.want)
		}
		if got := aims.Alpha(0.8, c.beside); got != 0.8 {
			t.Errorf("%+v: alpha of 0.8 has become %v", c.beside, got)
		}
	}
}

// Of a claim at least what a steady rate does comes after the other's deadline, and at most all
// but its floor; with no part of the nodes it is the steady rate.
func TestWhatIsPutOff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sharing.Claim{Cores: units.Cores(rapid.Float64Range(0.01, 16).Draw(t, "cores")), Floor: 0.1,
			Due:     units.Seconds(rapid.Float64Range(1, 100).Draw(t, "due")),
			Fastest: rapid.Float64Range(0.1, 100).Draw(t, "fastest")}
		c.Until = c.Due + units.Seconds(rapid.Float64Range(1, 100).Draw(t, "after"))
		later, others := sharing.Default().Later, rapid.Float64Range(0, 200).Draw(t, "others")
		steady, all := float64(c.Cores)*float64(c.Until-c.Due), float64(c.Cores)*float64(c.Until)
		if got := later.PutOff(c, 16, others); got < steady || got > all {
			t.Fatalf("%v of %v core-seconds are put off, %v at a steady rate", got, all, steady)
		} else if room := later.Nodes*16*float64(c.Until-c.Due) - others; got > max(steady, room) {
			t.Fatalf("%v core-seconds are put off where there is room for %v", got, room)
		}
		later.Nodes = 0
		if got := later.PutOff(c, 16, 0); got != steady {
			t.Fatalf("without nodes %v is put off, want the steady %v", got, steady)
		}
	})
}

// The weight of a stage is that of its grant beside the most, up to one step, and never less than
// the least.
func TestPlacesAreGrants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := sharing.Default().Weights
		most := rapid.Float64Range(0.1, 64).Draw(t, "most")
		granted := rapid.Float64Range(1e-6, 64).Draw(t, "granted")
		got, part := float64(w.Place(granted, most)), min(1, granted/most)
		high := max(float64(w.Least), part*math.Exp2(1/w.Steps)*(1+1e-12))
		if got < float64(w.Least) || got < part*(1-1e-12) || got > high {
			t.Fatalf("%v where %v is most weighs %v", granted, most, got)
		}
	})
}
