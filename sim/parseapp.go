package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
)

func (p *parser) workload(words []string) error {
	if err := count(words, 1, "the name of one workload"); err != nil {
		return err
	}
	var known []string
	for _, w := range p.workloads {
		if w.Name == words[0] {
			return p.define(w)
		}
		known = append(known, w.Name)
	}
	return fmt.Errorf("workload %q, want one of %v", words[0], known)
}

func (p *parser) define(a plant.App) error {
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
	p.app, p.appLine, p.stages = &plant.App{Name: words[0]}, p.line, nil
	m, pools, profile := &p.app.Memory, "moving", "recorded"
	err := pairs(words[1:], map[string]func(string) error{
		"head": within(&p.app.Head, 1e6), "tail": within(&p.app.Tail, 1e6), "exit": within(&p.app.Exit, 1e6),
		"driver": amount(&p.app.Driver, 0, 4096), "pace": amount(&p.app.Pace, 0.01, 100),
		"threads": amount(&p.app.Threads, 1, 1024), "cpus": amount(&p.app.TaskCPUs, 1, 1024),
		"executor-cores": whole(&p.app.ExecutorCores, 1, 1024),
		"least":          whole(&p.app.Nodes.Least, 1, 1000), "most": whole(&p.app.Nodes.Most, 1, 1000),
		"class": choice(&p.app.Class, api.Classes()), "mode": choice(&p.app.Mode,
			[]api.Mode{api.ModeControl, api.ModeObserve, api.ModeOff}),
		"heap": size(&m.Heap), "overhead": size(&m.Overhead), "floor": size(&m.Floor), "offheap": size(&m.OffHeap),
		"weight":  amount(&m.Weight, 0.001, 1e6),
		"profile": choice(&profile, append([]string{"recorded", "none"}, slices.Sorted(maps.Keys(p.s.apps))...)),
		"pools":   choice(&pools, []string{"moving", "fixed"}), "blocks": size(&m.Blocks), "task-memory": size(&m.Task),
		"touched": size(&m.Touched),
	})
	m.Foreign = pools == "fixed"
	p.s.unknown[words[0]] = profile == "none"
	if _, other := p.s.apps[profile]; other {
		p.app.Profile = profile
	}
	if err != nil {
		return err
	}
	return m.Validate()
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
		"zipf": amount(&st.Zipf, 0, 10), "skewed": amount(&st.Skewed, 0, 1), "bytes": amount(&st.Bytes, 0, 1),
		"disk": size(&st.Disk), "network": size(&st.Network),
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
		for i, parent := range s.after {
			k := slices.IndexFunc(p.stages, func(o namedStage) bool { return o.name == parent })
			switch {
			case k < 0:
				return at(s.line, fmt.Errorf("stage %s comes after %q, which is no stage of %s", s.name, parent, a.Name))
			case slices.Contains(s.after[:i], parent):
				return at(s.line, fmt.Errorf("stage %s comes after %q twice", s.name, parent))
			case p.stages[k].stage.Job > s.stage.Job:
				return at(s.line, fmt.Errorf("stage %s of job %d comes after %s of job %d, expected no later job", s.name,
					s.stage.Job, parent, p.stages[k].stage.Job))
			}
		}
	}
	sorted, cycle := order(p.stages)
	if cycle != nil {
		i := slices.IndexFunc(p.stages, func(s namedStage) bool { return s.name == cycle[0] })
		return at(p.stages[i].line, fmt.Errorf("stages wait for each other: %s, expected a graph without cycles",
			strings.Join(cycle, " after ")))
	}
	for _, s := range sorted {
		for _, parent := range s.after {
			s.stage.Parents = append(s.stage.Parents, slices.IndexFunc(sorted, func(o namedStage) bool {
				return o.name == parent
			}))
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
