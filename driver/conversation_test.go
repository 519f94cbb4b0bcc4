package driver_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// talker plays the transcripts of conversations. ConversationTranscriptTest.scala plays
// them by the jar's PlannerClient, whose thread goes on by itself: so a line tells all
// that came before the next request.
type talker struct {
	c    *driver.Conversation
	now  units.Instant
	no   uint64
	done []string // Since the last request.
	// planner is who answers registrations.
	planner string
}

func (p *talker) play(call string) string {
	f := strings.Fields(call)
	switch f[0] {
	case "begin":
		*p = talker{c: driver.NewConversation()}
	case "say":
		times := 1
		if len(f) > 2 {
			times = int(whole(f[2]))
		}
		e := api.Event{Type: api.EventType(f[1])}
		if n, ok := strings.CutPrefix(f[1], "stage_bound"); ok {
			e = api.Event{Type: api.EventStageBound, Bound: &api.StageBound{}}
			if n != "" {
				e.Bound.Bindings = make([]api.Binding, whole(n[1:]))
			}
		}
		for range times {
			p.c.Say(p.now, e)
		}
	case "next":
		return call + " -> " + p.next()
	case "accept":
		p.perform(p.c.Accept(p.now, p.no, &api.RegisterReply{AppID: api.AppID(f[1]), Planner: p.planner, AckedSeq: uint64(whole(f[2])), Directive: told(f[3:])}))
	case "reclaim":
		p.perform(p.c.Accept(p.now, p.no, &api.RegisterReply{AppID: api.AppID(f[1]), Planner: p.planner, AckedSeq: uint64(whole(f[2])), Directive: told(f[3:]), Recall: true}))
	case "refuse":
		p.perform(p.c.Accept(p.now, p.no, &api.RegisterReply{Error: api.Errorf(api.Kind(whole(f[1])), "no")}))
	case "answer":
		p.perform(p.c.Answer(p.now, p.no, &api.EventsReply{AckedSeq: uint64(whole(f[1])), Directive: told(f[2:])}))
	case "fault":
		p.perform(p.c.Answer(p.now, p.no, &api.EventsReply{Error: api.Errorf(api.Kind(whole(f[1])), "no")}))
	case "planner":
		p.planner = f[1]
	case "fail":
		p.c.Failed(p.now, p.no)
	case "publish":
		if d := told(f[1:]); p.c.Heard(&d) {
			p.done = append(p.done, "follow "+f[1])
		}
	case "reconnected":
		p.c.Reconnected()
	default:
		panic("no call " + f[0])
	}
	return call
}

// told is a directive of that epoch, which may be "queued".
func told(f []string) api.Directive {
	d := api.Directive{Epoch: uint64(whole(f[0]))}
	if len(f) > 1 {
		d.Queued = &api.Queue{Place: 1, Of: 1}
	}
	return d
}

func (p *talker) perform(o driver.Outcome) {
	if o.Leave {
		p.done = append(p.done, "leave")
	}
	if o.Forgot {
		p.done = append(p.done, "forgot")
	}
	if o.Directive != nil {
		p.done = append(p.done, "follow "+strconv.FormatUint(o.Directive.Epoch, 10))
	}
	if o.Forgot && p.c.Recall(p.now, slices.Repeat([]api.Event{{Type: api.EventExecutorUp}}, 2)) {
		p.done = append(p.done, "recall")
	}
}

// next lets time pass until there is a request, or none will come.
func (p *talker) next() string {
	for !p.c.Closed() {
		r, ok := p.c.Next(p.now)
		if !ok {
			p.now = p.c.Wake()
			continue
		}
		p.no = r.No
		p.done = append(p.done, asked(r))
		break
	}
	if p.c.Closed() {
		p.done = append(p.done, "closed")
	}
	out := strings.Join(p.done, "; ")
	p.done = nil
	return out
}

// asked writes a request: "register ID" or "events ID TYPE FIRST-LAST...", with the planner that
// is meant after the ID.
func asked(r driver.Request) string {
	id := string(r.AppID)
	if r.Planner != "" {
		id += " (" + r.Planner + ")"
	}
	if r.Register {
		return strings.TrimSpace("register " + id)
	}
	out := "events " + id
	for i, e := range r.Events {
		if i > 0 && e.Type == r.Events[i-1].Type {
			out = out[:strings.LastIndex(out, "-")] + fmt.Sprintf("-%d", e.Seq)
		} else {
			out += fmt.Sprintf(" %s %d-%d", e.Type, e.Seq, e.Seq)
		}
	}
	return out
}

