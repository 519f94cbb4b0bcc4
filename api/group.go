package api

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/sparkpacer/pacer/units"
)

// Group are the components of an application beside executors and the driver, as its description has them. The
// application ends with Main, which is one of them, or the driver.
type Group struct {
	Main       ExecutorID  `json:"main"`
	Components []Component `json:"components"`
}

// GroupRoom is what the members of a Group take of nodes: each core one in order, and all together. Alone says that the
// application has neither executors nor a driver.
type GroupRoom struct {
	Core  []units.Bytes `json:"core_bytes"`
	All   units.Bytes   `json:"all_bytes"`
	Alone bool          `json:"alone,omitempty"`
}

// Lone reports whether an application is a Group alone.
func (n *NodeRange) Lone() bool { return n.Group != nil && n.Group.Alone }

// Lodged is what an application's driver and its Group take.
func (n *NodeRange) Lodged() units.Bytes {
	if n.Group == nil {
		return n.Driver
	}
	return n.Driver + n.Group.All
}

// The bounds of a Group.
const (
	MostMembers       = 512
	mostComponentName = 32
	leastPort         = 1024
	mostPort          = 65535
)

// Members is how many of c there are.
func (c *Component) Members() int { return max(1, c.Count) }

// Member is the id of the k-th of c, from 0. Again it is that of its n-th process, from 1: each is started once.
func (c *Component) Member(k, n int) ExecutorID {
	id := c.Name + ExecutorID("-"+strconv.Itoa(k))
	if n > 1 {
		id += ExecutorID("_" + strconv.Itoa(n))
	}
	return id
}

// Room is what members of g take; alone says that there is nothing beside them.
func (g *Group) Room(alone bool) *GroupRoom {
	r := &GroupRoom{Alone: alone}
	for i := range g.Components {
		c := &g.Components[i]
		r.All += c.Memory * units.Bytes(c.Members())
		if c.Class == ComponentCore {
			r.Core = append(r.Core, slices.Repeat([]units.Bytes{c.Memory}, c.Members())...)
		}
	}
	return r
}

// Component is the one of a name, nil for none.
func (g *Group) Component(name ExecutorID) *Component {
	for i := range g.Components {
		if g.Components[i].Name == name {
			return &g.Components[i]
		}
	}
	return nil
}

// Validate reports every fault of g at once; driver says that the application has a driver, too.
func (g *Group) Validate(driver bool) error {
	var f faults
	all, names, texts := 0, map[ExecutorID]bool{}, 0
	for i := range g.Components {
		c := &g.Components[i]
		f.in("components", i)
		c.validate(&f)
		name := strings.Trim(string(c.Name), "abcdefghijklmnopqrstuvwxyz0123456789-")
		f.check(name == "" && len(c.Name) <= mostComponentName && !names[c.Name] &&
			!strings.HasPrefix(string(c.Name), string(DriverName)), "name %q: want small letters, digits and hyphens, "+
			"at most %d, another name than other components, and none that begins with %s",
			Clip(string(c.Name), MostToken), mostComponentName, DriverName)
		f.check(len(c.Command) > 0 && c.Command[0] != "", "command is empty")
		f.between("count", float64(c.Count), 0, MostMembers)
		f.text("image", c.Image, MostName)
		f.check(c.Port == 0 || c.Port >= leastPort && c.Port+c.Members()-1 <= mostPort,
			"port %d: want %d to %d for each of %d, or 0 for none", c.Port, leastPort, mostPort, c.Members())
		for _, o := range g.Components[:i] {
			f.check(c.Port == 0 || o.Port == 0 || c.Port >= o.Port+o.Members() || o.Port >= c.Port+c.Members(),
				"port %d: taken, those of component %s are %d to %d", c.Port, o.Name, o.Port, o.Port+o.Members()-1)
		}
		c.texts(func(field, text string) string {
			filled, err := g.fill(text, nil, 0)
			if err != nil {
				f.add("%s %q: %v", field, Clip(text, MostToken), err)
			}
			texts += len(filled) * c.Members()
			return text
		})
		seen := map[string]bool{}
		for _, file := range c.Files {
			f.check(!seen[file.Name], "files: there are two of the name %q", Clip(file.Name, MostToken))
			seen[file.Name] = true
		}
		names[c.Name] = true
		all += c.Members()
	}
	f.out()
	f.check(len(g.Components) > 0, "components: there is none")
	f.check(all <= MostMembers, "components: %d programs, at most %d are taken", all, MostMembers)
	f.check(texts <= MostLaunch, "components: commands and environments have %d bytes together, at most %d are taken",
		texts, MostLaunch)
	switch c := g.Component(g.Main); {
	case driver || g.Main == DriverName:
		f.check(driver && g.Main == DriverName, "main is %q, and spark is there: %v: an application of Spark ends with %s, "+
			"another one with a component", Clip(string(g.Main), MostToken), driver, DriverName)
	case c == nil:
		f.add("main %q is the name of no component", Clip(string(g.Main), MostToken))
	default:
		f.check(c.Class == ComponentCore && c.Members() == 1, "main: component %s is %s, with count %d: want one that is %s",
			c.Name, c.Class, c.Members(), ComponentCore)
	}
	return f.err("description")
}

