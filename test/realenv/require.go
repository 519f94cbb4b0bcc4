package realenv

import (
	"fmt"
	"os"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/sparkrun"
)

// RequireSpark skips the test, with a line, unless the environment names a real
// Spark (make test does) and this user may make cgroups.
func RequireSpark(t testing.TB) {
	t.Helper()
	if os.Getenv("PACER_TEST_SPARK") == "" {
		t.Skip("needs real Spark: run it by `make test` or `make e2e`")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root to make cgroups")
	}
}

// RequireAll skips the test, with a line, unless all stories are asked for, as make test-all does.
// In make test the promise of such a story is held by a test without real Spark, or by a story that
// hurts more.
func RequireAll(t testing.TB) {
	t.Helper()
	RequireSpark(t)
	if os.Getenv("PACER_TEST_ALL") == "" {
		t.Skip("takes real Spark longer than make test has: run it by `make test-all`")
	}
}

// Lateness is how late, in per cent of its deadline, an application may be in a
// test that is about something else: the neighbours of a small machine take its
// cores now and then. Precision is measured by `make demo` and the benchmarks.
const Lateness = 2.5

// Paced reports whether a was paced for as long as its deadline had not passed: after
// that an application has all cores, and tells that it is released.
func Paced(a api.AppDetail) bool {
	return a.Pacing == "paced" || a.ErrorPct != nil && *a.ErrorPct < 0
}

// Held says what is wrong with how a was held to its deadline: that it was later than
// Lateness, or let go, both faults of timing, or that it was not paced at all.
func Held(a api.AppDetail) error {
	switch {
	case a.ErrorPct == nil:
		return fmt.Errorf("it ran %s and has no error: %s", a.Pacing, a.Reason)
	case *a.ErrorPct < -Lateness:
		return Timing("it ended %.2f %% after its deadline of %v, %g %% are allowed; notices %q", -*a.ErrorPct, a.Deadline,
			Lateness, a.Notices)
	case a.Pacing == "released" && !Paced(a):
		return Timing("it was released before its deadline; notices %q", a.Notices)
	case !Paced(a):
		return fmt.Errorf("it was %s, not paced; notices %q", a.Pacing, a.Notices)
	}
	return nil
}

// FreePort returns a loopback address as sparkrun.FreePort does.
func FreePort(t testing.TB) string {
	t.Helper()
	address, err := sparkrun.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
