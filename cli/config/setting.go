package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"

	"github.com/sparkpacer/pacer/units"
)

// setting is a key that a user can set: its place, when another value of it holds, and which
// values it may have.
type setting struct {
	key    string
	at     func(*Config) any // A pointer to the field.
	effect effect
	values values
}

// effect is when another value of a key holds.
type effect string

const (
	perCall effect = "each call"
	live    effect = "live"
	restart effect = "restart"
)

// values are those that a key may have. A nil ok leaves the check to the package that takes
// the value, as with addresses, files and what the supervisor divides by.
type values struct {
	unit, text string
	ok         func(value any) bool
}

func text(what string) values { return values{text: what} }

var yesNo = text("true or false")

func oneOf(words ...string) values {
	return values{text: strings.Join(words, ", "), ok: func(v any) bool { return slices.Contains(words, v.(string)) }}
}

func number(unit, text string, ok func(float64) bool) values {
	return values{unit: unit, text: text, ok: func(v any) bool {
		if n := reflect.ValueOf(v); n.CanInt() {
			return ok(float64(n.Int()))
		}
		return ok(reflect.ValueOf(v).Float())
	}}
}

func atLeast(least float64, unit string) values {
	return number(unit, fmt.Sprint(least, " or more"), func(x float64) bool { return x >= least })
}

func above(bound float64) values {
	return number("", fmt.Sprint("more than ", bound), func(x float64) bool { return x > bound })
}

// noneOr is a bound of at least that size, or 0.
func noneOr(least units.Bytes) values {
	return number("", fmt.Sprint("0 or at least ", least), func(x float64) bool { return x == 0 || x >= float64(least) })
}

// of reports whether s begins with one of sections; without any it does.
func (s setting) of(sections []string) bool {
	return len(sections) == 0 || slices.ContainsFunc(sections, func(section string) bool {
		return strings.HasPrefix(s.key, section)
	})
}

// value is what c has for s.
func (s setting) value(c *Config) any { return reflect.ValueOf(s.at(c)).Elem().Interface() }

// set puts a value, as a file, a variable or a flag gives it, into c.
func (s setting) set(c *Config, value any) error {
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: s.at(c), WeaklyTypedInput: true,
		DecodeHook: decodeUnit})
	if err == nil {
		err = d.Decode(value)
	}
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "cannot parse"): // Go's words for a text that is no number.
		return fmt.Errorf("%s: %q, want %s", s.key, fmt.Sprint(value), s.wants())
	}
	return fmt.Errorf("%s: %s", s.key, strings.TrimPrefix(err.Error(), "'' ")) // '' is the field's name.
}

// wants says which values s may have.
func (s setting) wants() string {
	if s.values.text == "" {
		return cmp.Or(s.values.unit, "a number")
	}
	return strings.TrimSpace(s.values.text + " " + s.values.unit)
}

// check says what is wrong with c's value.
func (s setting) check(c *Config) error {
	v := s.value(c)
	if s.values.ok == nil || s.values.ok(v) {
		return nil
	}
	if word, is := v.(string); is {
		return fmt.Errorf("%s: %q, want one of %s", s.key, word, s.values.text)
	}
	return fmt.Errorf("%s: %v, want %s", s.key, plain(v), s.wants())
}

// decodeUnit reads durations and sizes in Spark's notation, and refuses what a
// lenient conversion would change silently.
func decodeUnit(_, to reflect.Type, from any) (any, error) {
	text, isText := from.(string)
	number := reflect.ValueOf(from)
	switch {
	case to == reflect.TypeFor[time.Duration]() && isText:
		return units.ParseDuration(text)
	case to == reflect.TypeFor[time.Duration]() && number.IsValid() && number.CanInt() && number.Type() != to:
		return time.Duration(number.Int()) * time.Second, nil
	case to == reflect.TypeFor[units.Bytes]() && isText:
		return units.ParseBytes(text, 1)
	case to.Kind() == reflect.Int && number.IsValid() && number.CanFloat() && number.Float() != math.Trunc(number.Float()):
		return nil, fmt.Errorf("%v is not a whole number", from)
	case number.IsValid() && number.Kind() == reflect.Bool && to.Kind() != reflect.Bool && to.Kind() != reflect.Interface:
		return nil, fmt.Errorf("%v is neither a number nor a text", from)
	}
	return from, nil
}

// plain turns a value into what a user would write.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return v.String()
	case units.Bytes:
		return v.String()
	default:
		return v
	}
}
