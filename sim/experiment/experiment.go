package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// The flags of `pacer simulate` that an experiment may take: each is a field of Options.
const (
	Seeds   = "seeds"
	Only    = "only"
	Law     = "law"
	CPUs    = "cpus"
	Full    = "full"
	Workers = "workers"
	Jobs    = "jobs"
	Trace   = "trace"
	Switch  = "switch"
)

// Flags are all of them.
var Flags = []string{Seeds, Only, Law, CPUs, Full, Workers, Jobs, Trace, Switch}

// Options say how an experiment is run. An experiment heeds those that it takes.
type Options struct {
	// Seeds is how often each case is run, Only a part of the names of the cases that are.
	Seeds int
	Only  string
	// Laws are the control laws, all where there are none.
	Laws []string
	// CPUs are sizes of clusters, Workers of meshes, Jobs how many jobs each case has: the experiment's own where there
	// are none. Full takes as many jobs as the source has.
	CPUs, Workers []int
	Jobs          int
	Full          bool
	// Trace is a file of jobs in place of those that are drawn, Switches are other readings, "NAME VALUE".
	Trace    string
	Switches []string
	// Listed runs each case with no seed: figures and claims have no values, and are told all the same.
	Listed bool
	// Stop, when it is closed, ends the run with des.ErrStopped.
	Stop <-chan struct{}
	// Progress, where it is there, is told after each run how many of how many there have been.
	Progress func(done, all int)
}

// Experiment is one of a source, or one beside it.
type Experiment struct {
	Name, Title string
	// Source is the number of the publication, "" of none; Section is where that has it.
	Source, Section string
	Takes           []string // The flags that it takes.
	// Cases names what Only picks from; Naming says what these names are made of, "" where that is easy to guess.
	Cases  func(Options) ([]string, error)
	Naming string
	Run    func(Options) (Table, error)
	// Claims tries what the source says of it; nil: what figures claim is all.
	Claims func(Options) ([]Claim, error)
}

// Table is what an experiment gave.
type Table struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Cells are what the cases gave, a slice of the experiment's own type.
	Cells   any      `json:"cells"`
	Figures []Figure `json:"figures,omitempty"`
	// Rows are tables to print, the first row of each its heading; Shown those of them that documents have, nil for all.
	Rows, Shown [][][]string                `json:"-"`
	Draw        func(files ...string) error `json:"-"` // Nil where there is nothing to draw.
}

// Named is the experiment of that name.
func Named(all []Experiment, name string) (Experiment, error) {
	i := slices.IndexFunc(all, func(e Experiment) bool { return e.Name == name })
	if i < 0 {
		return Experiment{}, fmt.Errorf("no experiment %q: want one of %s", name, strings.Join(Names(all), ", "))
	}
	return all[i], nil
}

// Names are those of experiments.
func Names(all []Experiment) (names []string) {
	for _, e := range all {
		names = append(names, e.Name)
	}
	return names
}

// Taking are the names of the experiments that take a flag.
func Taking(all []Experiment, flag string) []string {
	return Names(slices.DeleteFunc(slices.Clone(all), func(e Experiment) bool { return !slices.Contains(e.Takes, flag) }))
}

// Chosen are the names of the cases that o picks, or the error that there is none.
func (e Experiment) Chosen(o Options) ([]string, error) {
	names, err := e.Cases(o)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, o.Only) })
	if len(names) == 0 {
		of := e.Naming
		if of != "" {
			of = ": " + of
		}
		return nil, fmt.Errorf("--only %q: %s has no such case, want a part of one's name%s", o.Only, e.Name, of)
	}
	return names, nil
}

// Tried are the claims of an experiment, each case with the seeds of o.
func (e Experiment) Tried(o Options) ([]Claim, error) {
	if e.Claims != nil {
		return e.Claims(o)
	}
	t, err := e.Run(o)
	return Claims(t.Figures), err
}
