package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/estimate"
	"github.com/sparkpacer/pacer/placement"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// ParseScenario reads a scenario. name goes into its errors, which say the line,
// what was found and what was expected; workloads are the applications that a workload
// line may name. Lines may end as on any system, and words are parted by blanks or tabs;
// what follows a word that begins with # is a comment. Nothing may be said twice, and an
// application comes before what submits it; else the order of lines means nothing. The
// grammar, a statement a line:
//
//	# What is proved.                       the first line, always
//	seed 7                                  1 without
//	law pi                                  one of Laws; the default configuration without
//	nodes 4 cores=16 [speed=1 others=0]     replaces the four of the paper
//	node big cores=32 [speed=1 others=0]    one more
//	set alpha=1 beta=0.3 split=paper strategy=edf-pure gamma=0 eq21=on-top phi=1 eta=10 p=0.3
//	plant lag=0.3 bend=1 noise=0.02 run-noise=0 spread=0.1 byte-cost=0.2 task=0.03 sway=3 start=4
//	      warm=3 warm-work=1.5 pause-every=4 pause-work=0.04 dispatch=4ms page=100ms   (one line)
//	network delay=1ms jitter=1ms loss=0.05 duplicate=0.05 reorder=yes
//	limit 2h
//	workload kmeans                         one of workloads
//	app NAME head=3s tail=0.2s [exit=1s driver=1 pace=1]    an application, with its stages:
//	  stage NAME tasks=100 work=200 [after=A,B job=0 records=1000 written=10
//	        gap=0.1s fetch=20ms read=0.5 zipf=1 skewed=0.1 bytes=0.2]           (one line)
//	at 10s submit NAME [deadline=60s | deadline=1.3x] [count=3 every=20s | poisson=20s]
//	at 30s planner-down                     any of Faults, with its node and its size
//	at 30s others n1 4
//	chaos mean=10s until=300s               faults at random
//	expect NAME error -1 to 5               per cent of the deadline, of every run
//	expect NAME#2 error -1 to 5             of the second run of NAME, as they come
//	---                                     what follows is the golden output
func ParseScenario(name, text string, workloads ...App) (*Scenario, error) {
	p := &parser{name: name, workloads: workloads, said: map[string]int{}, names: map[string]bool{}, s: &Scenario{name: name, Config: Default(), apps: map[string]App{}}}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
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
	// workloads are the applications that a text may name without describing them.
	workloads []App
	s         *Scenario
	// app is the one whose stages are being read, appLine where it began.
	app     *App
	appLine int
	stages  []namedStage
	nodes   bool // The text has said nodes, with these names.
	names   map[string]bool
	setLine int // The last one that set something.
	// said is where what may be said once was said, submits what comes when.
	said    map[string]int
	submits []submission
}

// submission is one submit line.
type submission struct {
	arrival
	count          int
	every, poisson time.Duration
}

// namedStage is a stage whose parents are names.
type namedStage struct {
	name  string
	after []string
	line  int
	stage Stage
}

func (p *parser) errorf(err error) error { return fmt.Errorf("%s:%d: %w", p.name, p.line, err) }

// How often something may be said: a statement many times, a statement once, or each
// of its keys once.
const (
	often = iota
	once
	keysOnce
)

// statement is an entry of the table of statements.
type statement struct {
	word  string
	times int
	read  func(*parser, []string) error
}

// statements is where a new word is entered.
func statements() []statement {
	return []statement{
		{"seed", once, (*parser).seed}, {"law", once, (*parser).law}, {"nodes", once, (*parser).manyNodes}, {"node", often, (*parser).oneNode},
		{"set", keysOnce, (*parser).set}, {"plant", keysOnce, (*parser).plant}, {"network", keysOnce, (*parser).network}, {"limit", once, (*parser).limit},
		{"workload", often, (*parser).workload}, {"app", often, (*parser).application}, {"stage", often, (*parser).stage}, {"at", often, (*parser).event},
		{"chaos", once, (*parser).chaos}, {"expect", often, (*parser).expect},
	}
}

// first refuses what an earlier line has said: nobody could tell which one holds.
func (p *parser) first(s statement, words []string) error {
	var what []string
	switch s.times {
	case once:
		what = []string{s.word}
	case keysOnce:
		for _, w := range words {
			key, _, _ := strings.Cut(w, "=")
			what = append(what, s.word+" "+key)
		}
	}
	for _, w := range what {
		if line, there := p.said[w]; there && line != p.line {
			return fmt.Errorf("%s is there twice, first in line %d", w, line)
		}
		p.said[w] = p.line
	}
	return nil
}