// texts has f replace the texts of c in which placeholders stand.
func (c *Component) texts(f func(field, text string) string) {
	command, env := slices.Clone(c.Command), maps.Clone(c.Env)
	for i, text := range command {
		command[i] = f("command", text)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		env[name] = f("env "+name, env[name])
	}
	c.Command, c.Env = command, env
}

// Filled is the k-th of g's components of a name with its placeholders filled: hosts are the addresses by name.
func (g *Group) Filled(name ExecutorID, k int, hosts map[ExecutorID][]string) (*Component, error) {
	c := *g.Component(name)
	var errs []error
	c.texts(func(_, text string) string {
		filled, err := g.fill(text, hosts, k)
		errs = append(errs, err)
		return filled
	})
	return &c, errors.Join(errs...)
}

// mostAddress is what an address counts for before it is known.
const mostAddress = 64

// fill is a text with its placeholders filled; without hosts, as long as it may get.
func (g *Group) fill(text string, hosts map[ExecutorID][]string, index int) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	t, err := template.New("placeholder").Funcs(template.FuncMap{
		"index": func() int { return index },
		"count": func(of ExecutorID) (int, error) {
			if c := g.Component(of); c != nil {
				return c.Members(), nil
			}
			return 0, fmt.Errorf("no component has the name %q", of)
		},
		"hosts": func(of ExecutorID) (string, error) {
			c := g.Component(of)
			if c == nil || c.Port == 0 || c.Class != ComponentCore {
				return "", fmt.Errorf("no component of the class %s with a port has the name %q", ComponentCore, of)
			}
			if hosts == nil {
				return strings.Repeat(" ", mostAddress*c.Members()), nil
			}
			return strings.Join(hosts[of], ","), nil
		},
	}).Parse(text)
	if err != nil || slices.ContainsFunc(t.Root.Nodes, func(n parse.Node) bool { return !known(n) }) {
		return "", errPlaceholder
	}
	var b strings.Builder
	for err := t.Execute(&b, nil); err != nil; {
		inner := errors.Unwrap(err) // The function's own words, not where they stand in the template.
		if inner == nil {
			return "", err
		}
		err = inner
	}
	return b.String(), nil
}

var errPlaceholder = errors.New(`want {{hosts "NAME"}}, {{index}} or {{count "NAME"}}`)

// known reports whether n is a text, or calls one of the functions: a template could run for ever otherwise.
func known(n parse.Node) bool {
	action, is := n.(*parse.ActionNode)
	if !is {
		return n.Type() == parse.NodeText
	}
	if len(action.Pipe.Decl) > 0 || len(action.Pipe.Cmds) != 1 {
		return false
	}
	args := action.Pipe.Cmds[0].Args
	name, is := args[0].(*parse.IdentifierNode)
	switch {
	case !is:
		return false
	case name.Ident == "index":
		return len(args) == 1
	case name.Ident != "hosts" && name.Ident != "count" || len(args) != 2:
		return false
	}
	return args[1].Type() == parse.NodeString
}

// Address is where a program of a node listens.
func Address(host string, port int) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// Parts are the components of g, none of nil.
func (g *Group) Parts() []Component {
	if g == nil {
		return nil
	}
	return g.Components
}

// Files are those of all components.
func (g *Group) Files() (files []ComponentFile) {
	for _, c := range g.Parts() {
		files = append(files, c.Files...)
	}
	return files
}
