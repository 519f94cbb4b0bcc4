package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// ParseScenario reads a scenario. name goes into its errors, which say the line,
// what was found and what was expected. The grammar, a statement a line:
//
//	# What is proved.                       the first line, always
//	seed 7
//	law pi                                  one of Laws; the default configuration without
//	nodes 4 cores=16 [speed=1 others=0]     replaces the four of the paper
//	node big cores=32 [speed=1 others=0]    one more
//	set alpha=1 beta=0.3 split=paper strategy=edf-pure gamma=0 phi=1 eta=10 p=0.3
//	plant lag=0.3 bend=1 noise=0.02 run-noise=0 spread=0.1 task=0.03 sway=3 start=4 warm=3
//	      warm-work=1.5 pause-every=4 pause-work=0.04 dispatch=4ms page=100ms   (one line)
//	network delay=1ms jitter=1ms loss=0.05 duplicate=0.05 reorder=yes
//	limit 2h
//	workload kmeans                         one of the source's applications
//	app NAME head=3s tail=0.2s              an application, with its stages:
//	  stage NAME tasks=100 work=200 [after=A,B job=0 records=1000 written=10
//	        gap=0.1s fetch=20ms read=0.5 zipf=1 skewed=0.1]                     (one line)
//	at 10s submit NAME [deadline=60s | deadline=1.3x] [count=3 every=20s | poisson=20s]
//	at 30s planner-down                     any of Faults, with its node and its size
//	at 30s others n1 4
//	chaos mean=10s until=300s               faults at random
//	expect NAME error -1 to 5               per cent of the deadline, of every run
//	---                                     what follows is the golden output
func ParseScenario(name, text string) (*Scenario, error) {
	p := &parser{name: name, s: &Scenario{Config: Default(), apps: map[string]App{}, bends: map[string]float64{}}}
	body, golden, found := strings.Cut("\n"+text, "\n"+separator)
	body = strings.TrimPrefix(body, "\n")
	if found {
		body += "\n"
	}
	p.s.source, p.s.golden = body, golden
	for i, line := range strings.Split(body, "\n") {
		p.line = i + 1
		if err := p.statement(line); err != nil {
			return nil, p.errorf(err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, p.errorf(err)
	}
	return p.s, nil
}

// parser reads a scenario line by line.
type parser struct {
	name string
	line int
	s    *Scenario
	// app is the one whose stages are being read, appLine where it began.
	app     *App
	appLine int
	stages  []namedStage
	nodes   bool // The text has said nodes.
	setLine int  // The last one that set something.
}

// namedStage is a stage whose parents are names.
type namedStage struct {
	name  string
	after []string
	line  int
	stage Stage
}

func (p *parser) errorf(err error) error { return fmt.Errorf("%s:%d: %w", p.name, p.line, err) }

// statements is where a new word is entered.
func statements() []struct {
	word string
	read func(*parser, []string) error
} {
	return []struct {
		word string
		read func(*parser, []string) error
	}{
		{"seed", (*parser).seed}, {"law", (*parser).law}, {"nodes", (*parser).manyNodes}, {"node", (*parser).oneNode},
		{"set", (*parser).set}, {"plant", (*parser).plant}, {"network", (*parser).network}, {"limit", (*parser).limit},
		{"workload", (*parser).workload}, {"app", (*parser).application}, {"stage", (*parser).stage}, {"at", (*parser).event},
		{"chaos", (*parser).chaos}, {"expect", (*parser).expect},
	}
}

func (p *parser) statement(line string) error {
	text := strings.TrimSpace(line)
	if p.line == 1 {
		proves, ok := strings.CutPrefix(text, "#")
		if p.s.Proves = strings.TrimSpace(proves); !ok || p.s.Proves == "" {
			return fmt.Errorf("%q, expected a comment that says what is proved", text)
		}
		return nil
	}
	if text, _, _ = strings.Cut(text, " #"); text == "" || strings.HasPrefix(text, "#") {
		return nil
	}
	words := strings.Fields(text)
	if words[0] != "stage" {
		if err := p.endApp(); err != nil {
			return err
		}
	}
	var known []string
	for _, s := range statements() {
		if s.word == words[0] {
			return s.read(p, words[1:])
		}
		known = append(known, s.word)
	}
	return fmt.Errorf("unknown word %q, expected one of %s", words[0], strings.Join(known, ", "))
}

func (p *parser) finish() error {
	if err := p.endApp(); err != nil {
		return err
	}
	switch {
	case p.s.Proves == "":
		return fmt.Errorf("the text is empty, expected a comment that says what is proved")
	case len(p.s.arrivals) == 0:
		return fmt.Errorf("nothing is submitted, expected a line like: at 0s submit NAME deadline=1.3x")
	}
	if p.s.Law == "" {
		p.s.Law = p.s.Config.Node.Controller.Law
	}
	for _, e := range p.s.expects {
		if !slices.ContainsFunc(p.s.arrivals, func(a arrival) bool { return a.app == e.app }) {
			p.line = e.line
			return fmt.Errorf("application %q is never submitted", e.app)
		}
	}
	if err := p.settings(); err != nil {
		p.line = p.setLine
		return err
	}
	for _, f := range p.s.faults {
		if f.node != "" && !slices.ContainsFunc(p.s.Config.Nodes, func(n NodeSpec) bool { return n.Name == f.node }) {
			p.line = f.line
			return fmt.Errorf("unknown node %q, expected one of the scenario's", f.node)
		}
	}
	return nil
}

// settings checks what engines ask of settings together, on the smallest node.
func (p *parser) settings() error {
	least := slices.MinFunc(p.s.Config.Nodes, func(a, b NodeSpec) int { return cmp.Compare(a.Cores, b.Cores) })
	c := p.s.Config.Node
	c.Node, c.Incarnation, c.Total, c.Offered = least.Name, "1", least.Cores, least.Cores
	return errors.Join(p.s.Config.Planner.Validate(), c.Validate())
}

// count checks how many words there are.
func count(words []string, n int, want string) error {
	if len(words) != n {
		return fmt.Errorf("%q, expected %s", strings.Join(words, " "), want)
	}
	return nil
}

func (p *parser) seed(words []string) (err error) {
	if err = count(words, 1, "one number"); err != nil {
		return err
	}
	if p.s.Config.Seed, err = strconv.ParseUint(words[0], 10, 64); err != nil {
		return fmt.Errorf("seed %q, expected a whole number of 0 or more", words[0])
	}
	return nil
}

func (p *parser) law(words []string) (err error) {
	if err = count(words, 1, fmt.Sprintf("one of %v", Laws())); err != nil {
		return err
	}
	p.s.Law = words[0]
	p.s.Config, err = WithLaw(p.s.Config, words[0])
	return err
}

func (p *parser) limit(words []string) (err error) {
	if err = count(words, 1, "one duration"); err != nil {
		return err
	}
	p.s.Config.Limit, err = duration(words[0], time.Second, 1000*time.Hour)
	return err
}

// machines reads what a node is like.
func machines(words []string) (NodeSpec, error) {
	n := NodeSpec{Cores: -1}
	err := pairs(words, map[string]func(string) error{
		"cores":  amount(&n.Cores, 0.5, 4096),
		"speed":  amount(&n.Speed, 0.01, 100),
		"others": amount(&n.Others, 0, 4096),
	})
	if err == nil && n.Cores < 0 {
		err = fmt.Errorf("no cores are given, expected cores=16")
	}
	return n, err
}

func (p *parser) manyNodes(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("nothing follows, expected a number of nodes and cores=16")
	}
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 1 || n > 20000 {
		return fmt.Errorf("%q nodes, expected 1 to 20000", words[0])
	}
	spec, err := machines(words[1:])
	if err != nil {
		return err
	}
	p.s.Config.Nodes, p.nodes = nil, true
	for i := range n {
		spec.Name = fmt.Sprintf("n%d", i+1)
		p.s.Config.Nodes = append(p.s.Config.Nodes, spec)
	}
	return nil
}

func (p *parser) oneNode(words []string) error {
	if len(words) == 0 || !api.ValidNodeName(words[0]) {
		return fmt.Errorf("%q, expected a node's name of letters, digits, - and _", strings.Join(words, " "))
	}
	spec, err := machines(words[1:])
	if err != nil {
		return err
	}
	if !p.nodes {
		p.s.Config.Nodes, p.nodes = nil, true
	}
	spec.Name = words[0]
	if slices.ContainsFunc(p.s.Config.Nodes, func(n NodeSpec) bool { return n.Name == spec.Name }) {
		return fmt.Errorf("node %q is there twice", spec.Name)
	}
	p.s.Config.Nodes = append(p.s.Config.Nodes, spec)
	return nil
}

func (p *parser) set(words []string) error {
	c := &p.s.Config
	p.setLine = p.line
	return pairs(words, map[string]func(string) error{
		"alpha": amount(&c.Planner.Alpha, 0.01, 1), "beta": amount(&c.Planner.Beta, 0, 1),
		"split":    choice(&c.Planner.Split, dag.Splits()),
		"branches": choice(&c.Planner.Branches, planner.Branches()),
		"strategy": choice(&c.Node.Supervisor.Strategy, supervisor.Strategies()),
		"gamma":    amount(&c.Node.Supervisor.Gamma, 0, 1),
		"phi":      amount(&c.Node.Controller.Phi, 0.01, 1), "eta": amount(&c.Node.Controller.Eta, 1.001, 1e4),
		"p": amount(&c.Node.Controller.P, 0, 0.999), "floor": amount(&c.Node.Floor, 0, 16),
		"quantum": amount(&c.Node.Quantum, 0.001, 4), "interval": span(&c.Node.Interval, 10*time.Millisecond, time.Minute),
	})
}

func (p *parser) plant(words []string) error {
	c := &p.s.Config.Plant
	return pairs(words, map[string]func(string) error{
		"lag": amount(&c.Lag, 0, 0.999), "bend": amount(&c.Bend, 0, 100), "noise": amount(&c.Noise, 0, 0.5),
		"run-noise": amount(&c.RunNoise, 0, 0.5), "spread": amount(&c.Spread, 0, 3), "task": amount(&c.Task, 0, 1e6), "sway": amount(&c.Sway, 0, 100), "start": amount(&c.Start, 0, 1e6),
		"warm": amount(&c.Warm, 0, 100), "warm-work": amount(&c.WarmWork, 0, 1e6), "pause-every": amount(&c.PauseEvery, 0, 1e6),
		"pause-work": amount(&c.PauseWork, 0, 1e6), "dispatch": span(&c.Dispatch, 0, time.Minute), "page": span(&c.Page, time.Millisecond, time.Minute),
	})
}

func (p *parser) network(words []string) error {
	c := &p.s.Config.Net
	reorder := ""
	err := pairs(words, map[string]func(string) error{
		"delay": span(&c.Delay, 0, time.Minute), "jitter": span(&c.Jitter, 0, time.Minute), "loss": amount(&c.Loss, 0, 0.9),
		"duplicate": amount(&c.Duplicate, 0, 0.9), "reorder": choice(&reorder, []string{"yes", "no"}),
	})
	c.Reorder = reorder == "yes"
	return err
}

func (p *parser) workload(words []string) error {
	if err := count(words, 1, "the name of one workload"); err != nil {
		return err
	}
	w, err := FindWorkload(words[0])
	if err != nil {
		return err
	}
	p.s.bends[w.Name] = w.Bend
	return p.define(w.App)
}

func (p *parser) define(a App) error {
	if _, there := p.s.apps[a.Name]; there {
		return fmt.Errorf("application %q is there twice", a.Name)
	}
	p.s.apps[a.Name] = a
	return nil
}

func (p *parser) application(words []string) error {
	if len(words) == 0 || strings.Contains(words[0], "=") {
		return fmt.Errorf("%q, expected an application's name", strings.Join(words, " "))
	}
	p.app, p.appLine, p.stages = &App{Name: words[0]}, p.line, nil
	return pairs(words[1:], map[string]func(string) error{
		"head": within(&p.app.Head, 1e6), "tail": within(&p.app.Tail, 1e6), "pace": amount(&p.app.Pace, 0.01, 100),
	})
}

func (p *parser) stage(words []string) error {
	if p.app == nil {
		return fmt.Errorf("a stage without an application, expected app NAME before it")
	}
	if len(words) == 0 || strings.Contains(words[0], "=") {
		return fmt.Errorf("%q, expected a stage's name", strings.Join(words, " "))
	}
	s := namedStage{name: words[0], line: p.line}
	s.stage.Name = words[0]
	if slices.ContainsFunc(p.stages, func(o namedStage) bool { return o.name == s.name }) {
		return fmt.Errorf("stage %q is there twice", s.name)
	}
	st := &s.stage
	err := pairs(words[1:], map[string]func(string) error{
		"tasks": whole(&st.Tasks, 1, 1e6), "work": amount(&st.Work, 1e-3, 1e9), "job": whole(&st.Job, 0, 1e6),
		"records": whole(&st.Records, 0, 1e15), "written": whole(&st.Written, 0, 1e15),
		"gap": within(&st.Gap, 1e6), "fetch": within(&st.Fetch, 1e6), "read": amount(&st.Read, 0, 1),
		"zipf": amount(&st.Zipf, 0, 10), "skewed": amount(&st.Skewed, 0, 1),
		"after": func(v string) error { s.after = strings.Split(v, ","); return nil },
	})
	switch {
	case err != nil:
		return err
	case st.Tasks == 0:
		return fmt.Errorf("stage %s has no tasks, expected tasks=100", s.name)
	case st.Work == 0:
		return fmt.Errorf("stage %s has no work, expected work=200 (core-seconds)", s.name)
	}
	p.stages = append(p.stages, s)
	return nil
}

// endApp puts the stages of an application in order.
func (p *parser) endApp() error {
	if p.app == nil {
		return nil
	}
	a, last := p.app, p.line
	p.app = nil
	at := func(line int, err error) error { p.line = line; return err }
	if len(p.stages) == 0 {
		return at(p.appLine, fmt.Errorf("application %s has no stages, expected stage lines after it", a.Name))
	}
	for _, s := range p.stages {
		for _, parent := range s.after {
			if !slices.ContainsFunc(p.stages, func(o namedStage) bool { return o.name == parent }) {
				return at(s.line, fmt.Errorf("stage %s comes after %q, which is no stage of %s", s.name, parent, a.Name))
			}
		}
	}
	sorted, cycle := order(p.stages)
	if cycle != nil {
		i := slices.IndexFunc(p.stages, func(s namedStage) bool { return s.name == cycle[0] })
		return at(p.stages[i].line, fmt.Errorf("stages wait for each other: %s, expected a graph without cycles", strings.Join(cycle, " after ")))
	}
	for _, s := range sorted {
		for _, parent := range s.after {
			s.stage.Parents = append(s.stage.Parents, slices.IndexFunc(sorted, func(o namedStage) bool { return o.name == parent }))
		}
		slices.Sort(s.stage.Parents)
		a.Stages = append(a.Stages, s.stage)
	}
	if err := a.Validate(); err != nil {
		return at(p.appLine, err)
	}
	if err := p.define(*a); err != nil {
		return at(p.appLine, err)
	}
	p.line = last
	return nil
}

func (p *parser) event(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("%q, expected a time and what happens: at 10s submit NAME", strings.Join(words, " "))
	}
	d, err := duration(words[0], 0, 1000*time.Hour)
	if err != nil {
		return err
	}
	at := units.FromDuration(d)
	if words[1] == "submit" {
		return p.submit(at, words[2:])
	}
	for _, k := range faultTable() {
		if k.name == words[1] {
			return p.fault(at, k, words[2:])
		}
	}
	return fmt.Errorf("unknown event %q, expected submit or one of %s", words[1], strings.Join(Faults(), ", "))
}

