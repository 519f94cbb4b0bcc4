package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/sim/registry"
)

// A region begins and ends with these.
const (
	opening = "<!-- simulated "
	closing = "<!-- end -->"
)

// region is what a mark asks for.
type region struct {
	line        int
	mark        string
	layout      string // "" of an experiment that has tables of its own.
	experiments []experiment.Experiment
	laws        []string
	seeds       int
	// workers and jobs are sizes of a mesh, the experiment's own where there are none.
	workers []int
	jobs    int
	// body is what stands in the region, from byte begin of the document on.
	begin int
	body  string
}

// rewrite returns a document with what render gives in each of its regions. The error
// names every mark that is not well-formed; nothing is rendered unless all are.
func rewrite(text string, render func(region) (string, error)) (string, error) {
	regions, err := find(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	at := 0
	for _, r := range regions {
		body, err := render(r)
		if err != nil {
			return "", fmt.Errorf("line %d: %w", r.line, err)
		}
		out.WriteString(text[at:r.begin])
		out.WriteString(body)
		at = r.begin + len(r.body)
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// find returns a document's regions in their order, or every fault of its marks.
func find(text string) ([]region, error) {
	var regions []region
	var faults []error
	at, open := 0, false
	for i, line := range strings.SplitAfter(text, "\n") {
		mark := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(mark, opening):
			if open {
				faults = append(faults, fmt.Errorf("line %d: a region begins in the one of line %d", i+1,
					regions[len(regions)-1].line))
			}
			r, err := parse(mark)
			if err != nil {
				faults = append(faults, fmt.Errorf("line %d: %w", i+1, err))
			}
			r.line, r.begin = i+1, at+len(line)
			regions, open = append(regions, r), true
		case mark == closing && !open:
			faults = append(faults, fmt.Errorf("line %d: a region ends that has not begun", i+1))
		case mark == closing:
			r := &regions[len(regions)-1]
			r.body, open = text[r.begin:at], false
		}
		at += len(line)
	}
	if open {
		faults = append(faults, fmt.Errorf("line %d: the region has no end", regions[len(regions)-1].line))
	}
	return regions, errors.Join(faults...)
}

// parse reads the mark that begins a region.
func parse(mark string) (region, error) {
	r := region{mark: mark}
	body, ended := strings.CutSuffix(strings.TrimPrefix(mark, opening), "-->")
	words := strings.Fields(body)
	if n := len(words) - 1; n > 0 && layouts()[words[0]] == nil {
		if e, err := experiment.Named(registry.Experiments(), words[0]); err == nil {
			r.experiments = []experiment.Experiment{e}
			for _, size := range words[1:n] {
				if err := r.resize(e, size); err != nil {
					return r, err
				}
			}
			words = []string{"", "", "law=", words[n]}
		}
	}
	if !ended || len(words) != 4 {
		return r, fmt.Errorf("%q, want %sLAYOUT EXPERIMENT law=LAW seeds=N -->", mark, opening)
	}
	r.layout = words[0]
	laws, hasLaws := strings.CutPrefix(words[2], "law=")
	seeds, hasSeeds := strings.CutPrefix(words[3], "seeds=")
	r.laws = strings.Split(laws, ",")
	n, err := strconv.Atoi(seeds)
	r.seeds = n
	if !hasLaws || !hasSeeds || err != nil || n < 1 {
		return r, fmt.Errorf("%q, want law=LAW and then seeds=N with at least one seed", mark)
	}
	if !r.ofCells() {
		return r, nil
	}
	if layouts()[r.layout] == nil {
		return r, fmt.Errorf("%q: layout %q is not known", mark, r.layout)
	}
	for _, name := range strings.Split(words[1], ",") {
		e, err := experiment.Named(paper.Experiments(), name)
		if err != nil {
			return r, fmt.Errorf("%q: %w", mark, err)
		}
		r.experiments = append(r.experiments, e)
	}
	for _, law := range r.laws {
		if !slices.Contains(sim.Laws(), law) {
			return r, fmt.Errorf("%q: law %q, want one of %v", mark, law, sim.Laws())
		}
	}
	return r, nil
}

// ofCells reports whether the region lays out cells of experiments under laws.
func (r region) ofCells() bool { return r.layout != "" }

// resize reads a size that the mark of a mesh says.
func (r *region) resize(e experiment.Experiment, size string) error {
	key, value, _ := strings.Cut(size, "=")
	for _, number := range strings.Split(value, ",") {
		n, err := strconv.Atoi(number)
		switch {
		case key != experiment.Workers && key != experiment.Jobs || !slices.Contains(e.Takes, key):
			return fmt.Errorf("%q: %s is no size of %s", r.mark, size, e.Name)
		case err != nil || n < 1 || key == experiment.Jobs && number != value:
			return fmt.Errorf("%q: %s, want workers=N[,N] or jobs=N, of at least one", r.mark, size)
		case key == experiment.Jobs:
			r.jobs = n
		default:
			r.workers = append(r.workers, n)
		}
	}
	return nil
}
