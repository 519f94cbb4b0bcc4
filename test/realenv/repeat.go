package realenv

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Timing is a fault that other work on the machine can cause: something was late or
// early, or a figure of speed is off.
func Timing(format string, args ...any) error { return timing{fmt.Sprintf(format, args...)} }

type timing struct{ text string }

func (e timing) Error() string { return e.text }

// attempts is how often Repeat tries at most.
const attempts = 2

// Repeat makes an attempt at what needs the cores of the machine at its moments. Where
// that returns a fault of Timing it makes a second one, and says so by the attribute
// that package tally counts. Any other fault fails the test at once, as what the
// attempt itself finds wrong does: an answer is wrong on a busy machine, too.
func Repeat(t testing.TB, attempt func() error) {
	t.Helper()
	for left := attempts - 1; ; left-- {
		err := attempt()
		switch {
		case err == nil:
			return
		case left == 0 || t.Failed() || !onlyTiming(err):
			t.Error(err)
			return
		}
		t.Attr("repeated", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// onlyTiming reports whether each fault that is joined in err is one of Timing.
func onlyTiming(err error) bool {
	switch e := err.(type) { //nolint:errorlint // The tree of errors is what is walked.
	case timing:
		return true
	case interface{ Unwrap() error }:
		return onlyTiming(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(part error) bool { return !onlyTiming(part) })
	}
	return false
}
