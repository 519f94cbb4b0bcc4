package usage_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/usage"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const start = units.Instant(1_800_000_000) * units.Instant(time.Second)

// cluster is nodes whose statuses come each second.
type cluster struct {
	usage.History
	now  units.Instant
	cpus map[string]units.Work
}

func newCluster() *cluster { return &cluster{now: start, cpus: map[string]units.Work{}} }

// uses is what an executor of an application uses, and its quota, -1 for none.
type uses struct {
	app   string
	cores units.Cores
	quota units.Cores
}

// says has a node of 8 cores say that executors have used so much in the second before.
func (c *cluster) says(node string, executors ...uses) {
	s := api.NodeStatus{Node: node, Offered: 8, Others: 0.5}
	for i, x := range executors {
		key := fmt.Sprint(node, "/", x.app, "/", i)
		c.cpus[key] += units.Work(x.cores)
		s.Executors = append(s.Executors, api.ExecutorStatus{App: api.AppID(x.app), ID: api.ExecutorID(fmt.Sprint(i)), State: api.ExecutorRunning,
			CPU: c.cpus[key], Quota: x.quota})
	}
	c.Status(c.now, &s)
}

func (c *cluster) pass(d time.Duration) { c.now = c.now.Add(d) }

func columns(h api.CoresHistory) string {
	text := fmt.Sprintf("%d x %v, offered %v, others %v", h.Points, h.Step, h.Offered, h.Others)
	for _, a := range h.Apps {
		text += fmt.Sprintf(", %s %v of %v", a.App, a.Used, a.Granted)
	}
	return text + fmt.Sprintf(", rest %v of %v", h.Rest.Used, h.Rest.Granted)
}

// Two nodes and two applications: each has what its executors on both have used; one without a quota is granted what it uses.
// A second that has not ended is not told, nor what came until a moment that is known.
func TestWhoHadTheCores(t *testing.T) {
	c := newCluster()
	for range 4 {
		c.says("a", uses{"app-1", 2, 4}, uses{"app-2", 1, -1})
		c.says("b", uses{"app-1", 1, 2})
		c.pass(time.Second)
	}
	if got, want := columns(c.Of(c.now, api.Query{})), "4 x 1s, offered [16 16 16 16], others [1 1 1 1], app-1 [0 3 3 3] of [6 6 6 6], "+
		"app-2 [0 1 1 1] of [0 1 1 1], rest [0 0 0 0] of [0 0 0 0]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if a, b := c.Node(c.now, "a"), c.Node(c.now, "b"); math.Abs(float64(a.Used)-3) > 0.01 || a.Granted != 5 || a.Others != 0.5 || b.Granted != 2 || c.Node(c.now, "c") != nil {
		t.Errorf("node a: %+v, b: %+v", a, b)
	}
	h := c.Of(c.now.Add(900*time.Millisecond), api.Query{After: time.Unix(0, int64(start)).Add(2 * time.Second)})
	if got, want := columns(h), "1 x 1s, offered [16], others [1], app-1 [3] of [6], app-2 [1] of [1], rest [0] of [0]"; got != want || h.From.UnixNano() != int64(start)+3e9 {
		t.Errorf("%s from %v, want %s", got, h.From, want)
	}
	if h := c.Of(c.now, api.Query{After: time.Unix(0, int64(c.now))}); h.Points != 0 || len(h.Apps) != 0 {
		t.Errorf("after now: %s", columns(h))
	}
	if h := c.Of(c.now, api.Query{Step: 60}); h.Points != 0 || h.Offered == nil {
		t.Errorf("no minute has ended: %s", columns(h))
	}
}

// A node that is silent goes on as it was for five seconds, and is gone then; with no node at all nobody knows anything. One that
// leaves is gone at once, and what has exited uses nothing.
func TestANodeThatIsSilent(t *testing.T) {
	c := newCluster()
	for range 2 {
		c.says("a", uses{"app-1", 2, 4})
		c.pass(time.Second)
	}
	c.pass(8 * time.Second)
	h := c.Of(c.now, api.Query{})
	if n := c.Node(c.now, "a"); n != nil {
		t.Errorf("a node that is silent uses %+v", n)
	}
	known := 0
	for i, offered := range h.Offered {
		if math.IsNaN(float64(offered)) {
			if !math.IsNaN(float64(h.Apps[0].Used[i])) || !math.IsNaN(float64(h.Others[i])) {
				t.Errorf("point %d is known in part: %s", i, columns(h))
			}
			continue
		}
		known++
	}
	if h.Points != 10 || known != 6 {
		t.Errorf("%d of %d points are known: %s", known, h.Points, columns(h))
	}
	c.says("a", uses{"app-1", 2, 4})
	c.Status(c.now, &api.NodeStatus{Node: "a", Offered: 8, Executors: []api.ExecutorStatus{{App: "app-1", ID: "0", State: api.ExecutorExited, CPU: 1e6}}})
	c.pass(time.Second)
	if h := c.Of(c.now, api.Query{After: time.Unix(0, int64(c.now)).Add(-2 * time.Second)}); h.Points != 1 || h.Offered[0] != 8 || len(h.Apps) != 0 {
		t.Errorf("after the exit: %s", columns(h))
	}
	c.Status(c.now, &api.NodeStatus{Node: "a", Leaving: true})
	c.pass(time.Second)
	if h := c.Of(c.now, api.Query{After: time.Unix(0, int64(c.now)).Add(-2 * time.Second)}); h.Points != 1 || !math.IsNaN(float64(h.Offered[0])) {
		t.Errorf("after it has left: %s", columns(h))
	}
}

