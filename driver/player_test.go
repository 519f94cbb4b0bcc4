package driver_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// player makes the calls of a transcript, one a line: the name, its arguments and, after
// an arrow, what it returns. StageBindingsTranscriptTest.scala reads the same lines.
type player struct{ b driver.Bindings }

// play makes a call and returns the line with its result.
func (p *player) play(call string) string {
	result, ok := p.call(strings.Fields(call))
	if !ok {
		return call
	}
	return call + " -> " + result
}

// call returns the result and whether the call has one.
func (p *player) call(f []string) (string, bool) {
	b := &p.b
	switch f[0] {
	case "new":
		*b = driver.Bindings{}
	case "follow":
		return strconv.FormatBool(b.Follow(directive(f[1:]))), true
	case "forget":
		b.ForgetEpoch()
	case "open":
		b.OpenForGood(f[1])
	case "up":
		b.ExecutorUp(api.ExecutorID(f[1]), f[2])
	case "gone":
		b.ExecutorGone(api.ExecutorID(f[1]))
	case "ready":
		return ready(b, f[1:]), true
	case "done":
		b.Done(key(f[1]))
	case "queue":
		var keys []api.StageKey
		for _, k := range f[1:] {
			keys = append(keys, key(k))
		}
		b.Queue(keys)
	case "retire":
		b.Retire(key(f[1]))
	case "admits":
		return strconv.FormatBool(b.Admits(key(f[1]), api.ExecutorID(f[2]), len(f) > 3)), true
	case "launched":
		b.Launched(key(f[1]), int(whole(f[2])), api.ExecutorID(f[3]))
	case "ended":
		b.Ended(key(f[1]), api.ExecutorID(f[2]))
	case "returned":
		b.Returned(key(f[1]), int(whole(f[2])))
	case "succeeded":
		task(f).Succeeded(b)
	default:
		return p.ask(f), true
	}
	return "", false
}

// ask makes the calls that are about the state.
func (p *player) ask(f []string) string {
	b := &p.b
	switch f[0] {
	case "copy":
		if on, ok := task(f).Copy(b); ok {
			return string(on)
		}
		return "none"
	case "heaviest":
		return strconv.FormatInt(b.HeaviestWaiting(key(f[1])), 10)
	case "watch":
		return list(b.Watch(units.Instant(whole(f[1])*int64(time.Millisecond))), named)
	case "changes":
		var out []string
		for _, c := range b.TakeChanges() {
			out = append(out, named(c.StageKey)+": "+bindings(c.Bindings))
		}
		if len(out) == 0 {
			return "none"
		}
		return strings.Join(out, "; ")
	case "freed":
		return strconv.FormatBool(b.TakeFreed())
	case "current":
		return bindings(b.Current(key(f[1])))
	case "executors":
		return list(b.Executors(), func(id api.ExecutorID) string { return string(id) })
	case "waited":
		return strconv.Itoa(b.Waited())
	case "gated":
		return strconv.FormatBool(b.Gated())
	case "opened":
		if why, ok := b.Opened(); ok {
			return why
		}
		return "none"
	case "boundable":
		atOnce, all := b.Boundable()
		return fmt.Sprintf("%d of %d", atOnce, all)
	}
	panic("no call " + f[0])
}

// directive reads "EPOCH gated|ungated [pool:NAME] ID@NODE:CORES[:PERSTAGE][:leaving]... [shares STAGE REV ID=WEIGHT...]...".
func directive(f []string) *api.Directive {
	d := &api.Directive{Epoch: uint64(whole(f[0])), Gated: f[1] == "gated"}
	f = f[2:]
	for ; len(f) > 0 && f[0] != "shares"; f = f[1:] {
		if pool, is := strings.CutPrefix(f[0], "pool:"); is {
			d.Pool = pool
			continue
		}
		id, rest, _ := strings.Cut(f[0], "@")
		at := strings.Split(rest, ":")
		x := api.DirectiveExecutor{ID: api.ExecutorID(id), Node: at[0], Cores: units.Cores(number(at[1])),
			Leaving: slices.Contains(at, "leaving")}
		if len(at) > 2 && at[2] != "leaving" {
			x.PerStage = int(whole(at[2]))
		}
		d.Executors = append(d.Executors, x)
	}
	for len(f) > 0 {
		s := api.StageShares{StageKey: key(f[1]), Rev: uint64(whole(f[2]))}
		for f = f[3:]; len(f) > 0 && f[0] != "shares"; f = f[1:] {
			id, weight, _ := strings.Cut(f[0], "=")
			s.Shares = append(s.Shares, api.ExecutorShare{Executor: api.ExecutorID(id), Weight: number(weight)})
		}
		d.Shares = append(d.Shares, s)
	}
	return d
}

// ready reads "STAGE ORDER [Nx]WEIGHT,... [cached ID=N...] [barrier] [pool:NAME]".
func ready(b *driver.Bindings, f []string) string {
	var weights []int64
	for _, w := range strings.Split(f[2], ",") {
		times := int64(1)
		if n, one, ok := strings.Cut(w, "x"); ok {
			times, w = whole(n), one
		}
		for range times {
			weights = append(weights, whole(w))
		}
	}
	cached, barrier, pool := map[api.ExecutorID]int{}, false, ""
	for _, x := range f[3:] {
		id, n, isCount := strings.Cut(x, "=")
		barrier = barrier || x == "barrier"
		if name, is := strings.CutPrefix(x, "pool:"); is {
			pool = name
		}
		if isCount {
			cached[api.ExecutorID(id)] = int(whole(n))
		}
	}
	return bindings(b.Ready(key(f[0]), int(whole(f[1])), weights, cached, barrier, pool))
}

// task reads "... STAGE TASK MILLISECONDS TRIED...".
func task(f []string) driver.Task {
	t := driver.Task{Stage: key(f[1]), Index: int(whole(f[2])), Ran: time.Duration(whole(f[3])) * time.Millisecond}
	for _, id := range f[4:] {
		t.Tried = append(t.Tried, api.ExecutorID(id))
	}
	return t
}

func key(s string) api.StageKey {
	stage, attempt, _ := strings.Cut(s, ".")
	return api.StageKey{Stage: int(whole(stage)), Attempt: int(whole(attempt))}
}

func named(k api.StageKey) string { return fmt.Sprintf("%d.%d", k.Stage, k.Attempt) }

// bindings writes "ID=WEIGHT/TASKS ...".
func bindings(list []api.Binding) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprintf("%s=%s/%d", x.Executor, decimal(x.Weight), x.Tasks))
	}
	return strings.Join(out, " ")
}

// decimal has six decimals at most: a weight in millionths is exact.
func decimal(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 6, 64), "0"), ".")
}

func list[T any](of []T, name func(T) string) string {
	if len(of) == 0 {
		return "none"
	}
	var out []string
	for _, x := range of {
		out = append(out, name(x))
	}
	return strings.Join(out, " ")
}

func whole(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func number(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return x
}
