package units_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
	"pgregory.net/rapid"
)

func TestCeilToRoundsUpToTheQuantum(t *testing.T) {
	for _, c := range []struct{ in, quantum, want units.Cores }{
		{0.15, 0.05, 0.15}, {0.151, 0.05, 0.20}, {0, 0.05, 0}, {1.9999, 1, 2}, {0.3, 0, 0.3},
		{units.Unlimited, 0.05, units.Unlimited},
	} {
		if got := c.in.CeilTo(c.quantum); math.Abs(float64(got-c.want)) > 1e-9 && got != c.want {
			t.Errorf("%v.CeilTo(%v) = %v, want %v", c.in, c.quantum, got, c.want)
		}
	}
}

func TestCeilToIsNeverBelowAndLessThanAQuantumAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := units.Cores(rapid.Float64Range(0, 1000).Draw(t, "cores"))
		q := units.Cores(rapid.Float64Range(0.001, 2).Draw(t, "quantum"))
		got := c.CeilTo(q)
		if got < c-1e-6*q || got >= c+q*(1+1e-6) {
			t.Fatalf("%v.CeilTo(%v) = %v", float64(c), float64(q), float64(got))
		}
	})
}

func TestClampPrefersTheLowerBound(t *testing.T) {
	if got := units.Cores(1).Clamp(3, 2); got != 3 {
		t.Errorf("crossed bounds: %v, want the lower one", got)
	}
	if got := units.Cores(5).Clamp(0, 2); got != 2 {
		t.Errorf("above: %v", got)
	}
}

func TestWorkPer(t *testing.T) {
	for _, c := range []struct {
		work units.Work
		in   time.Duration
		want units.Cores
	}{{6, 3 * time.Second, 2}, {0, 0, 0}, {1, 0, units.Unlimited}, {1, -time.Second, units.Unlimited}} {
		if got := c.work.Per(c.in); got != c.want {
			t.Errorf("%v per %v = %v, want %v", c.work, c.in, got, c.want)
		}
	}
}

func TestFractionClampRefusesNaN(t *testing.T) {
	for in, want := range map[float64]units.Fraction{-1: 0, 0.5: 0.5, 2: 1} {
		if got := units.Fraction(in).Clamp(); got != want {
			t.Errorf("%v clamps to %v, want %v", in, got, want)
		}
	}
	if got := units.Fraction(math.NaN()).Clamp(); got != 0 {
		t.Errorf("NaN clamps to %v, want 0", got)
	}
}

func TestParseDurationReadsSparksNotation(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "15m": 15 * time.Minute, "15min": 15 * time.Minute, "500ms": 500 * time.Millisecond,
		"2h": 2 * time.Hour, "1d": 24 * time.Hour, "90": 90 * time.Second, "1h30m": 90 * time.Minute, " 1.5s ": 1500 * time.Millisecond,
	} {
		if got, err := units.ParseDuration(in); err != nil || got != want {
			t.Errorf("%q = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "soon", "-5s", "-5", "9223372036854775807h", "1.5.2s"} {
		if got, err := units.ParseDuration(in); err == nil {
			t.Errorf("%q was taken as %v", in, got)
		}
	}
}

func TestParseBytesReadsSparksNotation(t *testing.T) {
	for in, want := range map[string]units.Bytes{
		"4g": 4 * units.GiB, "512m": 512 * units.MiB, "1T": units.TiB, "10kb": 10 * units.KiB, "7": 7 * units.MiB, "100b": 100,
	} {
		if got, err := units.ParseBytes(in, units.MiB); err != nil || got != want {
			t.Errorf("%q = %v, %v, want %v", in, int64(got), err, int64(want))
		}
	}
	for _, in := range []string{"", "g", "-1g", "1.5g", "9223372036854775807t"} {
		if got, err := units.ParseBytes(in, 1); err == nil {
			t.Errorf("%q was taken as %v", in, got)
		}
	}
}

func TestBytesPrintAndParseAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := units.Bytes(rapid.Int64Range(0, math.MaxInt64).Draw(t, "bytes"))
		back, err := units.ParseBytes(b.String(), 1)
		if err != nil || back != b {
			t.Fatalf("%d prints as %s and reads as %d, %v", b, b, back, err)
		}
	})
}

func TestBytesInWords(t *testing.T) {
	for b, want := range map[units.Bytes]string{
		0: "0 B", 1023: "1023 B", 1536: "1536 B", 2048: "2 KiB", 1843 * units.MiB: "1843 MiB", 1843*units.MiB + 7: "1843 MiB",
		4 * units.GiB: "4 GiB", 3 * units.TiB: "3 TiB", math.MaxInt64: "8796093022207 MiB",
	} {
		if got := b.Words(); got != want {
			t.Errorf("%d is %q in words, want %q", int64(b), got, want)
		}
	}
}

func TestBytesFromJSONAsNumberOrText(t *testing.T) {
	for in, want := range map[string]units.Bytes{"1024": units.KiB, `"2g"`: 2 * units.GiB} {
		var got units.Bytes
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s = %v, %v", in, got, err)
		}
	}
	var b units.Bytes
	if err := json.Unmarshal([]byte(`"much"`), &b); err == nil {
		t.Error("nonsense was taken as a size")
	}
}

func TestSecondsSaturate(t *testing.T) {
	for in, want := range map[units.Seconds]time.Duration{
		1.5: 1500 * time.Millisecond, 1e300: math.MaxInt64, -1e300: math.MinInt64,
	} {
		if got := in.Duration(); got != want {
			t.Errorf("%v = %v, want %v", in, got, want)
		}
	}
	if got := units.Seconds(math.NaN()).Duration(); got != 0 {
		t.Errorf("NaN = %v", got)
	}
}

func TestFiniteNamesWhatIsWrong(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), -1} {
		if err := units.Finite("rate", units.Rate(v)); err == nil {
			t.Errorf("%v was taken", v)
		}
	}
	if err := units.Finite("rate", units.Rate(0)); err != nil {
		t.Error(err)
	}
}
