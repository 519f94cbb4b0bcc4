package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// The nodes of linked give each link bytes a second; what reads has input of 45 s at that.
const (
	link   = 8 << 20
	input  = 45 * link
	tasks  = 45
	starts = 12 // When the first stage of either begins, in seconds.
)

// linked are two nodes of so much memory, of which an application gets one by that order.
func linked(t *testing.T, order string, memory units.Bytes) *world {
	cfg := planner.Default()
	cfg.MaxNodes, cfg.Placement = 1, order
	w := newWorldOf(t, cfg)
	for _, n := range []string{"n1", "n2"} {
		w.memory[n] = memory
		w.helloAs(w.rated(n))
	}
	return w
}

// rated is a status that says how fast the node's network is.
func (w *world) rated(node string) api.NodeStatus {
	s := w.status(node)
	s.Offered, s.Total, s.Rates = 0.9, 2, api.NodeRates{Network: link}
	return s
}

// come are applications that come in turn, by name.
type come struct {
	*world
	ids  []api.AppID
	subs map[api.AppID]string
	from map[api.AppID]units.Instant
}

// comes has one register without a deadline, and its executor start.
func (c *come) comes(name string) api.RegisterReply {
	r := registration(name, 0)
	r.Submission = fmt.Sprint(name, len(c.ids))
	reply := c.mustRegister(r)
	c.ids, c.subs[reply.AppID], c.from[reply.AppID] = append(c.ids, reply.AppID), r.Submission, c.now
	return reply
}

func (c *come) at(id api.AppID) units.Seconds { return units.FromDuration(c.now.Sub(c.from[id])) }

// runs lets seconds pass in which all are heard, and begin their first stage when they have started.
func (c *come) runs(seconds int) {
	for range seconds {
		c.pass(time.Second)
		for _, id := range c.ids {
			var begun []api.Event
			if c.at(id) == starts && len(c.directives[id].Executors) > 0 {
				begun = append(begun, c.stage(id, 0, tasks, -1))
			}
			c.tell(id, c.subs[id], begun...)
		}
		for _, n := range []string{"n1", "n2"} {
			c.step(planner.Status{Status: new(c.rated(n))})
		}
	}
}

// stage is a stage of that application that begins.
func (c *come) stage(id api.AppID, stage, tasks int, records int64) api.Event {
	name := fmt.Sprintf("%s, stage %d", c.app(id).Name, stage)
	e := ready(c.at(id), stage, name, records, "1")
	e.Stage.Tasks, e.Stage.Bytes, e.Stage.Bindings[0].Tasks, e.Stage.Bindings[0].Weight = tasks, -1, tasks, float64(tasks)
	if stage > 0 {
		e.Stage.Parents = []int{stage - 1}
	}
	return e
}

// runAlone is the profile of a run alone, as its driver tells it, that reads so much from other hosts.
func runAlone(t *testing.T, name string, remote int64) api.Profile {
	c := &come{world: linked(t, placement.LeastCommitted, 4*units.GiB), subs: map[api.AppID]string{},
		from: map[api.AppID]units.Instant{}}
	id := c.comes(name).AppID
	c.runs(starts)
	for stage, read := range []int64{remote, 0} {
		began, took := c.at(id), 45
		if stage > 0 {
			took = 1
			c.tell(id, c.subs[id], c.stage(id, stage, 1, tasks))
		}
		c.runs(took)
		e := done(c.at(id), stage, began)
		e.Done.Tasks, e.Done.RecordsRead, e.Done.BytesRead, e.Done.BytesRemote = tasks, 1000*tasks, read, &read
		c.tell(id, c.subs[id], e)
	}
	c.runs(1)
	c.tell(id, c.subs[id], end(c.at(id)))
	c.says("n1", api.ExecutorExited, id)
	c.pass(5 * time.Second)
	p := c.stored(name)
	if p == nil {
		t.Fatalf("no profile %s", name)
	}
	return *p
}

// Applications without deadlines, whose profiles runs alone have recorded, come in turn: prophet puts each that reads
// beside one that computes. Where both that read are on a node, the verdict of the second names the first. Where a node
// holds one executor no order pairs them: the third waits.
func TestRunsAloneTellWhoIsPutBesideWhom(t *testing.T) {
	reads, computes := runAlone(t, "reads", input), runAlone(t, "computes", 0)
	for name, k := range map[string]struct {
		order  string
		memory units.Bytes
		want   []string
		names  bool
		waits  bool
	}{
		"prophet":            {order: placement.Prophet, memory: 4 * units.GiB, want: []string{"n1", "n1", "n2", "n2"}},
		"least committed":    {order: placement.LeastCommitted, memory: 4 * units.GiB, want: []string{"n1", "n2", "n1", "n2"}, names: true},
		"no room for a pair": {order: placement.Prophet, memory: 3 * units.GiB, want: []string{"n1", "n2"}, waits: true},
	} {
		c := &come{world: linked(t, k.order, k.memory), subs: map[api.AppID]string{}, from: map[api.AppID]units.Instant{}}
		c.put(reads)
		c.put(computes)
		var on []string
		for i, what := range []string{"reads", "computes", "reads", "computes"} {
			reply := c.comes(what)
			on = append(on, c.places(reply.AppID)...)
			first := "86s at any number of cores: n1's network, half of it " + string(c.ids[0]) + "'s"
			if i == 2 && (strings.Contains(reply.Reason, first) != k.names || (reply.Directive.Queued != nil) != k.waits) {
				t.Errorf("%s: the second that reads is told: %s", name, reply.Reason)
			}
			c.runs(2)
		}
		if !slices.Equal(on, k.want) {
			t.Errorf("%s: on %v, want %v", name, on, k.want)
		}
	}
}
