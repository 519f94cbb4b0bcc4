package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// yields is the nice value by which the driver yields CPU time to others while it starts, 0 where it
// does not. It has no deadline as far as is known by then (a program may set one itself) and is not interactive, or its
// deadline cannot be kept, by the profile that the user names. Elapsed is on the deadline clock. The driver says the
// verdict when it has registered.
func (l *launch) yields(ctx context.Context, conn client, elapsed units.Seconds) (nice int) {
	left, moment, err := due(l.setting, l.settings[confBy] != "", l.now)
	switch {
	case left == 0 && !moment && err == nil:
		if api.Class(l.setting(confClass)) == api.ClassInteractive {
			return 0 // A person waits for its answers.
		}
		return sharing.Default().Nice.Behind
	case !moment:
		left -= elapsed
	}
	profile := cmp.Or(l.setting(confProfile), l.given("spark.app.name", "--name"))
	if err != nil || left <= 0 || profile == "" || api.Mode(l.setting(confMode)).Unmanaged() {
		return 0 // The driver says what is wrong.
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	reply, err := conn.PlanQuery(ctx, api.PlanRequest{Profile: profile, Deadline: left})
	if err != nil || reply.Verdict != api.VerdictInfeasible {
		return 0
	}
	return sharing.Default().Nice.Infeasible
}

// due is how long after the start the deadline is or, where a moment is given, after now; 0 for none. A moment of the
// command line wins.
func due(setting func(string) string, wins bool, now time.Time) (in units.Seconds, moment bool, err error) {
	after, by := setting(confDeadline), setting(confBy)
	switch {
	case wins || after == "" && by != "":
		d, err := untilClock(confBy, by, now)
		return units.FromDuration(d), true, err
	case after != "":
		in, err = deadlineValue(confDeadline, after)
	}
	return in, false, err
}

// setting is a setting of the driver: what Pacer gives it, else the user.
func (l *launch) setting(key string) string {
	return cmp.Or(l.settings[key], l.given(key, ""))
}

// yieldSession gives the session of a child that is not waited for yet a nice value.
// It does nothing where the kernel does not divide CPUs by session, or has groups for that.
func yieldSession(pid, nice int) {
	path := fmt.Sprintf("/proc/%d/autogroup", pid)
	for range 5 { // Linux takes one such write in 100 ms from all that are not root.
		if err := os.WriteFile(path, strconv.AppendInt(nil, int64(nice), 10), 0); !errors.Is(err, syscall.EAGAIN) {
			return
		}
		time.Sleep(110 * time.Millisecond)
	}
}