// TestConversationTranscripts plays the cases that PlannerClient plays too.
func TestConversationTranscripts(t *testing.T) {
	const file = "testdata/conversation/rules.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p talker
	if got := replay(t, string(text), p.play); *rewrite {
		write(t, file, got)
	}
}

// TestEachEventIsTakenOnceInOrder lets requests and answers get lost, come late and come
// twice: a planner that takes events above the newest it has gets all, without a gap. No
// two requests are waited for, and the driver is never silent for longer than a heartbeat
// and the patience with an answer.
func TestEachEventIsTakenOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := driver.NewConversation()
		var now, last units.Instant
		var taken []uint64
		var late []func()
		said, acked := uint64(0), uint64(0)
		serve := func(r driver.Request) func() {
			for _, e := range r.Events {
				if e.Seq > acked {
					acked = e.Seq
					taken = append(taken, e.Seq)
				}
			}
			seq, at := acked, r.No
			if r.Register {
				return func() { c.Accept(now, at, &api.RegisterReply{AppID: "app-1", AckedSeq: seq}) }
			}
			return func() { c.Answer(now, at, &api.EventsReply{AckedSeq: seq}) }
		}
		step := func(fate int) {
			if r, ok := c.Next(now); ok {
				last = now
				switch fate {
				case 0: // The request is lost.
				case 1: // The answer is.
					serve(r)
				case 2:
					late = append(late, serve(r))
				case 3:
					c.Failed(now, r.No)
				default:
					answer := serve(r)
					answer()
					answer()
				}
			} else if quiet := now.Sub(last); quiet > driver.Heartbeat+driver.Patience {
				t.Fatalf("silent for %v", quiet)
			}
		}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				said = c.Say(now, api.Event{Type: api.EventExecutorUp})
			case 1:
				c.Reconnected()
			case 2:
				if len(late) > 0 {
					late[0]()
					late = late[1:]
				}
			case 3:
				now = min(c.Wake(), now.Add(time.Second))
			default:
				step(rapid.IntRange(0, 7).Draw(t, "fate"))
			}
		}
		for n := 0; acked < said; n++ {
			now = min(c.Wake(), now.Add(time.Second))
			if step(9); n > 100 {
				t.Fatalf("%d of %d events taken", acked, said)
			}
		}
		if !slices.IsSorted(taken) || uint64(len(taken)) != said {
			t.Fatalf("of %d events %v were taken", said, taken)
		}
	})
}

// TestRecallComesFirst sends a planner that has lost its state nothing that came of its
// directive: what is true has that already.
func TestRecallComesFirst(t *testing.T) {
	c := driver.NewConversation()
	registration, _ := c.Next(0)
	c.Accept(0, registration.No, &api.RegisterReply{AppID: "app-1"})
	c.Reconnected()
	registration, _ = c.Next(0)
	if out := c.Accept(0, registration.No, &api.RegisterReply{AppID: "app-2"}); !out.Forgot {
		t.Fatal("another id and nothing forgotten")
	}
	c.Say(0, api.Event{Type: api.EventStageBound})
	if r, ok := c.Next(0); ok {
		t.Errorf("sent before the recall: %v", r)
	}
	c.Recall(0, []api.Event{{Type: api.EventStageReady}})
	if r, ok := c.Next(0); !ok || len(r.Events) != 1 || r.Events[0].Type != api.EventStageReady {
		t.Errorf("recalled with %v", r)
	}
}

// TestADriverThatDoesNotExitFallsSilent ends the heartbeats ten minutes after the context.
func TestADriverThatDoesNotExitFallsSilent(t *testing.T) {
	c := driver.NewConversation()
	registration, _ := c.Next(0)
	c.Accept(0, registration.No, &api.RegisterReply{AppID: "app-1"})
	now := units.Instant(time.Second)
	c.Say(now, api.Event{Type: api.EventEnd})
	beats := 0
	for ; !c.Closed(); now = min(c.Wake(), now.Add(time.Second)) {
		if r, ok := c.Next(now); ok {
			beats++
			c.Answer(now, r.No, &api.EventsReply{AckedSeq: 1})
		}
	}
	if silent := now.Sub(units.Instant(time.Second)); silent < driver.Linger || silent > driver.Linger+5*time.Second || beats < 290 {
		t.Errorf("%d heartbeats until %v after the end", beats, silent)
	}
}
