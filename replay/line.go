package replay

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// Version is the layout of the lines that this build writes and reads.
const Version = 2

// Line is one line of a history. The lines with a call hold all that a node's
// engine was told and what it answered, so that Run can ask it again. Secrets of applications
// are masked in it, and in what the sums of actions are of.
type Line struct {
	// The head. Release is the build that recorded.
	History int    `json:"pacer_history,omitempty"`
	Title   string `json:"title,omitempty"`
	Seed    uint64 `json:"seed,omitempty"`
	Release string `json:"release,omitempty"`
	// At is the time in seconds, Who and Name say whose line it is.
	At   float64 `json:"at"`
	Who  string  `json:"who,omitempty"`
	Name string  `json:"name,omitempty"`
	// Said is what a daemon would log.
	Said string `json:"said,omitempty"`
	// Call is "new" or a node.CallKind; Now is on the node's clock.
	Call    node.CallKind   `json:"call,omitempty"`
	Now     units.Instant   `json:"now,omitempty"`
	Config  *node.Config    `json:"config,omitempty"`
	State   json.RawMessage `json:"state,omitempty"`
	Sample  *sampleLine     `json:"sample,omitempty"`
	Plan    *api.Plan       `json:"plan,omitempty"`
	Ending  node.Ending     `json:"ending,omitempty"`
	Actions []actionLine    `json:"actions,omitempty"`
	// End is the number of lines before it, in the last line.
	End int `json:"end,omitempty"`
}

// callNew is the call of node.New.
const callNew node.CallKind = "new"

// New is the line of a new engine; saved is the State given to it, in JSON, nil
// for none.
func New(name string, cfg node.Config, saved []byte) Line {
	return Line{Who: "node", Name: name, Call: callNew, Config: &cfg, State: json.RawMessage(maskSaved(saved))}
}

// maskSaved is a saved State as a history keeps it. A State that cannot be read is left out: no engine goes on from it.
func maskSaved(saved []byte) []byte {
	if len(saved) == 0 {
		return saved
	}
	var s node.State
	if err := json.Unmarshal(saved, &s); err != nil {
		return nil
	}
	shown := maskState(&s)
	if shown == &s {
		return saved
	}
	body, err := json.Marshal(shown)
	if err != nil {
		return nil
	}
	return body
}

// maskState is s without the secrets of applications: s itself where there are none.
func maskState(s *node.State) *node.State {
	plan := s.Plan.Masked()
	if plan == &s.Plan {
		return s
	}
	shown := *s
	shown.Plan = *plan
	return &shown
}

// Asked is the line of a call, of which it keeps copies but for the Plan.
func Asked(name string, c *node.Call) Line {
	l := told(name, c)
	l.Actions = sayActions(c.Actions)
	return l
}

// told is Asked without the answer.
func told(name string, c *node.Call) Line {
	l := Line{Who: "node", Name: name, Call: c.Kind, Now: c.Now, Plan: c.Plan.Masked(), Config: c.Config, Ending: c.Ending}
	if c.Sample != nil {
		l.Sample = saySample(c.Sample, c.Kind == node.CallStep)
	}
	return l
}

// sampleLine is a node.Sample in JSON, which has no infinity: a quota is null for
// none.
type sampleLine struct {
	Host      units.Work     `json:"host,omitempty"`
	Deaf      bool           `json:"deaf,omitempty"`
	Failures  []node.Failure `json:"failures,omitempty"`
	Executors []executorLine `json:"executors,omitempty"`
}

type executorLine struct {
	node.ExecutorSample
	Quota *units.Cores `json:"Quota"`
	Page  *meter.Page  `json:"Page,omitempty"`
}

// saySample copies s; nothing reads pages but a step.
func saySample(s *node.Sample, pages bool) *sampleLine {
	out := &sampleLine{Host: s.HostUsed, Deaf: s.Deaf, Failures: slices.Clone(s.Failures)}
	for i := range s.Executors {
		x := executorLine{ExecutorSample: s.Executors[i]}
		if !x.ExecutorSample.Quota.IsUnlimited() {
			quota := x.ExecutorSample.Quota
			x.Quota = &quota
		}
		if page := s.Executors[i].Page; pages && page.Generation > 0 {
			page.Stages, page.Tasks = slices.Clone(page.Stages), slices.Clone(page.Tasks)
			x.Page = &page
		}
		x.ExecutorSample.Quota, x.ExecutorSample.Page = 0, meter.Page{}
		out.Executors = append(out.Executors, x)
	}
	return out
}

// sample turns a line back into what the engine was given.
func (l *sampleLine) sample() *node.Sample {
	s := &node.Sample{HostUsed: l.Host, Deaf: l.Deaf, Failures: l.Failures}
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

// actionLine is a node.Action; of a save and a report only that there was one, and
// which.
type actionLine struct {
	Do     string       `json:"do"`
	App    api.AppID    `json:"app,omitempty"`
	ID     string       `json:"id,omitempty"`
	Cores  *units.Cores `json:"cores,omitempty"`
	Weight string       `json:"weight,omitempty"`
	Memory units.Bytes  `json:"memory,omitempty"`
	Limit  units.Bytes  `json:"limit,omitempty"`
	Lent   bool         `json:"lent,omitempty"`
	Seq    uint64       `json:"seq,omitempty"`
	// Sum stands for what a save or a report holds.
	Sum string `json:"sum,omitempty"`
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
		case node.ActWantMemory, node.ActSetMemoryLimit:
			l.Memory, l.Limit = a.Memory, a.Limit
		case node.ActShieldMemory:
			l.Memory, l.Lent = a.Memory, a.Lent
		case node.ActSave:
			l.Sum = digest(maskState(a.State))
		case node.ActReport:
			l.Seq, l.Sum = a.Status.Seq, digest(a.Status)
		case node.ActStart:
			l.Sum = digest(a.Launch.Masked())
		}
		out = append(out, l)
	}
	return out
}

// keepActions copies actions and what they point to, so that the copy outlives the
// engine's next call. A Launch is part of a Plan, which is never changed.
func keepActions(actions []node.Action) []node.Action {
	out := slices.Clone(actions)
	for i := range out {
		a := &out[i]
		if a.State != nil {
			a.State = a.State.Clone()
		}
		if a.Status != nil {
			status := a.Status.Clone()
			a.Status = &status
		}
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

// digest stands for a value that is too long for a history's line.
func digest(v any) string {
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
