package main

import (
	"slices"
	"strconv"
	"strings"
)

// workloadsJar is built by `make workloads`.
const workloadsJar = "spark/workloads/pacer-workloads.jar"

// workload is an application as it is measured, under a name.
type workload struct {
	name string
	// app and args are its name in the jar and its arguments, scale its usual one ("" for
	// 1). Without a name in the jar args are all that spark-submit is to run.
	app   string
	args  []string
	scale string
	// slacks are those of its deadlines in per cent unless others are asked for.
	slacks []int
	// extra says that it is measured only by name, source that the deadlines' goals are
	// for it.
	extra, source bool
	// seconds are about what a run at all cores takes.
	seconds float64
}

// workloads are those of the source's Table 4, two of other shapes, and Table 5's with
// skewed keys.
func workloads() []workload {
	var all []workload
	for _, app := range []string{"aggregate-by-key", "aggregate-by-key-int", "group-by", "sort-by-key", "sort-by-key-int",
		"kmeans", "pagerank", "svm"} {
		all = append(all, workload{name: app, app: app, slacks: []int{0, 20, 40}, source: true, seconds: 65})
	}
	for _, app := range []string{"diamond", "short-stages"} {
		all = append(all, workload{name: app, app: app, slacks: []int{0, 10, 20, 40}, seconds: 65})
	}
	for _, s := range []string{"1", "2", "3"} {
		// The most frequent key's task runs alone, and its group must fit in memory.
		all = append(all, workload{name: "group-by-zipf-" + s, app: "group-by", args: []string{"--zipf", s}, scale: "0.5",
			slacks: []int{0, 20, 40}, extra: true, seconds: 45})
	}
	return all
}

// demonstrated is the application of the overhead's figures: the demonstration's, of
// about 30 s on two cores.
func demonstrated() workload {
	return workload{name: overheadOf, args: []string{app, "0.3"}, seconds: 40}
}

// overheadOf is the demonstration's name among the workloads.
const overheadOf = "demonstration"

// named are the workloads of those names, which are there.
func named(names ...string) (out []workload) {
	for _, w := range workloads() {
		if slices.Contains(names, w.name) {
			out = append(out, w)
		}
	}
	return out
}

// trialOptions say how applications are run side by side.
type trialOptions struct {
	// runs is how many rounds there are, seed that of their order.
	runs int
	seed uint64
	// slacks replace those of the workloads, where there are some.
	slacks []int
	slice  bool
	scale  string
	// certainty is how likely deadlines are to be kept, "" for the usual one of the command.
	certainty string
	set       []string
}

// variant is what differs from the default way, for the names of figures.
func (o trialOptions) variant() string {
	var parts []string
	if o.slice {
		parts = append(parts, "slice")
	}
	if o.scale != "" {
		parts = append(parts, "scale="+o.scale)
	}
	if o.certainty != "" {
		parts = append(parts, "certainty="+o.certainty)
	}
	return strings.Join(append(parts, o.set...), ",")
}

// command is what spark-submit is given behind its options.
func (o trialOptions) command(w workload) []string {
	if w.app == "" {
		return w.args
	}
	command := append([]string{"--class", "io.sparkpacer.workloads.Main", workloadsJar, w.app}, w.args...)
	switch {
	case o.slice:
		return append(command, "--slice")
	case o.scale != "":
		return append(command, "--scale", o.scale)
	case w.scale != "":
		return append(command, "--scale", w.scale)
	}
	return command
}

// slacksOf are the slacks of a workload's deadlines.
func (o trialOptions) slacksOf(w workload) []int {
	if len(o.slacks) > 0 {
		return o.slacks
	}
	return w.slacks
}

// settings are those of pacer up that the options give.
func (o trialOptions) settings() []string {
	var args []string
	for _, set := range o.set {
		args = append(args, "--set", set)
	}
	return args
}

// minutes are about what runs take.
func (o trialOptions) minutes(todo []step) float64 {
	const start, between = 12, 5 // Seconds: of JVMs, whatever the size, and from one run to the next.
	seconds := 0.0
	for _, s := range todo {
		share := 1.0
		if scale, err := strconv.ParseFloat(o.scale, 64); s.workload.app != "" && o.slice {
			share = 0.1
		} else if s.workload.app != "" && err == nil {
			share = scale
		}
		seconds += (start+(s.workload.seconds-start)*share)*(1+float64(s.slack)/100) + between
	}
	return seconds / 60
}