func (p *parser) statement(line string) error {
	if !utf8.ValidString(line) {
		return fmt.Errorf("%q, expected text in UTF-8", line)
	}
	text := strings.TrimSpace(line)
	if p.line == 1 {
		proves, ok := strings.CutPrefix(text, "#")
		if p.s.Proves = strings.TrimSpace(proves); !ok || p.s.Proves == "" {
			return fmt.Errorf("%q, expected a comment that says what is proved", text)
		}
		return nil
	}
	words := strings.Fields(text)
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "#") }); i >= 0 {
		words = words[:i]
	}
	if len(words) == 0 {
		return nil
	}
	if words[0] != "stage" {
		if err := p.endApp(); err != nil {
			return err
		}
	}
	var known []string
	for _, s := range statements() {
		if s.word == words[0] {
			if err := p.first(s, words[1:]); err != nil {
				return err
			}
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
	case len(p.submits) == 0:
		return fmt.Errorf("nothing is submitted, expected a line like: at 0s submit NAME deadline=1.3x")
	}
	if err := p.s.UseLaw(cmp.Or(p.s.Law, p.s.Config.Node.Controller.Law)); err != nil {
		return err
	}
	if err := p.arrive(); err != nil {
		return err
	}
	for i := range p.s.expects {
		if err := p.judgeable(&p.s.expects[i]); err != nil {
			p.line = p.s.expects[i].line
			return err
		}
	}
	if err := p.settings(); err != nil {
		p.line = p.setLine
		return err
	}
	for _, f := range p.s.faults {
		if err := p.possible(f); err != nil {
			p.line = f.line
			return err
		}
	}
	return nil
}

// arrive says when each application comes; the seed is known by now.
func (p *parser) arrive() error {
	limit := cmp.Or(p.s.Config.Limit, dayLimit)
	for _, s := range p.submits {
		r := random(p.s.Config.Seed, fmt.Sprintf("arrivals %d", s.line))
		for range s.count {
			if s.at >= units.FromDuration(limit) {
				p.line = s.line
				return fmt.Errorf("%s comes after %v, expected less than the limit of %v", s.app, s.at.Duration(), limit)
			}
			p.s.arrivals = append(p.s.arrivals, s.arrival)
			s.at += units.FromDuration(s.every)
			if s.poisson > 0 {
				s.at += units.Seconds(r.ExpFloat64() * s.poisson.Seconds())
			}
		}
	}
	return nil
}

// judgeable refuses what is expected of an error that will not be there, and reads
// which run is meant.
func (p *parser) judgeable(e *expectation) error {
	if _, known := p.s.apps[e.app]; !known {
		if name, run, ok := strings.Cut(e.app, "#"); ok {
			if err := whole(&e.run, 1, 100000)(run); err != nil {
				return fmt.Errorf("run of %s: %w", name, err)
			}
			e.app = name
		}
	}
	there := 0
	for _, s := range p.submits {
		if s.app != e.app {
			continue
		}
		there += s.count
		if s.deadline == 0 && s.factor == 0 {
			return fmt.Errorf("%s has no error without a deadline, expected one in line %d", e.app, s.line)
		}
	}
	switch {
	case there == 0:
		return fmt.Errorf("application %q is never submitted", e.app)
	case e.run > there:
		return fmt.Errorf("%s is submitted %d times, expected a run up to that", e.app, there)
	}
	return nil
}

