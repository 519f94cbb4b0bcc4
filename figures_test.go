package pacer_test

import (
	"bytes"
	"fmt"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The figures of the house, printed by `make house`:
//
//	house.source_lines    lines of Go without tests
//	house.product_lines   of these the lines outside sim, test and replay
//	house.methods.max     most methods of a type, with the functions of its package that take it first
//	house.fields.max      most fields of a type, those of embedded types of this module included
//	house.top_folders     folders at the root that have files, those of a dot left out
//	house.long_lines      lines of Go without tests that have more than 120 characters
//	house.keys            configuration keys that docs/configuration.md lists
//	house.facets          capabilities that keep their state in a facet of the ledger (ledger.Register)
//	house.back_arrows.P   of package P the arrows that run back up. An arrow runs from a file to another
//	                      one that declares something it uses: a type, a function, a method, a field. A
//	                      file stands above all that it uses, so these are the arrows between files of a
//	                      circle, files each of which uses every other one, by way of others too
//	house.riddles         sentences of comments and documents that hide their subject
//	house.long_sentences  sentences of these that have more than 35 words
//	house.largest_file_kib  size of the largest file that is tracked
//	house.registries      packages that know several others by their experiments: sim/registry alone
//	house.memories        what a planner's engine remembers of when it was asked what, outside the agenda: moments, times
//	                      and counts in the fields that Engine and its memory lead to
//	house.agenda_rows_per_event
//	                      rows of the planner's agenda that a stage asks that becomes ready (package planner's tests)
//	house.lint            what golangci-lint finds

// mostLines is how many lines of Go without tests the product may have. A capability states how many lines it may
// add, and adds that number here; what it makes superfluous is deleted in the same landing, and taken off here. No
// landing raises the number for what it did not state.
const mostLines = 76_543 +
	1_400 + // What one application or principal can do to the others.
	900 + // Strangers' machines and habits.
	664 + // Jobs that look alike are one.
	90 + // Pools beside the one that the deadline hangs on.
	780 + // What was recorded stays owed, the reserve, growing profiles.
	518 + // Limits that programs and users set for parts of the work.
	750 + // Slots beside zombies, heartbeats, a queue of large profiles.
	60 + // What the page says: progress that is not known, sizes in words, late runs in a counter.
	260 + // Who comes behind others, of all nodes at once.
	370 + // Copies of last tasks that are slow, how slow a run is, tenants kept by node.
	240 + // What is left out, moved as a block or comes besides, as a run shows it; zones of POSIX.
	700 + // Facets: what a capability keeps stands with it, and the ledger keeps it for the capability.
	88 + // Interpreters however they are come to, defaults that are no file, a last stage by its floor.
	860 + // Norms of nodes by disk and network, and a simulator that asks them.
	900 + // Traces of clusters.
	800 + // Forecasts, shaping and the knee of a heap.
	233 + // One table of the planner's deciders.
	1_540 + // Event logs are read: 700 were stated, codecs and a scan of JSON are the rest.
	640 + // Event logs make profiles, and work says how sure it is.
	-131 + // One form of experiment in the place of a list of tables in cli; numbers that nothing tries are told.
	-162 + // A store without a file, a prediction that tests alone asked for, the table of rules that the simulator switches off.
	-137 + // One RemoveFile, one completion, one place for what a verdict or a node repeats; the standard library for branches.
	1_315 + // What-if before anything runs, on the simulator's plant.
	386 + // What is promised is protected by the kernel, and pressure is told.
	885 + // Versions of profiles: kept, packed, pinned and compared in words.
	237 + // Versions packed beside the loop, graphs of stored profiles on the shelf, runs of logs that are known.
	660 + // Heaps find their size: what collections leave, by stage, a search over runs, its end and its price.
	1_010 + // Rates of nodes: what stages move, orders of placement and verdicts by disk and network.
	415 + // One key for a cluster, one token for scrapes, one code for a fault, examples of all commands, one binary.
	866 + // What is in the way on a machine, and what mends it: 500 were stated, the reading of a machine is the rest.
	200 + // Marks of the agenda by part, in the place of memories.
	70 + // Stops of services that leave quotas, what to do about another release's store, images without Java.
	120 + // `pacer up` that outlives its terminal, and its end, less lists that are made from code.
	15 + // Claims of experiments, listed without a run.
	2_440 + // Drivers on nodes, beyond what others had left: components, uploads, exits that are kept, pacer submit that follows.
	172 + // Metrics of runs by profile, of the queue, of certificates and of planners that stand by.
	94 + // Orchestrators start pacer submit as spark-submit, and their names are none.
	248 + // Drivers in pods: 156 were stated; groups by the names of process 1 and the authority from a pod are the rest.
	52 + // A task of Airflow takes its application along.
	385 + // HTTP has a row for each verb: 250 were stated, logs and the bounds of what comes in are the rest.
	160 + // Where applications wait, and what others give back for them, in a package of its own.
	9 + // An application whose driver and executor fit no empty node is refused as such.
	332 + // Uploads that leave room for others and that planners share, drivers beside executors; 70 lines of cli and daemon less.
	95 + // Help explains each column and word that a command prints; sums are added up at a look, sites chosen one by one.
	1_555 + // Descriptions: 250 were stated, groups in ledger, queue, planner and nodes are the rest.
	300 + // Texts of components in Plans and their bound, addresses for Spark, ports of others, uploads that go up again, paced.
	392 + // Parts of sessions: 300 were stated, what facets make of another run is the rest.
	5 + // Tasks that end between two looks keep their executor's weight.
	55 + // One exit code for each fault in every command; files that root puts back are the planner's user's.
	80 + // A guard in a container beside its node controller's.
	1_660 // Taken beyond what was stated: bounds in bytes and in the planner's time, proofs of attached executors.

// leastFacets is how many capabilities have a facet at least.
const leastFacets = 14

// mostMethods and mostFields are those of a type.
const mostMethods, mostFields = 30, 25

// larger are the types that have more, with what each may have. No type comes in, and a figure only
// goes down.
var larger = map[string]size{
	"api.AppDetail":             {fields: 35},
	"api.AppSummary":            {fields: 26},
	"infra/bus.Conn":            {methods: 33},
	"infra/cgroup.Group":        {methods: 40},
	"infra/cgroup.Hierarchy":    {methods: 32},
	"cli.launch":                {methods: 53},
	"cli.shell":                 {methods: 59},
	"daemon.NodeConfig":         {fields: 42},
	"daemon.PlannerDaemon":      {methods: 33},
	"dag.Graph":                 {methods: 36},
	"driver.Bindings":           {methods: 40},
	"ledger.App":                {methods: 47},
	"ledger.Ledger":             {methods: 56},
	"ledger.View":               {methods: 36},
	"ledger/ledgertest.Cluster": {methods: 52, fields: 27},
	"node.roster":               {methods: 47},
	"planner.Config":            {fields: 35},
}

// arrowed are the packages whose arrows are counted, with how many may run back up.
var arrowed = map[string]int{"planner": 8, "node": 25, "ledger": 9}

// mostMemories is how many of them the planner's engine may have; a landing that takes some away lowers it.
const mostMemories = 0

func TestHouse(t *testing.T) {
	figures, biggest := map[string]int{"long_lines": 0}, size{}
	for _, p := range checked(t) {
		if p.name == "planner" {
			var all []string
			for _, name := range []string{"Engine", "memory"} {
				all = append(all, memories(name, p.types.Scope().Lookup(name).Type(), nil)...)
			}
			if figures["memories"] = len(all); len(all) != mostMemories {
				t.Errorf("package planner has %d memories outside the agenda, the law says %d: %q", len(all), mostMemories, all)
			}
		}
		for name, s := range p.sizes() {
			name = p.name + "." + name
			most, listed := larger[name]
			fits := s.methods <= mostMethods && s.fields <= mostFields
			switch {
			case listed && fits:
				t.Errorf("%s has %d methods and %d fields: take it from the list", name, s.methods, s.fields)
			case !fits && (s.methods > max(mostMethods, most.methods) || s.fields > max(mostFields, most.fields)):
				t.Errorf("%s has %d methods and %d fields, at most %d and %d may be: divide it (the row of a type that gets another name goes with it)",
					name, s.methods, s.fields, max(mostMethods, most.methods), max(mostFields, most.fields))
			}
			biggest.methods, biggest.fields = max(biggest.methods, s.methods), max(biggest.fields, s.fields)
		}
		most, counts := arrowed[p.name]
		if !counts {
			continue
		}
		n := backArrows(p.uses())
		if figures["back_arrows."+p.name] = n; n > most {
			t.Errorf("package %s: %d arrows between files run back up, at most %d may", p.name, n, most)
		}
	}
	known := registries(checked(t))
	if figures["registries"] = len(known); !slices.Equal(known, []string{registry}) {
		t.Errorf("%v know several packages with experiments, and %s alone may: ask it for what is there", known, registry)
	}
	figures["methods.max"], figures["fields.max"] = biggest.methods, biggest.fields
	folders, key := map[string]bool{}, regexp.MustCompile("(?m)^\\| `(client|log|planner|node)\\.[a-z0-9-]+` \\|")
	walk(t, func(name string, body []byte) {
		if first, _, below := strings.Cut(name, "/"); below && !strings.HasPrefix(first, ".") {
			folders[first] = true
		}
		if name == "docs/configuration.md" {
			figures["keys"] = len(key.FindAll(body, -1))
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		figures["facets"] += bytes.Count(body, []byte("= ledger.Register("))
		top, _, _ := strings.Cut(name, "/")
		for line := range bytes.Lines(body) {
			figures["source_lines"]++
			if top != "sim" && top != "test" && top != "replay" {
				figures["product_lines"]++
			}
			if utf8.RuneCount(bytes.TrimRight(line, "\n")) > 120 {
				figures["long_lines"]++
			}
		}
	})
	if n := figures["product_lines"]; n > mostLines {
		t.Errorf("the product has %d lines of Go without tests, at most %d may be: delete what is superfluous", n, mostLines)
	}
	if n := figures["facets"]; n < leastFacets {
		t.Errorf("%d facets, at least %d were there: a capability keeps its state in one", n, leastFacets)
	}
	if n := figures["long_lines"]; n > 0 {
		t.Errorf("%d lines of Go without tests have more than 120 characters", n)
	}
	figures["top_folders"] = len(folders)
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		fmt.Printf("house.%s %d\n", name, figures[name])
	}
}

// registry has the one list of experiments.
const registry = "sim/registry"

// registries are the packages that import several others that have a function Experiments.
func registries(all []typed) (names []string) {
	has := map[string]bool{}
	for _, p := range all {
		if _, ok := p.types.Scope().Lookup("Experiments").(*types.Func); ok && p.name != registry {
			has[p.types.Path()] = true
		}
	}
	for _, p := range all {
		n := 0
		for _, imported := range p.types.Imports() {
			if has[imported.Path()] {
				n++
			}
		}
		if n > 1 {
			names = append(names, p.name)
		}
	}
	return names
}

// backArrows counts the arrows between files of a circle.
func backArrows(uses []map[int]int) (n int) {
	for _, circle := range circles(len(uses), uses) {
		for _, from := range circle {
			for _, to := range circle {
				if uses[from][to] > 0 {
					n++
				}
			}
		}
	}
	return n
}

// memories lists the moments, times and counts that values of a type of the planner or its deciders hold.
func memories(name string, of types.Type, seen []string) (all []string) {
	switch of := of.(type) {
	case *types.Pointer:
		return memories(name, of.Elem(), seen)
	case *types.Slice:
		return memories(name, of.Elem(), seen)
	case *types.Map:
		return memories(name, of.Elem(), seen)
	case *types.Basic:
		if of.Info()&types.IsInteger != 0 {
			return []string{name}
		}
	case *types.Struct:
		for field := range of.Fields() {
			if field.Name() != "core" && field.Name() != "agenda" {
				all = append(all, memories(name+"."+field.Name(), field.Type(), seen)...)
			}
		}
	case *types.Named:
		is := of.String()
		if is == module+"/units.Instant" || is == "time.Duration" {
			return []string{name}
		}
		decides := strings.HasPrefix(is, module+"/planner.") || strings.HasPrefix(is, module+"/deciders/")
		if decides && !slices.Contains(seen, is) {
			return memories(name, of.Underlying(), append(seen, is))
		}
	}
	return all
}
