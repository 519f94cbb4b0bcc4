package units

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size in bytes.
type Bytes int64

// Binary sizes, as Spark's k, m, g, t.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

var byteSuffixes = []struct {
	text string
	size Bytes
}{
	{"tib", TiB}, {"gib", GiB}, {"mib", MiB}, {"kib", KiB},
	{"tb", TiB}, {"gb", GiB}, {"mb", MiB}, {"kb", KiB},
	{"t", TiB}, {"g", GiB}, {"m", MiB}, {"k", KiB}, {"b", 1},
}

// ParseBytes reads a size in Spark's notation: digits and an optional suffix
// b, k, m, g or t (also kb, kib and so on), all binary. A bare number counts
// in def, as Spark's settings each have their default unit. It returns an
// error for anything else, negative sizes and overflow included.
func ParseBytes(s string, def Bytes) (Bytes, error) {
	text, unit := strings.ToLower(strings.TrimSpace(s)), def
	for _, suffix := range byteSuffixes {
		if rest, ok := strings.CutSuffix(text, suffix.text); ok {
			text, unit = strings.TrimSpace(rest), suffix.size
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || (unit > 0 && n > math.MaxInt64/int64(unit)) {
		return 0, fmt.Errorf("size %q: want digits and an optional suffix b, k, m, g or t", s)
	}
	return Bytes(n) * unit, nil
}

// String prints b in Spark's notation with the largest suffix that keeps it whole.
func (b Bytes) String() string {
	for _, suffix := range []struct {
		text string
		size Bytes
	}{{"t", TiB}, {"g", GiB}, {"m", MiB}, {"k", KiB}} {
		if b != 0 && b%suffix.size == 0 {
			return strconv.FormatInt(int64(b/suffix.size), 10) + suffix.text
		}
	}
	return strconv.FormatInt(int64(b), 10) + "b"
}

// Words prints b for people, with the units that the page has, from a MiB on in whole ones: "1843 MiB".
func (b Bytes) Words() string {
	if b >= MiB {
		b = b / MiB * MiB
	}
	s := b.String()
	last := len(s) - 1
	return s[:last] + " " + map[byte]string{'b': "B", 'k': "KiB", 'm': "MiB", 'g': "GiB", 't': "TiB"}[s[last]]
}

// UnmarshalJSON accepts a number of bytes or a string in Spark's notation.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err == nil {
		v, err := ParseBytes(s, 1)
		if err != nil {
			return err
		}
		*b = v
		return nil
	}
	var n int64
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("size %s: want a number of bytes or a string such as \"4g\"", data)
	}
	*b = Bytes(n)
	return nil
}

// durationSuffixes are Spark's: us, ms, s, m, min, h, d.
var durationSuffixes = []struct {
	text string
	unit time.Duration
}{
	{"us", time.Microsecond}, {"ms", time.Millisecond},
	{"min", time.Minute}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour},
}

// ParseDuration reads a duration in Spark's notation ("90s", "15m", "500ms",
// "2h", "1d"; a bare number is seconds) or in Go's ("1h30m"). It returns an
// error for anything else, negative durations and overflow included.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if d, err := time.ParseDuration(text); err == nil && d >= 0 && text != "" {
		return d, nil
	}
	unit := time.Second
	for _, suffix := range durationSuffixes {
		if rest, ok := strings.CutSuffix(text, suffix.text); ok {
			text, unit = strings.TrimSpace(rest), suffix.unit
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("duration %q: want a number with us, ms, s, m, h or d, such as 90s or 15m", s)
	}
	return time.Duration(n) * unit, nil
}