// possible refuses a fault that cannot happen to the scenario's nodes.
func (p *parser) possible(f timedFault) error {
	i := slices.IndexFunc(p.s.Config.Nodes, func(n NodeSpec) bool { return n.Name == f.node })
	switch {
	case f.node == "":
	case i < 0:
		return fmt.Errorf("unknown node %q, expected one of the scenario's", f.node)
	case f.kind == faultOthers && f.value > float64(p.s.Config.Nodes[i].Cores):
		return fmt.Errorf("others take %g cores of %s, expected at most its %g", f.value, f.node, float64(p.s.Config.Nodes[i].Cores))
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
	_, err = WithLaw(p.s.Config, words[0])
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
		"memory": size(&n.Memory),
	})
	switch {
	case err != nil:
	case n.Cores < 0:
		err = fmt.Errorf("no cores are given, expected cores=16")
	case n.Others >= n.Cores:
		err = fmt.Errorf("others take %g of %g cores, expected less", float64(n.Others), float64(n.Cores))
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
	for i := range n {
		spec.Name = fmt.Sprintf("n%d", i+1)
		if err := p.join(spec); err != nil {
			return err
		}
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
	spec.Name = words[0]
	return p.join(spec)
}

// join adds a node to those that the text says.
func (p *parser) join(spec NodeSpec) error {
	if !p.nodes {
		p.s.Config.Nodes, p.nodes = nil, true
	}
	if p.names[spec.Name] {
		return fmt.Errorf("node %q is there twice", spec.Name)
	}
	p.names[spec.Name] = true
	p.s.Config.Nodes = append(p.s.Config.Nodes, spec)
	return nil
}

func (p *parser) set(words []string) error {
	p.setLine = p.line
	p.s.sets = append(p.s.sets, words)
	return configure(&p.s.Config, words)
}

// configure puts what a set line says into c.
func configure(c *Config, words []string) error {
	return pairs(words, map[string]func(string) error{
		"alpha": amount(&c.Planner.Alpha, 0.01, 1), "beta": amount(&c.Planner.Beta, 0, 1),
		"split":     choice(&c.Planner.Split, dag.Splits()),
		"branches":  choice(&c.Planner.Branches, estimate.Branches()),
		"placement": choice(&c.Planner.Placement, placement.Orders()), "max-nodes": whole(&c.Planner.MaxNodes, 0, 1000),
		"strategy": choice(&c.Node.Supervisor.Strategy, supervisor.Strategies()),
		"gamma":    amount(&c.Node.Supervisor.Gamma, 0, 1),
		"eq21":     choice(&c.Node.Supervisor.Eq21, supervisor.Eq21Readings()),
		"phi":      amount(&c.Node.Controller.Phi, 0.01, 1), "eta": amount(&c.Node.Controller.Eta, 1.001, 1e4),
		"p": amount(&c.Node.Controller.P, 0, 0.999), "floor": amount(&c.Node.Floor, 0, 16),
		"quantum": amount(&c.Node.Quantum, 0.001, 4), "interval": span(&c.Node.Interval, 10*time.Millisecond, time.Minute),
	})
}

func (p *parser) plant(words []string) error {
	c := &p.s.Config.Plant
	err := pairs(words, map[string]func(string) error{
		"lag": amount(&c.Lag, 0, 0.999), "bend": amount(&c.Bend, 0, 100), "noise": amount(&c.Noise, 0, 0.5),
		"run-noise": amount(&c.RunNoise, 0, 0.5), "spread": amount(&c.Spread, 0, 3), "byte-cost": amount(&c.ByteCost, 0, 3), "task": amount(&c.Task, 0, 1e6), "sway": amount(&c.Sway, 0, 100), "start": amount(&c.Start, 0, 1e6),
		"warm": amount(&c.Warm, 0, 100), "warm-work": amount(&c.WarmWork, 0, 1e6), "pause-every": amount(&c.PauseEvery, 0, 1e6),
		"pause-work": amount(&c.PauseWork, 0, 1e6), "dispatch": span(&c.Dispatch, 0, time.Minute), "page": span(&c.Page, time.Millisecond, time.Minute),
	})
	if err != nil {
		return err
	}
	return c.Validate()
}

func (p *parser) network(words []string) error {
	c := &p.s.Config.Net
	reorder := "no"
	if c.Reorder {
		reorder = "yes"
	}
	err := pairs(words, map[string]func(string) error{
		"delay": span(&c.Delay, 0, time.Minute), "jitter": span(&c.Jitter, 0, time.Minute), "loss": amount(&c.Loss, 0, 0.9),
		"duplicate": amount(&c.Duplicate, 0, 0.9), "reorder": choice(&reorder, []string{"yes", "no"}),
	})
	c.Reorder = reorder == "yes"
	return err
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
	if len(p.s.apps) == 0 {
		return fmt.Errorf("unknown application %q, expected an app or a workload line before it", words[0])
	}
	if _, known := p.s.apps[words[0]]; !known {
		return fmt.Errorf("unknown application %q, expected one of %s", words[0], strings.Join(slices.Sorted(maps.Keys(p.s.apps)), ", "))
	}
	s := submission{arrival: arrival{line: p.line, at: at, app: words[0]}}
	err := pairs(words[1:], map[string]func(string) error{
		"deadline": func(v string) error {
			if factor, ok := strings.CutSuffix(v, "x"); ok {
				return amount(&s.factor, 0.01, 1000)(factor)
			}
			d, err := duration(v, 100*time.Millisecond, 1e7*time.Second)
			s.deadline = units.FromDuration(d)
			return err
		},
		"count": whole(&s.count, 1, 100000), "every": span(&s.every, 0, 1000*time.Hour), "poisson": span(&s.poisson, time.Millisecond, 1000*time.Hour),
	})
	switch {
	case err != nil:
		return err
	case s.every > 0 && s.poisson > 0:
		return fmt.Errorf("every and poisson are both there, expected one of them")
	case s.every+s.poisson > 0 && s.count == 0:
		return fmt.Errorf("every or poisson is there without a count, expected count=3")
	}
	s.count = max(1, s.count)
	p.submits = append(p.submits, s)
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
	const want = "NAME error LOW to HIGH, in per cent, or NAME#RUN"
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
