package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/units"
)

func (p *parser) event(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("%q, expected a time and what happens: at 10s submit NAME", strings.Join(words, " "))
	}
	d, err := duration(words[0], 0, 1000*time.Hour)
	if err != nil {
		return err
	}
	at := units.FromDuration(d)
	switch words[1] {
	case "submit":
		return p.submit(at, words[2:])
	case "kill":
		return p.kill(at, words[2:])
	case "describe":
		return describe(at, words[2:], p.s)
	}
	for _, k := range faultTable() {
		if k.name == words[1] {
			return p.fault(at, k, words[2:])
		}
	}
	return fmt.Errorf("unknown event %q, expected submit, kill or one of %s", words[1], strings.Join(Faults(), ", "))
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
	switch {
	case k.bytes:
		var b units.Bytes
		if err := size(&b)(words[1]); err != nil {
			return err
		}
		if f.value = float64(b); f.value > k.most {
			return fmt.Errorf("%q, expected at most %v", words[1], units.Bytes(k.most))
		}
	case k.value:
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
		return fmt.Errorf("unknown application %q, expected one of %s", words[0],
			strings.Join(slices.Sorted(maps.Keys(p.s.apps)), ", "))
	}
	s := submission{arrival: arrival{line: p.line, at: at, app: words[0], grow: 1}}
	err := pairs(words[1:], map[string]func(string) error{
		"deadline": func(v string) error {
			if factor, ok := strings.CutSuffix(v, "x"); ok {
				return amount(&s.factor, 0.01, 1000)(factor)
			}
			d, err := duration(v, 100*time.Millisecond, 1e7*time.Second)
			s.deadline = units.FromDuration(d)
			return err
		},
		"grow":  amount(&s.growth, 0.5, 2),
		"count": whole(&s.count, 1, 100000), "every": span(&s.every, 0, 1000*time.Hour),
		"poisson": span(&s.poisson, time.Millisecond, 1000*time.Hour),
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

// kill is a user's wish that a run ends. Which runs there are is known in the end.
func (p *parser) kill(at units.Seconds, words []string) error {
	if err := count(words, 1, "NAME or NAME#RUN"); err != nil {
		return err
	}
	p.s.kills = append(p.s.kills, timedKill{line: p.line, at: at, app: words[0], run: 1})
	return nil
}

func (p *parser) chaos(words []string) error {
	err := pairs(words, map[string]func(string) error{
		"mean": within(&p.s.chaos[0], 1e6), "until": within(&p.s.chaos[1], 1e7)})
	if err == nil && (p.s.chaos[0] < 0.1 || p.s.chaos[1] <= 0) {
		err = fmt.Errorf("chaos needs mean=10s (at least 0.1s) and until=300s")
	}
	p.s.Config.Restarts = true
	return err
}

// expect reads what is expected of an application's runs.
func (p *parser) expect(words []string) error {
	const want = "NAME error LOW to HIGH, in per cent, NAME waited LOW to HIGH, in seconds, " +
		"or NAME killed, with NAME#RUN for one run"
	e := expectation{line: p.line}
	switch {
	case len(words) == 2 && words[1] == expectKilled:
	case len(words) == 5 && (words[1] == expectError || words[1] == expectWaited) && words[3] == "to":
		low, err1 := strconv.ParseFloat(words[2], 64)
		high, err2 := strconv.ParseFloat(words[4], 64)
		if err1 != nil || err2 != nil || !(low <= high) {
			return fmt.Errorf("%q, expected %s", strings.Join(words, " "), want)
		}
		e.low, e.high = low, high
	default:
		return fmt.Errorf("%q, expected %s", strings.Join(words, " "), want)
	}
	e.app, e.what = words[0], words[1]
	p.s.expects = append(p.s.expects, e)
	return nil
}
