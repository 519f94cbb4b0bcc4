package sim

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Scenario is a world and what happens in it, as a text says (see ParseScenario).
type Scenario struct {
	// Proves is the text's first line: what the scenario shows.
	Proves string
	Config Config
	Law    string

	name     string     // In errors.
	sets     [][]string // The set lines say these, in their order.
	apps     map[string]plant.App
	unknown  map[string]bool // Of apps, those without a profile.
	arrivals []arrival
	faults   []timedFault
	kills    []timedKill
	// groups are descriptions without Spark, described when these come.
	groups    []Group
	described []describedGroup
	chaos     [2]units.Seconds // Mean and until; 0 for none.
	expects   []expectation
	source    string // The text without its golden output.
	golden    string
}

// arrival is an application that comes at a time.
type arrival struct {
	line     int
	at       units.Seconds
	app      string
	deadline units.Seconds
	factor   float64 // Times the duration at all cores.
	grow     float64 // Times what the application reads and does.
}

type timedFault struct {
	line  int
	at    units.Seconds
	kind  string
	node  string
	value float64
}

// timedKill is when a user ends a run, which is the arrival with that place.
type timedKill struct {
	line    int
	at      units.Seconds
	app     string
	run     int
	arrival int
}

// expectation says what is expected of an application's runs: of all, or of the one with
// that number, counted from 1 in the order of arrival.
type expectation struct {
	line      int
	app       string
	run       int
	what      string
	low, high float64
}

// Values that may be expected: an error in per cent, seconds in the queue, an end by a user.
const (
	expectError  = "error"
	expectWaited = "waited"
	expectKilled = "killed"
)

// The Pacing of an application that the planner did not take, and of one that its user has
// ended.
const (
	refused = "refused"
	killed  = "killed"
)

// Report is what came of a scenario.
type Report struct {
	Proves   string    `json:"proves"`
	Law      string    `json:"law"`
	Seed     uint64    `json:"seed"`
	Events   uint64    `json:"events"`
	Outcomes []Outcome `json:"outcomes"`
	// Failed are expectations that were not met.
	Failed []string `json:"failed,omitempty"`
	world  *World
}

// separator stands between a scenario's text and its golden output.
const separator = "---\n"

// Golden returns the output that the text says, "" if it says none.
func (s *Scenario) Golden() string { return s.golden }

// Rewritten returns the text with output as its golden one.
func (s *Scenario) Rewritten(output string) string {
	source := s.source
	if !strings.HasSuffix(source, "\n") {
		source += "\n" // The separator is a line of its own.
	}
	return source + separator + output
}

// UseLaw has the scenario run under that law, with what the law brings along; what
// the text sets holds over that. The error is that there is no such law.
func (s *Scenario) UseLaw(law string) error {
	c, err := WithLaw(s.Config, law)
	if err != nil {
		return err
	}
	for _, words := range s.sets {
		if err := configure(&c, words); err != nil {
			return err
		}
	}
	s.Law, s.Config = law, c
	return nil
}

// errorf is an error of a line of the text.
func (s *Scenario) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", s.name, line, fmt.Errorf(format, args...))
}

// Run lets the scenario happen. history, if not nil, gets the event history. The
// error is a broken invariant or a world that cannot be made; expectations that
// are not met are in the Report.
func (s *Scenario) Run(history io.Writer) (Report, error) {
	r := Report{Proves: s.Proves, Law: s.Law, Seed: s.Config.Seed}
	c := s.Config
	c.History, c.Title = history, s.Proves
	full, err := s.record(c)
	if err != nil {
		return r, err
	}
	w, err := New(c)
	if err != nil {
		return r, err
	}
	r.world = w
	drivers, err := s.prepare(w, full)
	if err != nil {
		return r, err
	}
	if err := w.Run(); err != nil {
		return r, err
	}
	r.Events = w.Events()
	runs := map[string]int{}
	for i, d := range drivers {
		app := s.arrivals[i].app
		runs[app]++
		o, err := d.Outcome()
		if err != nil {
			o = Outcome{App: d.spark.App.Name, Deadline: d.spark.App.Deadline, Pacing: refused}
		}
		r.Outcomes = append(r.Outcomes, o)
		r.Failed = append(r.Failed, s.unmet(app, runs[app], o)...)
	}
	return r, nil
}

// recorded is what a run at all cores has shown of an application.
type recorded struct {
	put      func(*World) error
	duration units.Seconds
}

// record runs every application that comes at all cores, in a quiet world of its
// own: for its profile and for deadlines that are told as a factor.
func (s *Scenario) record(c Config) (map[string]recorded, error) {
	full := map[string]recorded{}
	c.History, c.Restarts = nil, false
	for _, a := range s.arrivals {
		if of := s.apps[a.app].Profile; of != "" && full[of].put == nil {
			p, o, err := Record(c, s.apps[of])
			if err != nil {
				return nil, s.errorf(a.line, "the run of %s at all cores: %w", of, err)
			}
			full[of] = recorded{func(w *World) error { return w.PutProfile(p) }, o.Duration}
		}
		if _, done := full[a.app]; done {
			continue
		}
		own := s.apps[a.app]
		own.Profile = ""
		p, o, err := Record(c, own)
		if err != nil {
			return nil, s.errorf(a.line, "the run of %s at all cores: %w", a.app, err)
		}
		put := func(w *World) error { return w.PutProfile(p) }
		if s.unknown[a.app] || s.apps[a.app].Profile != "" {
			put = func(*World) error { return nil }
		}
		full[a.app] = recorded{put, o.Duration}
	}
	return full, nil
}

