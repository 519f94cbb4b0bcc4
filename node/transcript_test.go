package node

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the transcripts in testdata")

// TestTranscripts plays each testdata/*.txt: commands, each followed by what it
// gave, indented. The first line says what is proved. Run with -rewrite after a
// wanted change and read the difference.
//
//	node cores=2 law=pi progress=work strategy=edf-pure conflict=insist
//	app app=a remaining=40s slots=2 executors=1,2
//	work app=a executor=1 stage=0 tasks=20 cpu=1 overhead=0.1
//	target app=a executor=1 stage=0 tasks=20 work=20 in=20s init=1 rev=1
//	done app=a executor=1 stage=0        (the target leaves the next plan)
//	plan                                  (apps and targets so far, next epoch)
//	write app=a executor=1 quota=0.3 by=runc     (somebody else writes the quota)
//	run 5s | others 0.5 | freeze app=a executor=1 | thaw ... | lose ... | kill ... | refuse | accept | restart
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(string(text), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// script is a transcript being played.
type script struct {
	t       *testing.T
	w       *world
	cfg     Config
	epoch   uint64
	apps    []api.PlanApp
	targets map[api.AppID][]api.StageTarget
	out     strings.Builder
}

func play(t *testing.T, text string) string {
	s := &script{t: t, targets: map[api.AppID][]api.StageTarget{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "    ") {
			continue
		}
		s.out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s.command(strings.Fields(line))
	}
	return s.out.String()
}

// args are a command's key=value words.
type args map[string]string

func (s *script) parse(words []string) args {
	a := args{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		a[key] = value
	}
	return a
}

func (s *script) number(text string) float64 {
	if text == "" {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *script) command(words []string) {
	a := s.parse(words[1:])
	key := Key{api.AppID(a["app"]), api.ExecutorID(a["executor"])}
	stage := int(s.number(a["stage"]))
	switch words[0] {
	case "node":
		s.node(a)
	case "app":
		app := planApp(key.App, int(s.number(a["slots"])), nil)
		app.Remaining = units.FromDuration(s.duration(a["remaining"]))
		for _, id := range strings.Split(a["executors"], ",") {
			app.Executors = append(app.Executors, api.ExecutorID(id))
		}
		s.apps = append(s.apps, app)
	case "target":
		s.target(key, stage, a)
	case "done":
		s.drop(key, stage)
	case "plan":
		s.plan()
	case "work":
		x := s.w.exec(key)
		x.overhead = s.number(a["overhead"])
		x.submit(stage, int(s.number(a["tasks"])), s.number(a["cpu"]))
	case "write":
		x := s.w.exec(key)
		x.quota, x.writer = units.Cores(s.number(a["quota"])), a["by"]
	case "run":
		s.run(s.duration(words[1]))
	case "others":
		s.w.others = s.number(words[1])
	case "freeze", "thaw":
		s.w.exec(key).frozen = words[0] == "freeze"
	case "lose":
		s.w.exec(key).lose()
	case "kill":
		s.w.exec(key).exited = true
	case "refuse", "accept":
		s.w.refuse = words[0] == "refuse"
	case "restart":
		s.w.restart(s.cfg)
		s.w.log = nil
		s.w.do(s.t, s.w.e.Step(s.w.now, s.w.sample()))
		s.told()
	default:
		s.t.Fatalf("command %q", words[0])
	}
}

func (s *script) node(a args) {
	s.cfg = testConfig(units.Cores(s.number(a["cores"])))
	for _, set := range []struct {
		to   *string
		from string
	}{{&s.cfg.Controller.Law, a["law"]}, {(*string)(&s.cfg.Meter.Progress), a["progress"]}, {&s.cfg.Supervisor.Strategy, a["strategy"]},
		{(*string)(&s.cfg.Conflict), a["conflict"]}} {
		if set.from != "" {
			*set.to = set.from
		}
	}
	s.w = newWorld(s.t, s.cfg)
}

func (s *script) drop(key Key, stage int) {
	var keep []api.StageTarget
	for _, t := range s.targets[key.App] {
		if t.Executor != key.ID || t.Stage != stage {
			keep = append(keep, t)
		}
	}
	s.targets[key.App] = keep
}

func (s *script) target(key Key, stage int, a args) {
	s.drop(key, stage)
	t := target(stage, key.ID, int(s.number(a["tasks"])), s.number(a["work"]), s.duration(a["in"]), units.Cores(s.number(a["init"])))
	t.Rev = max(1, uint64(s.number(a["rev"])))
	s.targets[key.App] = append(s.targets[key.App], t)
}

func (s *script) plan() {
	s.epoch++
	apps := append([]api.PlanApp(nil), s.apps...)
	for i := range apps {
		apps[i].Stages = append([]api.StageTarget(nil), s.targets[apps[i].ID]...)
	}
	s.w.log = nil
	s.w.apply(plan(s.epoch, apps...))
	s.told()
}

// told writes the quotas written and the events since the last call.
func (s *script) told() {
	for _, e := range s.w.e.Events() {
		fmt.Fprintf(&s.out, "    %6.1fs %s\n", s.seconds(), e)
	}
	for _, q := range s.w.log {
		fmt.Fprintf(&s.out, "    %6.1fs quota %s\n", s.seconds(), q)
	}
	s.w.log = nil
}

func (s *script) seconds() float64 { return time.Duration(s.w.now).Seconds() }

// run lets d pass: events as they come and, for each second, each stage at work.
func (s *script) run(d time.Duration) {
	s.w.log = nil
	for end := s.w.now.Add(d); s.w.now < end; {
		s.w.tick(s.t, s.w.e)
		for _, e := range s.w.e.Events() {
			fmt.Fprintf(&s.out, "    %6.1fs %s\n", s.seconds(), e)
		}
		if s.w.now%units.Instant(time.Second) == 0 {
			s.stages()
		}
	}
}

func (s *script) stages() {
	for _, x := range s.w.e.roster.execs {
		for _, r := range x.records {
			if r.n == 0 && r.running == 0 && (x.ctl == nil || x.ctl.record != r) {
				continue
			}
			quota := "exited"
			if sim := s.w.exec(x.key); sim != nil && !sim.exited {
				quota = sim.quota.String()
			}
			line := fmt.Sprintf("    %6.1fs %s stage %d: %d finished, %d running, quota %s", s.seconds(), x.key, r.key.Stage, r.finished, r.running, quota)
			if c := x.ctl; c != nil && c.record == r {
				line += fmt.Sprintf(", set point %.3f, progress %.3f, request %.2f, grant %.2f",
					float64(c.out.SetPoint), math.Min(1, c.meter.Done()/c.target.Weight), float64(c.request), float64(c.grant))
			}
			s.out.WriteString(line + "\n")
		}
	}
}
