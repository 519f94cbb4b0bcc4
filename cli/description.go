package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// description is a file that says what an application consists of (docs/description.md).
type description struct {
	Name     string `yaml:"name"`
	Deadline string `yaml:"deadline"`
	Class    string `yaml:"class"`
	Main     string `yaml:"main"`
	// Spark is the driver's pacer submit, nil for none.
	Spark      *describedSpark      `yaml:"spark"`
	Components []describedComponent `yaml:"components"`
}

type describedSpark struct {
	Submit []string `yaml:"submit"`
}

type describedComponent struct {
	Name        string            `yaml:"name"`
	Count       *int              `yaml:"count"`
	Class       string            `yaml:"class"`
	Cores       float64           `yaml:"cores"`
	Memory      string            `yaml:"memory"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Files       []string          `yaml:"files"`
	Image       string            `yaml:"image"`
	Port        int               `yaml:"port"`
}

// described is a description as it is submitted: its group, nil where it is of Spark alone, and where the files of each
// component are.
type described struct {
	// path is where the description is, and dir that of its files.
	path, dir string

	name  string
	group *api.Group
	files []*nodeSubmission
	spark bool
	// dry asks what would run where.
	dry bool
}

// isDescription reports whether a command line names a description in the place of an application.
func (s *submission) isDescription() bool {
	ext := filepath.Ext(s.main())
	return len(s.args) == s.app+1 && (ext == ".yaml" || ext == ".yml")
}

// describe submits the application of a description.
func describe(ctx context.Context, l *launch) (err error) {
	path := l.line.main()
	d, group, err := readDescription(path)
	if err != nil {
		return err
	}
	set := func(flag, value string) {
		if _, given := l.line.own[flag]; !given && value != "" {
			l.line.own[flag] = value
		}
	}
	set("--pacer-deadline", d.Deadline)
	set("--pacer-class", d.Class)
	if l.line.own["--pacer-by"] != "" {
		delete(l.line.own, "--pacer-deadline")
	}
	if d.Spark != nil {
		front := append(slices.Clone(l.line.args[:l.line.app]), "--deploy-mode", "cluster", "--name", group.name)
		line, err := scanSubmit(append(front, d.Spark.Submit...))
		if err != nil {
			return command.Usagef("%s: spark: submit: %w", path, err)
		}
		for flag, value := range l.line.own {
			line.own[flag] = value
		}
		if file := line.last[optionProperties]; file != "" && !filepath.IsAbs(file) {
			line.last[optionProperties] = filepath.Join(group.dir, file)
		}
		for i, file := range line.extra {
			if !filepath.IsAbs(file) {
				line.extra[i] = filepath.Join(group.dir, file)
			}
		}
		line.detach, line.dry = l.line.detach, l.line.dry
		l.line = line
	}
	group.dry = l.line.dry
	l.described = group
	if d.Spark != nil {
		return l.submit(ctx)
	}
	if l.line.app > 0 {
		return command.Usagef("%s: %s is spark-submit's, and the description has no spark", path, l.line.args[0])
	}
	if l.settings, err = l.ownSettings(); err != nil {
		return err
	}
	if l.config, err = l.configuration(); err != nil {
		return err
	}
	return onNodes(ctx, l)
}

// readDescription reads and checks a description. It returns every fault at once.
func readDescription(path string) (d description, to *described, err error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return d, nil, command.Usagef("description: %w", err)
	}
	read := yaml.NewDecoder(bytes.NewReader(body))
	read.KnownFields(true)
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := read.Decode(&d); err != nil && !errors.Is(err, io.EOF) {
		var typed *yaml.TypeError
		if !errors.As(err, &typed) {
			return d, nil, command.Usagef("%s: %v", path, err)
		}
		for _, fault := range typed.Errors {
			add("%s", fault)
		}
	}
	to = &described{path: path, dir: filepath.Dir(path), name: d.Name, spark: d.Spark != nil}
	if to.name == "" {
		to.name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if d.Deadline != "" {
		if _, err := typedDeadline("deadline", d.Deadline); err != nil {
			add("%w", err)
		}
	}
	if d.Class != "" && !api.Class(d.Class).Known() {
		add("class %q: want one of %v", d.Class, api.Classes())
	}
	if d.Main == "" && to.spark {
		d.Main = string(api.DriverName)
	}
	if len(d.Components) > 0 || !to.spark {
		to.group = &api.Group{Main: api.ExecutorID(d.Main)}
	}
	for i := range d.Components {
		c, files, wrong := d.Components[i].component(to.dir)
		for _, fault := range wrong {
			add("components[%d]: %w", i, fault)
		}
		to.group.Components = append(to.group.Components, c)
		to.files = append(to.files, files)
	}
	if to.group != nil {
		var driver *api.Component
		if to.spark {
			driver = &api.Component{Name: api.DriverName, Command: d.Spark.Submit}
		}
		if err := to.group.Validate(driver); err != nil {
			add("%s", strings.TrimPrefix(err.Error(), "description: "))
		}
	}
	if len(faults) > 0 {
		return d, nil, command.Usagef("%s: %w", path, errors.Join(faults...))
	}
	return d, to, nil
}

// component is c as it is submitted, with where its files are, below dir where they have no other place, and what is
// wrong with it that only this machine knows.
func (c *describedComponent) component(dir string) (to api.Component, files *nodeSubmission, wrong []error) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	to = api.Component{Name: api.ExecutorID(c.Name), Class: api.ComponentClass(c.Class), Cores: units.Cores(c.Cores),
		Command: c.Command, Env: c.Environment, Image: c.Image, Port: c.Port, Count: 1}
	if c.Class == "" {
		to.Class = api.ComponentCore
	}
	if c.Count != nil {
		if to.Count = *c.Count; to.Count < 1 {
			add("count is %d, want 1 or more", to.Count)
		}
	}
	var err error
	if to.Memory, err = units.ParseBytes(c.Memory, units.MiB); err != nil || to.Memory <= 0 {
		add("memory %q: want a size such as 512m or 2g", c.Memory)
		to.Memory = 1
	}
	files = &nodeSubmission{dir: dir}
	for _, path := range c.Files {
		if _, err := files.file("files", path); err != nil {
			add("%w", err)
		}
	}
	if err := files.digests(); err != nil {
		add("%w", err)
	}
	to.Files = files.driver.Files
	return to, files, wrong
}

// register is how an application without Spark is submitted.
func (d *described) register(l *launch, elapsed units.Seconds) (r api.RegisterRequest, err error) {
	r = api.RegisterRequest{Submission: l.settings[confSubmission], Elapsed: elapsed, Name: d.name,
		NoWait: l.settings[confNoWait] == "true", Class: api.Class(l.settings[confClass])}
	_, r.UTCOffset = l.now.Zone()
	if r.Deadline, r.ByMoment, err = due(l.setting, l.settings[confBy] != "", l.now); r.ByMoment {
		r.Deadline = max(1e-3, r.Deadline)
	}
	return r, err
}

// main is the process with which an application ends.
func (d *described) main() api.ExecutorID {
	if d == nil || d.spark {
		return api.DriverName
	}
	return d.group.Component(d.group.Main).Member(0, 1)
}