func (p *parser) fault(at units.Seconds, k faultKind, words []string) error {
	f := timedFault{line: p.line, at: at, kind: k.name}
	want := k.name
	n := 0
	if k.node {
		want, n = want+" NODE", n+1
	}
	if k.value {
		want, n = want+" SIZE", n+1
	}
	if err := count(words, n, want); err != nil {
		return err
	}
	if k.node {
		f.node = words[0]
	}
	if k.value {
		if err := amount(&f.value, 0, k.most)(words[1]); err != nil {
			return err
		}
	}
	p.s.Config.Restarts = p.s.Config.Restarts || k.restarts
	p.s.faults = append(p.s.faults, f)
	return nil
}

func (p *parser) submit(at units.Seconds, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("nothing follows submit, expected an application")
	}
	if _, known := p.s.apps[words[0]]; !known {
		return fmt.Errorf("unknown application %q, expected one of %s", words[0], strings.Join(sortedIDs(p.s.apps), ", "))
	}
	a := arrival{line: p.line, at: at, app: words[0]}
	n := 1
	var every, poisson time.Duration
	err := pairs(words[1:], map[string]func(string) error{
		"deadline": func(v string) error {
			if factor, ok := strings.CutSuffix(v, "x"); ok {
				return amount(&a.factor, 0.01, 1000)(factor)
			}
			return within(&a.deadline, 1e7)(v)
		},
		"count": whole(&n, 1, 100000), "every": span(&every, 0, 1000*time.Hour), "poisson": span(&poisson, time.Millisecond, 1000*time.Hour),
	})
	if err != nil {
		return err
	}
	r := random(p.s.Config.Seed, fmt.Sprintf("arrivals %d", p.line))
	for range n {
		p.s.arrivals = append(p.s.arrivals, a)
		a.at += units.FromDuration(every)
		if poisson > 0 {
			a.at += units.Seconds(r.ExpFloat64() * poisson.Seconds())
		}
	}
	return nil
}

