package experiment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// A claim holds where the mean of what is measured lies in its band, bounds included.
func TestAClaimHoldsInItsBand(t *testing.T) {
	for _, c := range []struct {
		band  Band
		holds bool
		text  string
	}{
		{Band{Least: new(2.0), Most: new(4.0)}, true, "2 to 4"},
		{Band{Least: new(3.0), Most: new(4.0)}, true, "3 to 4"},
		{Band{Least: new(2.0), Most: new(3.0)}, true, "2 to 3"},
		{Band{Least: new(3.1), Most: new(4.0)}, false, "3.1 to 4"},
		{Band{Least: new(2.0), Most: new(2.9)}, false, "2 to 2.9"},
		{Band{Least: new(3.1)}, false, "at least 3.1"},
		{Band{Least: new(3.0)}, true, "at least 3"},
		{Band{Most: new(2.9)}, false, "at most 2.9"},
		{Band{Most: new(3.0)}, true, "at most 3"},
		{Band{}, false, ""},
	} {
		want := Claim{Theirs: 3, Band: c.band, Ours: 3, Seeds: 2, Least: 2, Most: 4, Holds: c.holds}
		if !c.holds && c.text != "" {
			want.Why = "the wind"
		}
		got := Claim{Theirs: 3, Band: c.band, Why: "the wind"}.Tried([]float64{4, 2})
		if d := cmp.Diff(want, got); d != "" || c.band.String() != c.text {
			t.Errorf("%s, want %s: %s", c.band, c.text, d)
		}
	}
	if c := (Claim{Band: Band{Most: new(0.0)}}).Tried([]float64{1}); c.Why != "not known" {
		t.Errorf("a claim that differs for no reason says %q", c.Why)
	}
}

// What is measured lies in its range, and tried again it gives the same.
func TestOursLiesInItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 20).Draw(t, "values")
		c := Claim{Band: Band{Least: new(0.0)}}.Tried(values)
		if c.Ours < c.Least-1e-6 || c.Ours > c.Most+1e-6 || c.Seeds != len(values) || c.Holds == (c.Why != "") {
			t.Errorf("%+v", c)
		}
		if n := Held([]Claim{c, c}); n != 0 && n != 2 || (n == 2) != c.Holds {
			t.Errorf("%d of two hold, each %v", n, c.Holds)
		}
	})
}
