package node

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// divideCap gives each of a's executors that no target holds its part of a's cap, if a has one:
// of what is left of that by those that targets hold, by tasks. An executor that starts, is idle, or of which nothing
// is known counts as one task: what it uses is not its page's to say.
func (a *app) divideCap(now units.Instant, cfg *Config) {
	if a.plan.Cap <= 0 {
		return
	}
	left, tasks := a.plan.Cap, 0
	for _, x := range a.executors {
		switch {
		case x.life.state == api.ExecutorExited:
		case x.held():
			left -= x.ctl.grant
		default:
			tasks += x.counts(now, cfg.Stale)
		}
	}
	for _, x := range a.executors {
		if x.life.state != api.ExecutorExited && !x.held() {
			x.cap.part = max(cfg.Quantum, left*units.Cores(x.counts(now, cfg.Stale))/units.Cores(tasks))
		}
	}
}

// held reports whether a target holds x, and not on paper only.
func (x *executor) held() bool { return x.ctl != nil && x.ctl.active && !x.unmanaged }

// counts is as how many tasks of one core x counts where a cap is divided.
func (x *executor) counts(now units.Instant, stale time.Duration) int {
	if !x.known(now, stale) {
		return 1
	}
	return max(1, min(int(math.Ceil(float64(x.running())*float64(x.room.taskCores))), x.room.slots))
}

// holdToCap writes the quota of an executor whose mode lets nothing else be written.
func (x *executor) holdToCap(quantum units.Cores, out *journal) {
	want := units.Unlimited
	if x.cap.any {
		want = max(quantum, x.cap.part)
	}
	if want == x.cap.inForce || math.Abs(float64(want-x.cap.inForce)) < float64(drift) || x.cap.any && x.cap.part == 0 {
		return
	}
	x.cap.inForce = want
	out.counters.QuotaWrites++
	out.act(Action{Kind: ActSetQuota, Key: x.key, Cores: want})
}
