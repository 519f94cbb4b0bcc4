package registry

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/sim/attach"
	"github.com/sparkpacer/pacer/sim/distance"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/sim/knee"
	meshpaper "github.com/sparkpacer/pacer/sim/mesh/paper"
	"github.com/sparkpacer/pacer/sim/offers"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/sim/prophet"
	"github.com/sparkpacer/pacer/sim/shaped"
	"github.com/sparkpacer/pacer/sim/unknown"
	"github.com/sparkpacer/pacer/sim/zoe"
)

// Experiments are all of them.
func Experiments() []experiment.Experiment {
	return slices.Concat(paper.Experiments(), fluid.Experiments(), zoe.Experiments(), unknown.Experiments(),
		offers.Experiments(), attach.Experiments(), meshpaper.Experiments(), prophet.Experiments(), distance.Experiments(),
		knee.Experiments(), shaped.Experiments())
}

// Find is the experiment of that name, or the cases of pace on the trace of that file, whose name ends in .csv.
func Find(name string) (experiment.Experiment, error) {
	if !strings.HasSuffix(name, ".csv") {
		return experiment.Named(Experiments(), name)
	}
	file, err := os.Open(name)
	if err != nil {
		return experiment.Experiment{}, fmt.Errorf("read the trace: %w", err)
	}
	defer file.Close()
	jobs, err := fluid.ReadTrace(name, file)
	return fluid.OfTrace(name, jobs), err
}

// Source is a publication, by its number; Experiments are those that try what it says.
type Source struct {
	Name, Title string
	Experiments []experiment.Experiment
}

// Sources are those whose claims are tried, of those names where there are some.
func Sources(names ...string) []Source {
	all := []Source{
		{Name: "000",
			Title: `F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters"`},
		{Name: "001", Title: `G. Xu, "Data-Driven Intelligent Scheduling For Long Running Workloads In Large-Scale ` +
			`Datacenters"`},
		{Name: "002", Title: `E. Dimopoulos, "Resource Allocation in Multi-analytics, Resource-Constrained Environments"`},
		{Name: "003", Title: `L. Baresi et al., "Fine-grained Dynamic Resource Allocation for Big-Data Applications"`},
		{Name: "004", Title: `M. Khelghatdoust, "Scalable and Distributed Resource Management Protocols for Cloud and ` +
			`Big Data Clusters"`},
	}
	if len(names) > 0 {
		all = slices.DeleteFunc(all, func(s Source) bool { return !slices.Contains(names, s.Name) })
	}
	for i := range all {
		for _, e := range Experiments() {
			if e.Source == all[i].Name {
				all[i].Experiments = append(all[i].Experiments, e)
			}
		}
	}
	return all
}

// Claims tries what the source says, each case with the seeds of o, and tells what progress returns for the name of an
// experiment how far that is, if it is not nil.
func (s Source) Claims(o experiment.Options, progress func(name string) func(done, all int)) (
	all []experiment.Claim, err error) {
	for _, e := range s.Experiments {
		if progress != nil {
			o.Progress = progress(e.Name)
		}
		claims, err := e.Tried(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		all = append(all, claims...)
	}
	return all, nil
}
