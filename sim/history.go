package sim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// historyVersion is the layout of a history's lines.
const historyVersion = 1

// A history is JSON lines: a head, then what happened in order, then an end. The
// lines with a call hold all that a node's engine was told and what it answered,
// so that Replay can ask it again.
type line struct {
	// The head.
	History int    `json:"pacer_history,omitempty"`
	Title   string `json:"title,omitempty"`
	Seed    uint64 `json:"seed,omitempty"`
	// At is the time of the world in seconds, Who and Name say whose line it is.
	At   float64 `json:"at"`
	Who  string  `json:"who,omitempty"`
	Name string  `json:"name,omitempty"`
	// Said is what a daemon would log.
	Said string `json:"said,omitempty"`
	// Call is "new", "step", "apply", "observe" or "status"; Now is on the node's
	// clock.
	Call    string          `json:"call,omitempty"`
	Now     units.Instant   `json:"now,omitempty"`
	Config  *node.Config    `json:"config,omitempty"`
	State   json.RawMessage `json:"state,omitempty"`
	Sample  *sampleLine     `json:"sample,omitempty"`
	Plan    *api.Plan       `json:"plan,omitempty"`
	Actions []actionLine    `json:"actions,omitempty"`
	// End is the number of lines before it, in the last line.
	End int `json:"end,omitempty"`
}

// sampleLine is a node.Sample in JSON, which has no infinity: a quota is null for
// none.
type sampleLine struct {
	Host      units.Work     `json:"host,omitempty"`
	Failures  []node.Failure `json:"failures,omitempty"`
	Executors []executorLine `json:"executors,omitempty"`
}

type executorLine struct {
	node.ExecutorSample
	Quota *units.Cores `json:"Quota"`
	Page  *node.Page   `json:"Page,omitempty"`
}

// actionLine is a node.Action; of a save and a report only that there was one, and
// which.
type actionLine struct {
	Do     string       `json:"do"`
	App    api.AppID    `json:"app,omitempty"`
	ID     string       `json:"id,omitempty"`
	Cores  *units.Cores `json:"cores,omitempty"`
	Weight string       `json:"weight,omitempty"`
	Seq    uint64       `json:"seq,omitempty"`
	// Sum stands for what a save or a report holds.
	Sum string `json:"sum,omitempty"`
}

// history writes lines; without a writer it does nothing.
type history struct {
	w      *World
	out    *bufio.Writer
	lines  int
	opened bool
	early  []line // What happened before the head was written.
}

func newHistory(w *World, out io.Writer) *history {
	h := &history{w: w}
	if out != nil {
		h.out = bufio.NewWriterSize(out, 1<<16)
	}
	return h
}

func (h *history) open() {
	if h.out == nil || h.opened {
		return
	}
	h.opened = true
	h.write(&line{History: historyVersion, Title: h.w.cfg.Title, Seed: h.w.cfg.Seed})
	for i := range h.early {
		h.write(&h.early[i])
	}
	h.early = nil
}

// close ends the history; more may follow when the world runs on.
func (h *history) close() {
	if h.out == nil {
		return
	}
	h.write(&line{At: seconds(0, h.w.now), End: h.lines})
	if err := h.out.Flush(); err != nil {
		h.w.fail("write the history: %v", err)
	}
}

func (h *history) write(l *line) {
	body, err := json.Marshal(l)
	if err == nil {
		_, err = h.out.Write(append(body, '\n'))
	}
	if err != nil {
		h.w.fail("write the history: %v", err)
	}
	h.lines++
}

func (h *history) add(l line) {
	l.At = seconds(0, h.w.now)
	if !h.opened {
		h.early = append(h.early, l)
		return
	}
	h.write(&l)
}

func (h *history) said(who, name, what string) {
	if h.out != nil {
		h.add(line{Who: who, Name: name, Said: what})
	}
}

// begin notes a new engine.
func (h *history) begin(a *agent, state []byte) {
	if h.out == nil {
		return
	}
	cfg := a.cfg
	h.add(line{Who: "node", Name: a.m.name, Call: "new", Config: &cfg, State: json.RawMessage(state)})
}

func (h *history) step(a *agent, now units.Instant, s *node.Sample, actions []node.Action) {
	h.call(a, "step", now, s, nil, actions)
}

func (h *history) observe(a *agent, now units.Instant, s *node.Sample, actions []node.Action) {
	h.call(a, "observe", now, s, nil, actions)
}

func (h *history) apply(a *agent, now units.Instant, p *api.Plan, actions []node.Action) {
	h.call(a, "apply", now, nil, p, actions)
}

func (h *history) status(a *agent) { h.call(a, "status", a.clock(), nil, nil, nil) }

func (h *history) call(a *agent, what string, now units.Instant, s *node.Sample, p *api.Plan, actions []node.Action) {
	if h.out == nil {
		return
	}
	l := line{Who: "node", Name: a.m.name, Call: what, Now: now, Plan: p, Actions: sayActions(actions)}
	if s != nil {
		l.Sample = saySample(s)
	}
	h.add(l)
}

func saySample(s *node.Sample) *sampleLine {
	out := &sampleLine{Host: s.HostUsed, Failures: append([]node.Failure(nil), s.Failures...)}
	for i := range s.Executors {
		x := executorLine{ExecutorSample: s.Executors[i]}
		if !x.ExecutorSample.Quota.IsUnlimited() {
			quota := x.ExecutorSample.Quota
			x.Quota = &quota
		}
		if page := s.Executors[i].Page; page.Generation > 0 {
			// The line may be written later than the page is filled again.
			page.Stages = append([]node.PageStage(nil), page.Stages...)
			page.Tasks = append([]node.PageTask(nil), page.Tasks...)
			x.Page = &page
		}
		x.ExecutorSample.Quota, x.ExecutorSample.Page = 0, node.Page{}
		out.Executors = append(out.Executors, x)
	}
	return out
}

// sample turns a line back into what the engine was given.
func (l *sampleLine) sample() *node.Sample {
	s := &node.Sample{HostUsed: l.Host, Failures: l.Failures}
	for _, x := range l.Executors {
		e := x.ExecutorSample
		e.Quota = units.Unlimited
		if x.Quota != nil {
			e.Quota = *x.Quota
		}
		if x.Page != nil {
			e.Page = *x.Page
		}
		s.Executors = append(s.Executors, e)
	}
	return s
}

func sayActions(actions []node.Action) []actionLine {
	out := make([]actionLine, 0, len(actions))
	for i := range actions {
		a := &actions[i]
		l := actionLine{Do: a.Kind.String(), App: a.Key.App, ID: string(a.Key.ID)}
		switch a.Kind {
		case node.ActSetQuota:
			if cores := a.Cores; !cores.IsUnlimited() {
				l.Cores = &cores
			}
		case node.ActSetWeight:
			l.Weight = a.Weight.String()
		case node.ActSave:
			l.Sum = digest(a.State)
		case node.ActReport:
			l.Seq, l.Sum = a.Status.Seq, digest(a.Status)
		case node.ActStart:
			l.Sum = digest(a.Launch)
		}
		out = append(out, l)
	}
	return out
}

// String says an action in one line.
func (a actionLine) String() string {
	body, err := json.Marshal(a)
	if err != nil {
		return fmt.Sprintf("%s %s/%s", a.Do, a.App, a.ID)
	}
	return string(body)
}
