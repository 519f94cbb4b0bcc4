package sim

import (
	"cmp"
	"fmt"
	"github.com/sparkpacer/pacer/sim/plant"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
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
//	nodes 4 cores=16 [memory=112g speed=1 others=0]   replaces the four of the paper
//	node big cores=32 [memory=112g speed=1 others=0 disk=300m network=100m]  one more; rates a second
//	set certainty=0.95 alpha=1 beta=0.3 split=paper strategy=edf-pure gamma=0 eq21=on-top phi=1 eta=10 p=0.3
//	set queue-rule=flexible queue=fifo queue-size=time admission=pythia late=refuse
//	plant lag=0.3 bend=1 noise=0.02 run-noise=0 spread=0.1 byte-cost=0.2 task=0.03 sway=3 start=4
//	      warm=3 warm-work=1.5 pause-every=4 pause-work=0.04 dispatch=4ms page=100ms
//	      evict=512m spill=256m                                                        (one line)
//	network delay=1ms jitter=1ms loss=0.05 duplicate=0.05 reorder=yes
//	limit 2h
//	workload kmeans                         one of workloads
//	app NAME head=3s tail=0.2s [exit=1s driver=1 pace=1 threads=1 cpus=1 executor-cores=2
//	      least=1 most=4 class=batch mode=control heap=2g overhead=512m floor=256m weight=1 offheap=1g pools=fixed
//	      blocks=300m task-memory=32m profile=none]                                    (one line)
//	                                        an application, of whose run at all cores there is a profile, or none,
//	                                        or profile=APP: that of another one;
//	                                        with its stages:
//	  stage NAME tasks=100 work=200 [after=A,B job=0 records=1000 written=10
//	        gap=0.1s fetch=20ms read=0.5 zipf=1 skewed=0.1 bytes=0.2 disk=8g network=1g]  (one line)
//	at 10s submit NAME [deadline=60s | deadline=1.3x] [count=3 every=20s | poisson=20s] [grow=1.02]
//	                                        each has as much more to do than the one before
//	group NAME run=60s [memory=1g core=2x4g elastic=8x2g]   a description: a main program, core and elastic ones
//	at 10s describe NAME                    the group of that name is submitted
//	at 20s kill NAME                        or NAME#2: its user ends the second run of NAME
//	at 30s planner-down                     any of Faults, with its node and its size
//	at 30s others n1 4
//	chaos mean=10s until=300s               faults at random
//	expect NAME error -1 to 5               per cent of the deadline, of every run
//	expect NAME#2 error -1 to 5             of the second run of NAME, as they come
//	expect NAME#2 waited 10 to 20           seconds in the queue
//	expect NAME killed                      by its user
//	---                                     what follows is the golden output
func ParseScenario(name, text string, workloads ...plant.App) (*Scenario, error) {
	p := &parser{name: name, workloads: workloads, said: map[string]int{}, names: map[string]bool{},
		s: &Scenario{name: name, Config: Default(), apps: map[string]plant.App{}, unknown: map[string]bool{}}}
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
	workloads []plant.App
	s         *Scenario
	// app is the one whose stages are being read, appLine where it began.
	app     *plant.App
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
	growth         float64
}

// namedStage is a stage whose parents are names.
type namedStage struct {
	name  string
	after []string
	line  int
	stage plant.Stage
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
		{"seed", once, (*parser).seed}, {"law", once, (*parser).law}, {"nodes", once, (*parser).manyNodes},
		{"node", often, (*parser).oneNode},
		{"set", keysOnce, (*parser).set}, {"plant", keysOnce, (*parser).plant}, {"network", keysOnce, (*parser).network},
		{"limit", once, (*parser).limit},
		{"group", often, func(p *parser, words []string) error { return readGroup(words, &p.s.groups) }},
		{"workload", often, (*parser).workload}, {"app", often, (*parser).application}, {"stage", often, (*parser).stage},
		{"at", often, (*parser).event},
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
	for i := range p.s.kills {
		if err := p.killable(&p.s.kills[i]); err != nil {
			p.line = p.s.kills[i].line
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

// count checks how many words there are.
func count(words []string, n int, want string) error {
	if len(words) != n {
		return fmt.Errorf("%q, expected %s", strings.Join(words, " "), want)
	}
	return nil
}
