package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// Group is a description without Spark: programs that compute nothing. Its main one ends after Run.
type Group struct {
	api.Group
	Name string
	Run  units.Seconds
}

// lodger is a program of a group on a node.
type lodger struct {
	key    node.Key
	memory units.Bytes
	exited bool
	exit   string
}

// comer is a group that was submitted; over says that the planner has told its end.
type comer struct {
	Group
	w    *World
	id   api.AppID
	over bool
}

// SubmitGroup has a group submitted at that time of the world.
func (w *World) SubmitGroup(at units.Seconds, g Group) {
	c := &comer{Group: g, w: w}
	w.pending++
	w.groups = append(w.groups, c)
	w.clock.At(units.Instant(at.Duration()), rankFault, 0, c.submit)
}

// submit asks the planner to take the group in, and again until it has, and looks how it stands until it has ended.
func (c *comer) submit() {
	name := fmt.Sprintf("%s %d", c.Name, slices.Index(c.w.groups, c))
	r, ok := c.w.control.query(api.VerbSubmit, api.ControlRequest{Query: &api.Query{Submit: &api.Submit{
		Group:    &c.Group.Group,
		Register: &api.RegisterRequest{Submission: name, Name: c.Name, Class: api.ClassBatch}}}})
	if ok && len(r.Apps) > 0 {
		c.id = r.Apps[0].ID
		switch s := r.Apps[0].State; s {
		case api.AppQueued, api.AppRunning, api.AppEnding:
		case api.AppFinished:
			c.over = true
		default:
			c.w.fail("group %s is %s", c.Name, s)
		}
	}
	if apps := c.w.Apps(); !c.over && c.id != "" {
		c.over = slices.ContainsFunc(apps, func(a api.AppSummary) bool { return a.ID == c.id && a.State == api.AppFinished })
	}
	if c.over {
		c.w.pending--
		return
	}
	c.w.clock.After(time.Second, rankFault, 0, c.submit)
}

// lodgers are the programs of groups on a node.
type lodgers []*lodger

// start has a program run on a's node, whose they are.
func (all *lodgers) start(key node.Key, c api.Component, a *agent) {
	a.w.clock.After(launchTime, rankNode, a.m.ID, func() {
		if a.ills.gone || slices.ContainsFunc(*all, func(l *lodger) bool { return l.key == key }) {
			return
		}
		l := &lodger{key: key, memory: c.Memory}
		*all = append(*all, l)
		if run, err := strconv.ParseFloat(c.Command[0], 64); err == nil && run > 0 {
			a.w.clock.After(units.Seconds(run).Duration(), rankNode, a.m.ID, func() {
				l.exited, l.exit = true, "exit status 0"
				a.observe()
			})
		}
		a.observe()
	})
}

// stop ends a program.
func (all *lodgers) stop(key node.Key) {
	*all = slices.DeleteFunc(*all, func(l *lodger) bool { return l.key == key })
}

// sees adds them to a sample.
func (all lodgers) sees(s *node.Sample) {
	for i, l := range all {
		s.Executors = append(s.Executors, node.ExecutorSample{Key: l.key, PID: 1000 + i, Exited: l.exited, Exit: l.exit})
	}
}

// groups looks at groups after a planner's step: of the core programs of one that runs all are there that have not
// ended, of one that waits none.
func (c *check) groups(of *control) {
	for _, a := range of.engine.View().Apps() {
		g, core, there := component.GroupOf(a), 0, 0
		for _, m := range g.Members {
			if !g.Elastic(m) {
				if core++; m.Node != "" || m.Exited {
					there++
				}
			}
		}
		if a.Running() && there != core || a.Queued() && there > 0 {
			c.w.fail("%d of %d core programs of %s run, which is %s", there, core, a.ID, a.Outcome.State)
		}
	}
}

// readGroup reads a description: how long its main program runs, and what others there are.
func readGroup(words []string, all *[]Group) error {
	if len(words) == 0 || strings.Contains(words[0], "=") {
		return fmt.Errorf("%q, expected a group's name", strings.Join(words, " "))
	}
	g := Group{Name: words[0], Run: 60}
	main := api.Component{Name: "main", Class: api.ComponentCore, Memory: units.GiB}
	parts := []api.Component{}
	part := func(name string, class api.ComponentClass) func(string) error {
		return func(v string) error {
			n, each, _ := strings.Cut(v, "x")
			c := api.Component{Name: api.ExecutorID(name), Class: class, Command: []string{"-"}}
			err := whole(&c.Count, 1, 100)(n)
			if err == nil {
				err = size(&c.Memory)(each)
			}
			parts = append(parts, c)
			return err
		}
	}
	err := pairs(words[1:], map[string]func(string) error{"run": within(&g.Run, 1e6), "memory": size(&main.Memory),
		"core": part("core", api.ComponentCore), "elastic": part("elastic", api.ComponentElastic)})
	main.Command = []string{fmt.Sprint(float64(g.Run))}
	g.Main, g.Components = main.Name, append([]api.Component{main}, parts...)
	if err == nil {
		err = g.Validate(nil)
	}
	*all = append(*all, g)
	return err
}

// describe is the submission of a group.
func describe(at units.Seconds, words []string, s *Scenario) error {
	if err := count(words, 1, "the name of a group"); err != nil {
		return err
	}
	for i := range s.groups {
		if s.groups[i].Name == words[0] {
			s.described = append(s.described, describedGroup{at, s.groups[i]})
			return nil
		}
	}
	return fmt.Errorf("unknown group %q, expected a group line before it", words[0])
}

// describedGroup is a group with when it comes.
type describedGroup struct {
	at    units.Seconds
	group Group
}
