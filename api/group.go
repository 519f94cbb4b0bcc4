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
	MostMembers = 512
	// MostGroup is that of all members as JSON, each with its placeholders filled: a Plan may have all of them.
	MostGroup         = 1 << 20
	mostComponentName = 32
	leastPort         = 1024
	mostPort          = 65535
)

// Members is how many of c there are.
func (c *Component) Members() int { return min(max(1, c.Count), MostMembers) }

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

// Told is how many bytes its driver and all its components take as JSON at most.
func (s *Submit) Told() (all int) {
	g := s.Group
	if g == nil {
		g = &Group{}
	}
	of := func(c *Component) int {
		longest, _ := g.longest(c) // As far as it goes where Validate refuses it.
		return max(c.Bytes(), longest.Bytes()) * c.Members()
	}
	if s.Driver != nil {
		all = of(s.Driver)
	}
	for i := range g.Components {
		all += of(&g.Components[i])
	}
	return all
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

// Validate reports every fault of g at once, whose application has that driver, nil for none. It works no longer on a
// group that is too large than on one that is taken.
func (g *Group) Validate(driver *Component) error {
	var f faults
	if f.count("the number of components", len(g.Components), MostMembers); len(f.list) > 0 {
		return f.err("description")
	}
	all, names, bytes := 0, map[ExecutorID]bool{}, 0
	for i := range g.Components {
		c := &g.Components[i]
		f.in("components", i)
		if c.validate(&f) && bytes <= MostGroup {
			longest, err := g.longest(c)
			bytes += max(c.Bytes(), longest.Bytes()) * c.Members()
			f.check(err == nil, "%v", err)
		}
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
	f.check(bytes <= MostGroup, "components: all programs have %d bytes together as JSON, at most %d are taken", bytes,
		MostGroup)
	switch c := g.Component(g.Main); {
	case driver != nil || g.Main == DriverName:
		f.check(driver != nil && g.Main == DriverName, "main is %q, and spark is there: %v: an application of Spark ends "+
			"with %s, another one with a component", Clip(string(g.Main), MostToken), driver != nil, DriverName)
	case c == nil:
		f.add("main %q is the name of no component", Clip(string(g.Main), MostToken))
	default:
		f.check(c.Class == ComponentCore && c.Members() == 1, "main: component %s is %s, with count %d: want one that is %s",
			c.Name, c.Class, c.Members(), ComponentCore)
	}
	if driver != nil && driver.validate(&faults{}) {
		_, err := g.longest(driver)
		f.check(err == nil, "spark: %v", err)
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

// Filled is the k-th of c, which is of g or beside it, with its placeholders filled: hosts are the addresses by name.
func (g *Group) Filled(c *Component, k int, hosts map[ExecutorID][]string) (*Component, error) {
	return g.filled(c, k, func(of *Component) string { return strings.Join(hosts[of.Name], ",") })
}

// longest is c with its placeholders filled, as long as that gets.
func (g *Group) longest(c *Component) (*Component, error) {
	return g.filled(c, c.Members(), func(of *Component) string { return strings.Repeat(" ", mostAddress*of.Members()) })
}

// filled is c with its placeholders filled, as far as a component's texts may get.
func (g *Group) filled(c *Component, index int, hosts func(*Component) string) (*Component, error) {
	own, left := *c, MostLaunch
	for name := range c.Env {
		left -= len(name)
	}
	for _, file := range c.Files {
		left -= len(file.Name)
	}
	var errs []string
	own.texts(func(field, text string) string {
		b := bounded{left: left}
		if c.Name == DriverName && !strings.Contains(text, "{{hosts ") && !strings.Contains(text, "{{count ") {
			left -= len(text)
			return text // Spark has placeholders of its own.
		}
		if err := g.fill(&b, text, hosts, index); err != nil && len(errs) < mostFaults {
			errs = append(errs, fmt.Sprintf("%s %q: %v", field, Clip(text, MostToken), err))
		}
		left = b.left
		return b.text.String()
	})
	if len(errs) > 0 {
		return &own, errors.New(strings.Join(errs, "; "))
	}
	return &own, nil
}

// bounded takes no more bytes than are left.
type bounded struct {
	text strings.Builder
	left int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errLong
	}
	return b.text.Write(p)
}

// mostHost is what the name of a host has at most, mostAddress an address in a list of them.
const (
	mostHost    = 253
	mostAddress = mostHost + len("[]:65535,")
)

// fill writes a text with its placeholders filled.
func (g *Group) fill(b *bounded, text string, hosts func(*Component) string, index int) error {
	if !strings.Contains(text, "{{") {
		_, err := b.Write([]byte(text))
		return err
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
			return hosts(c), nil
		},
	}).Parse(text)
	if err != nil || slices.ContainsFunc(t.Root.Nodes, func(n parse.Node) bool { return !known(n) }) {
		return errPlaceholder
	}
	for err = t.Execute(b, nil); errors.Unwrap(err) != nil; {
		err = errors.Unwrap(err) // The function's own words, not where they stand in the template.
	}
	return err
}

var (
	errPlaceholder = errors.New(`want {{hosts "NAME"}}, {{index}} or {{count "NAME"}}`)
	errLong        = fmt.Errorf("with its placeholders filled the component may have more than %d bytes", MostLaunch)
)

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

// FreePort is the first port from one on that is not taken, or that one where all are.
func FreePort(from int, taken map[int]bool) int {
	for port := from; port <= mostPort; port++ {
		if !taken[port] {
			return port
		}
	}
	return from
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
