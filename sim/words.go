package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// pairs reads words of the form key=value.
func pairs(words []string, keys map[string]func(string) error) error {
	seen := map[string]bool{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		read := keys[key]
		switch {
		case read == nil:
			return fmt.Errorf("unknown word %q, expected one of %s", key, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		case !ok || value == "":
			return fmt.Errorf("%q, expected %s=VALUE", w, key)
		case seen[key]:
			return fmt.Errorf("%s is there twice", key)
		}
		seen[key] = true
		if err := read(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// amount reads a finite number between two bounds.
func amount[T ~float64](into *T, least, most float64) func(string) error {
	return func(v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(f) || f < least || f > most {
			return fmt.Errorf("%q, expected a number from %g to %g", v, least, most)
		}
		*into = T(f)
		return nil
	}
}

// whole reads a whole number between two bounds.
func whole[T ~int | ~int64](into *T, least, most float64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || float64(n) < least || float64(n) > most {
			return fmt.Errorf("%q, expected a whole number from %.0f to %.0f", v, least, most)
		}
		*into = T(n)
		return nil
	}
}

// size reads a size in bytes as Spark writes it: 16g.
func size(into *units.Bytes) func(string) error {
	return func(v string) error {
		b, err := units.ParseBytes(v, 1)
		if err != nil || b <= 0 {
			return fmt.Errorf("%q, expected a size such as 16g", v)
		}
		*into = b
		return nil
	}
}

func duration(v string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%q, expected a duration from %v to %v, like 20ms or 1.5s", v, least, most)
	}
	return d, nil
}

// span reads a duration between two bounds.
func span(into *time.Duration, least, most time.Duration) func(string) error {
	return func(v string) (err error) {
		*into, err = duration(v, least, most)
		return err
	}
}

// within reads a duration of at most that many seconds.
func within(into *units.Seconds, most float64) func(string) error {
	return func(v string) error {
		d, err := duration(v, 0, time.Duration(most*1e9))
		*into = units.FromDuration(d)
		return err
	}
}

// choice reads one of some words.
func choice[T ~string](into *T, words []T) func(string) error {
	return func(v string) error {
		if !slices.Contains(words, T(v)) {
			var known []string
			for _, w := range words {
				known = append(known, string(w))
			}
			return fmt.Errorf("%q, expected one of %s", v, strings.Join(known, ", "))
		}
		*into = T(v)
		return nil
	}
}