// prepare gives the world profiles, applications and faults.
func (s *Scenario) prepare(w *World, full map[string]recorded) ([]*Driver, error) {
	var drivers []*Driver
	for _, name := range slices.Sorted(maps.Keys(full)) {
		if err := full[name].put(w); err != nil {
			return nil, err
		}
	}
	start := w.Now()
	for _, a := range s.arrivals {
		app := s.apps[a.app].Grown(a.grow)
		app.Deadline = a.deadline
		if a.factor > 0 {
			app.Deadline = full[a.app].duration * units.Seconds(a.factor)
		}
		d, err := w.Submit(start+a.at, app)
		if err != nil {
			return nil, s.errorf(a.line, "%w", err)
		}
		drivers = append(drivers, d)
	}
	for _, f := range s.faults {
		if err := w.Fault(start+f.at, f.kind, f.node, f.value); err != nil {
			return nil, s.errorf(f.line, "%w", err)
		}
	}
	for _, d := range s.described {
		w.SubmitGroup(start+d.at, d.group)
	}
	for _, k := range s.kills {
		w.Kill(start+k.at, drivers[k.arrival])
	}
	if s.chaos[0] > 0 {
		return drivers, w.Chaos(s.chaos[0], start+s.chaos[1])
	}
	return drivers, nil
}

// unmet says which expectations the given run of an application does not meet. One
// that was refused, killed or failed has no error that could be as expected.
func (s *Scenario) unmet(app string, run int, o Outcome) []string {
	var out []string
	for _, e := range s.expects {
		if e.app != app || e.run != 0 && e.run != run {
			continue
		}
		say := func(format string, args ...any) { out = append(out, s.errorf(e.line, format, args...).Error()) }
		switch {
		case e.what == expectKilled:
			if o.Pacing != killed {
				say("run %d of %s was not killed", run, app)
			}
		case e.what == expectWaited:
			if waited := float64(o.Waited); o.Pacing == refused || !(waited >= e.low && waited <= e.high) {
				say("run %d of %s waited for %.1f s, expected %g to %g", run, app, waited, e.low, e.high)
			}
		case o.Pacing == refused:
			say("%s was refused, expected an error of %g to %g %%", app, e.low, e.high)
		case o.Pacing == string(api.AppFailed) || o.Pacing == killed:
			say("run %d of %s %s, expected an error of %g to %g %%", run, app, o.Pacing, e.low, e.high)
		case !(o.Error >= e.low && o.Error <= e.high):
			say("the error of run %d of %s is %+.2f %%, expected %g to %g", run, app, o.Error, e.low, e.high)
		}
	}
	return out
}

// Text is the report as a table. What it says of memory is there where applications declare
// theirs.
func (r Report) Text() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	memory := slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Memory != nil })
	head := "APPLICATION\tDEADLINE\tDURATION\tERROR\tSTAGES\tCORES\tCORE-SECONDS\tQUOTAS\tPACING"
	if memory {
		head += "\tWAITED\tMOVES\tEVICTED\tSPILLED"
	}
	fmt.Fprintln(t, head)
	for _, o := range r.Outcomes {
		err := "-"
		if o.Deadline > 0 && o.Pacing != refused && o.Pacing != killed {
			err = fmt.Sprintf("%+.2f%%", o.Error)
		}
		fmt.Fprintf(t, "%s\t%.1fs\t%.1fs\t%s\t%.2f%%\t%.1f\t%.0f\t%d\t%s", o.App, float64(o.Deadline), float64(o.Duration),
			err, o.StageError,
			o.MeanCores, o.CoreSeconds, o.Changes, o.Pacing)
		if m := o.Memory; memory && m != nil {
			fmt.Fprintf(t, "\t%.1fs\t%d\t%.0fm\t%.0fm", float64(o.Waited), m.Moves, float64(m.Evicted)/float64(units.MiB),
				float64(m.Spilled)/float64(units.MiB))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // A strings.Builder takes all.
	for _, f := range r.Failed {
		b.WriteString("not as expected: " + f + "\n")
	}
	return b.String()
}

// order sorts stages so that parents come before their stage and jobs do not
// decrease; it returns the names of a cycle instead if there is one.
func order(stages []namedStage) (sorted []namedStage, cycle []string) {
	left := slices.Clone(stages)
	placed := map[string]bool{}
	for len(left) > 0 {
		i := -1
		for k, s := range left {
			open := slices.ContainsFunc(s.after, func(p string) bool { return !placed[p] })
			if !open && (i < 0 || s.stage.Job < left[i].stage.Job) {
				i = k
			}
		}
		if i < 0 {
			return nil, loop(left)
		}
		placed[left[i].name] = true
		sorted = append(sorted, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return sorted, nil
}

// loop follows the first stage that is left back to itself.
func loop(left []namedStage) []string {
	byName := map[string]namedStage{}
	for _, s := range left {
		byName[s.name] = s
	}
	var path []string
	for at := left[0].name; ; {
		if i := slices.Index(path, at); i >= 0 {
			return append(path[i:], at)
		}
		path = append(path, at)
		for _, p := range byName[at].after {
			if _, ok := byName[p]; ok {
				at = p
				break
			}
		}
	}
}
