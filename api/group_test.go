package api_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func member(name string, command ...string) api.Component {
	return api.Component{Name: api.ExecutorID(name), Class: api.ComponentCore, Memory: units.MiB, Command: command}
}

// A group that is taken fits a Plan by the bound that its sender and its node share: whatever hosts the programs get, each is
// valid for its node, and all together are no more than was counted.
func TestFilledComponentsAreNoLongerThanCounted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.SampledFrom([]string{"plain", `<{{hosts "a"}}>`, `{{index}}`, `{{count "b"}}`, `{{hosts "b"}}{{hosts "a"}}`, "{{APP_ID}}"})
		g := &api.Group{Main: api.DriverName}
		for _, name := range []string{"a", "b"} {
			c := member(name, rapid.SliceOfN(word, 1, 20).Draw(r, "command")...)
			c.Count, c.Port = rapid.IntRange(1, 40).Draw(r, "count"), 2000+1000*len(g.Components)
			c.Env = map[string]string{"X": word.Draw(r, "env")}
			g.Components = append(g.Components, c)
		}
		driver := member("driver", rapid.SliceOfN(word, 0, 5).Draw(r, "arguments")...)
		s := &api.Submit{Driver: &driver, Group: g}
		if g.Validate(&driver) != nil {
			return
		}
		host := strings.Repeat("h", rapid.IntRange(1, 253).Draw(r, "host"))
		hosts := map[api.ExecutorID][]string{}
		for _, c := range g.Components {
			for range c.Count {
				hosts[c.Name] = append(hosts[c.Name], api.Address(host, 65535))
			}
		}
		all := 0
		fill := func(c *api.Component, k int) {
			filled, err := g.Filled(c, k, hosts)
			if err == nil {
				err = filled.Validate()
			}
			if err != nil {
				r.Fatalf("the %d-th of %s: %v", k, c.Name, err)
			}
			all += filled.Bytes()
			if text := fmt.Sprint(filled.Command); c != &driver && strings.Contains(text, "{{") || strings.Contains(text, "{{hosts") {
				r.Fatalf("%s is started with %s", c.Name, text)
			}
		}
		fill(&driver, 0)
		for i := range g.Components {
			for k := range g.Components[i].Count {
				fill(&g.Components[i], k)
			}
		}
		if all > s.Told() || s.Told() > api.MostPlanLaunches/2 {
			r.Fatalf("they have %d bytes, %d were counted", all, s.Told())
		}
	})
}

// A group that would take a planner's memory or time is refused in a line, by as much work as one that is taken.
func TestGroupsWithoutEnd(t *testing.T) {
	many := member("many", "x")
	many.Count, many.Port = 1<<40, 2000
	long := member("long", strings.Repeat(`{{hosts "many"}}`, api.MostLaunch/16))
	crowd := make([]api.Component, 1<<20)
	for i := range crowd {
		crowd[i] = member("x", "y")
	}
	for want, g := range map[string]*api.Group{
		"count is": {Main: "many", Components: []api.Component{many, member("a", `{{hosts "many"}}`)}},
		"with its placeholders filled the component may have more than 65536 bytes": {Main: "many", Components: []api.Component{many, long}},
		"the number of components is 1048576, at most 512 are taken":                {Main: "x", Components: crowd},
	} {
		if err := g.Validate(nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.300v, want %q", err, want)
		}
	}
}