// A minute is the mean of its seconds, and is told when it has ended; a day later there is nothing of today.
func TestMinutesAreMeans(t *testing.T) {
	c := newCluster()
	for s := range 130 {
		cores := units.Cores(1)
		if s%60 >= 30 {
			cores = 3
		}
		c.says("a", uses{"app-1", cores, 4})
		c.pass(time.Second)
	}
	h := c.Of(c.now, api.Query{Step: 60})
	if h.Points != 2 || h.Offered[1] != 8 || math.Abs(float64(h.Apps[0].Used[1])-2) > 0.05 || h.Apps[0].Granted[1] != 4 {
		t.Errorf("%s", columns(h))
	}
	if h := c.Of(c.now, api.Query{}); h.Points != 130 {
		t.Errorf("%d seconds", h.Points)
	}
	c.pass(20 * time.Minute)
	if h := c.Of(c.now, api.Query{}); h.Points != 900 || len(h.Apps) != 0 {
		t.Errorf("20 minutes later: %d points, %d applications", h.Points, len(h.Apps))
	}
	c.pass(25 * time.Hour)
	if h := c.Of(c.now, api.Query{Step: 60}); h.Points != 0 {
		t.Errorf("a day later %d points", h.Points)
	}
}

// However many applications there are, and however they come and go, the columns have at most 4 MiB and add up to what was used.
func TestColumnsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster()
		all := rapid.IntRange(1, 600).Draw(t, "applications")
		each := rapid.IntRange(1, min(all, 250)).Draw(t, "at a time")
		stay := rapid.IntRange(1, 20).Draw(t, "seconds")
		was, want := map[uses]int{}, []float64{}
		for s := range 60 {
			var executors []uses
			now, sum := map[uses]int{}, 0.0
			for i := range each {
				x := uses{fmt.Sprintf("app-%d", (s/stay*each+i)%all), 0.01, 0.02}
				executors, now[x] = append(executors, x), i+1
				if was[x] == i+1 { // The same executor was there a second ago.
					sum += 0.01
				}
			}
			was = now
			c.says("a", executors...)
			c.pass(time.Second)
			want = append(want, sum)
		}
		h := c.Of(c.now, api.Query{})
		if len(h.Apps) > api.MostCoresApps || h.Points != 60 {
			t.Fatalf("%d applications, %d points", len(h.Apps), h.Points)
		}
		for i := range h.Points {
			used, granted := float64(h.Rest.Used[i]), float64(h.Rest.Granted[i])
			for _, a := range h.Apps {
				used, granted = used+float64(a.Used[i]), granted+float64(a.Granted[i])
			}
			if math.Abs(granted-0.02*float64(each)) > 1e-3 || math.Abs(used-want[i]) > 1e-3 {
				t.Fatalf("second %d: %v used, %v granted, want %v used by %d", i, used, granted, want[i], each)
			}
		}
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := newCluster()
	for i := range 3000 {
		c.says("a", uses{fmt.Sprintf("app-%d", i), 1, 2})
		c.pass(time.Second)
	}
	clear(c.cpus)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if bytes := int64(after.HeapAlloc) - int64(before.HeapAlloc); bytes > 4<<20 {
		t.Errorf("%d bytes", bytes)
	}
	runtime.KeepAlive(c)
}

// Whatever a node says of cores, no point is other than a number of cores.
func TestANodeMaySayAnything(t *testing.T) {
	c := newCluster()
	for _, v := range []float64{math.NaN(), math.Inf(1), -5, 1e300, 0} {
		for range 3 {
			c.Status(c.now, &api.NodeStatus{Node: "a", Offered: units.Cores(v), Others: units.Cores(v), Executors: []api.ExecutorStatus{
				{App: "app-1", ID: "1", CPU: units.Work(v), Quota: units.Cores(v)}, {App: "app-1", ID: "1", CPU: units.Work(-v), Quota: units.Cores(v)}}})
			c.pass(time.Second)
		}
	}
	h := c.Of(c.now, api.Query{})
	for i := range h.Points {
		for _, v := range []float32{h.Offered[i], h.Others[i], h.Apps[0].Used[i], h.Apps[0].Granted[i]} {
			if !(v >= 0 && v <= 2*api.MostCores) {
				t.Fatalf("point %d: %s", i, columns(h))
			}
		}
	}
}