func (p *parser) chaos(words []string) error {
	err := pairs(words, map[string]func(string) error{"mean": within(&p.s.chaos[0], 1e6), "until": within(&p.s.chaos[1], 1e7)})
	if err == nil && (p.s.chaos[0] < 0.1 || p.s.chaos[1] <= 0) {
		err = fmt.Errorf("chaos needs mean=10s (at least 0.1s) and until=300s")
	}
	p.s.Config.Restarts = true
	return err
}

func (p *parser) expect(words []string) error {
	const want = "NAME error LOW to HIGH, in per cent"
	if err := count(words, 5, want); err != nil {
		return err
	}
	e := expectation{line: p.line, app: words[0]}
	low, err1 := strconv.ParseFloat(words[2], 64)
	high, err2 := strconv.ParseFloat(words[4], 64)
	if words[1] != "error" || words[3] != "to" || err1 != nil || err2 != nil || !(low <= high) {
		return fmt.Errorf("%q, expected %s", strings.Join(words, " "), want)
	}
	e.low, e.high = low, high
	p.s.expects = append(p.s.expects, e)
	return nil
}

// pairs reads words of the form key=value.
func pairs(words []string, keys map[string]func(string) error) error {
	seen := map[string]bool{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		read := keys[key]
		switch {
		case read == nil:
			return fmt.Errorf("unknown word %q, expected one of %s", key, strings.Join(sortedIDs(keys), ", "))
		case !ok || value == "":
			return fmt.Errorf("%q, expected %s=VALUE", w, key)
		case seen[key]:
			return fmt.Errorf("%s is there twice", key)
		}
		seen[key] = true
		if err := read(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// amount reads a finite number between two bounds.
func amount[T ~float64](into *T, least, most float64) func(string) error {
	return func(v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(f) || f < least || f > most {
			return fmt.Errorf("%q, expected a number from %g to %g", v, least, most)
		}
		*into = T(f)
		return nil
	}
}

// whole reads a whole number between two bounds.
func whole[T ~int | ~int64](into *T, least, most float64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || float64(n) < least || float64(n) > most {
			return fmt.Errorf("%q, expected a whole number from %.0f to %.0f", v, least, most)
		}
		*into = T(n)
		return nil
	}
}

func duration(v string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%q, expected a duration from %v to %v, like 20ms or 1.5s", v, least, most)
	}
	return d, nil
}

// span reads a duration between two bounds.
func span(into *time.Duration, least, most time.Duration) func(string) error {
	return func(v string) (err error) {
		*into, err = duration(v, least, most)
		return err
	}
}

// within reads a duration of at most that many seconds.
func within(into *units.Seconds, most float64) func(string) error {
	return func(v string) error {
		d, err := duration(v, 0, time.Duration(most*1e9))
		*into = units.FromDuration(d)
		return err
	}
}

// choice reads one of some words.
func choice(into *string, words []string) func(string) error {
	return func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q, expected one of %s", v, strings.Join(words, ", "))
		}
		*into = v
		return nil
	}
}
