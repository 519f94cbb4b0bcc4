package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/sim/mesh"
	meshpaper "github.com/sparkpacer/pacer/sim/mesh/paper"
	"github.com/sparkpacer/pacer/sim/offers"
	"github.com/sparkpacer/pacer/sim/unknown"
	"github.com/sparkpacer/pacer/sim/zoe"
)

// Names of the tables of packages offers, zoe, unknown and mesh/paper.
const (
	glapTable    = "glap"
	alikeTable   = "glap-learning"
	offersTable  = "offers"
	zoeTable     = "zoe"
	unknownTable = "unknown"
)

// printout is what such a table gave: tables to print, the first row of each its heading, and figures to keep, and to
// draw where draw is there.
type printout struct {
	title   string
	tables  [][][]string
	figures any
	draw    func(...string) error
	cases   string // What their names are made of, where that is too much to guess.
}

// tableOptions say how such a table is made. Workers are sizes of the meshes, the others are for Peacock's.
type tableOptions struct {
	fluid.Options
	Workers  []int
	Jobs     int
	Trace    string
	Switches []string
}

// meshed are the tables of mesh/paper.
func meshed() []string { return append(meshpaper.PeacockTables(), glapTable, alikeTable) }

// check says which of the options of meshes does not fit the table of that name.
func (o tableOptions) check(name string) error {
	peacock := meshpaper.PeacockTables()
	switch {
	case !slices.Contains(meshed(), name) && len(o.Workers) > 0:
		return command.Usagef("--workers is for %s", strings.Join(meshed(), ", "))
	case slices.ContainsFunc(o.Workers, func(n int) bool { return n < 1 || n > 100_000 }):
		return command.Usagef("--workers is %v: want numbers from 1 to 100000", o.Workers)
	case !slices.Contains(peacock, name) && (o.Jobs != 0 || o.Trace != "" || len(o.Switches) > 0):
		return command.Usagef("--jobs, --trace and --switch are for %s", strings.Join(peacock, ", "))
	case o.Jobs < 0 || o.Jobs > 1_000_000:
		return command.Usagef("--jobs is %d: want a number from 1 to 1000000", o.Jobs)
	}
	if err := (meshpaper.PeacockOptions{Switches: o.Switches}).Validate(); err != nil {
		return command.Usagef("--switch: %v", err)
	}
	return nil
}

// peacockTable runs the table of that name.
func peacockTable(name string, o tableOptions) (printout, error) {
	p := meshpaper.PeacockOptions{Workers: o.Workers, Jobs: o.Jobs, Seeds: o.Seeds, Only: o.Only, Switches: o.Switches,
		Stop: o.Stop}
	if o.Trace != "" {
		file, err := os.Open(o.Trace)
		if err != nil {
			return printout{}, command.Usagef("read the trace: %v", err)
		}
		defer file.Close()
		p.TraceName = filepath.Base(o.Trace)
		if p.Trace, err = mesh.ReadTrace(o.Trace, file); err != nil {
			return printout{}, command.Coded(command.ExitUsage, err)
		}
	}
	t, err := meshpaper.RunPeacock(name, p)
	if err != nil {
		return printout{}, err
	}
	return printout{t.Title, [][][]string{t.Rows(), t.FigureRows()}, t, t.Draw, ": TRACE LOAD% WORKERS SYSTEM"}, nil
}

// unpaced are the tables in which no control law steers anything.
func unpaced() map[string]func(tableOptions) (printout, error) {
	tables := map[string]func(tableOptions) (printout, error){
		fluid.PaceTable: func(o tableOptions) (printout, error) { return ofUnits(fluid.RunPace(o.Options)) },
		zoeTable: compared(zoeTable, func(o tableOptions) (printout, error) {
			t, err := zoe.Run(zoe.Options{Seeds: o.Seeds, Stop: o.Stop})
			return printout{t.Title, [][][]string{t.Rows(), t.FigureRows()}, t, t.Draw, ""}, err
		}),
		unknownTable: compared(unknownTable, func(o tableOptions) (printout, error) {
			t, err := unknown.Run(unknown.Options{Seeds: o.Seeds, Stop: o.Stop})
			return printout{t.Title, [][][]string{t.Rows(), t.FigureRows()}, t, nil, ""}, err
		}),
		offersTable: func(o tableOptions) (printout, error) {
			cases, err := offers.WordCount(o.Only)
			return printout{"WordCount in SparkFG and in Hadoop, one 10 s after the other, " +
				"on 6 nodes that are offered as by Mesos",
				[][][]string{offers.Rows(cases)}, cases, nil, ""}, err
		},
		glapTable: func(o tableOptions) (printout, error) {
			t, err := meshpaper.RunGLAP(meshpaper.GLAPOptions{Machines: o.Workers, Seeds: o.Seeds, Only: o.Only, Stop: o.Stop})
			return printout{t.Title, [][][]string{t.Rows(), t.FigureRows()}, t, t.Draw, ": MACHINES-RATIO POLICY"}, err
		},
		alikeTable: func(o tableOptions) (printout, error) {
			t, err := meshpaper.RunGLAPLearning(meshpaper.GLAPOptions{Machines: o.Workers, Seeds: o.Seeds, Only: o.Only,
				Stop: o.Stop})
			return printout{t.Title, [][][]string{t.LearningRows()}, t, t.Draw, ": MACHINES-RATIO glap"}, err
		},
	}
	for _, name := range meshpaper.PeacockTables() {
		tables[name] = func(o tableOptions) (printout, error) { return peacockTable(name, o) }
	}
	for _, name := range fluid.ReserveTables() {
		tables[name] = func(o tableOptions) (printout, error) {
			t, err := fluid.RunReserve(name, o.Options)
			cases := ": RULE DEADLINES CPUS, of " + strings.Join(assign.Reserving(), ", ") + "; " +
				strings.Join(fluid.GeneratorNames(), ", ")
			return printout{t.Title, [][][]string{t.Rows(), t.MeasureRows()}, t, t.Draw, cases}, err
		}
	}
	return tables
}

// compared is the table of that name, whose cases cannot be run apart.
func compared(name string, run func(tableOptions) (printout, error)) func(tableOptions) (printout, error) {
	return func(o tableOptions) (printout, error) {
		if o.Only != "" {
			return printout{}, command.Usagef("--only %q: the cases of %s are compared, and run together", o.Only, name)
		}
		return run(o)
	}
}

func ofUnits(t fluid.Table, err error) (printout, error) {
	return printout{t.Title, [][][]string{t.Rows(), t.MeasureRows()}, t, t.Draw, ""}, err
}

// simulateUnpaced runs the table of that name, or a trace through the cases of pace.
func simulateUnpaced(w io.Writer, name string, o tableOptions, form output, out string) error {
	run := unpaced()[name]
	if run == nil {
		file, err := os.Open(name)
		if err != nil {
			return command.Usagef("read the trace: %v", err)
		}
		defer file.Close()
		jobs, err := fluid.ReadTrace(name, file)
		if err != nil {
			return command.Coded(command.ExitUsage, err)
		}
		run = func(o tableOptions) (printout, error) { return ofUnits(fluid.RunTrace(name, jobs, o.Options)) }
	}
	s, err := run(o)
	if err == nil && len(s.tables[0]) < 2 {
		err = command.Usagef("--only %q: %s has no such case, want a part of one's name%s", o.Only, name, s.cases)
	}
	if err == nil && out != "" {
		err = keepFigures(filepath.Join(out, strings.TrimSuffix(filepath.Base(name), ".csv")), s.figures, s.draw)
	}
	switch {
	case err != nil:
		return err
	case form.encodes():
		return form.figures(w, s.figures)
	}
	fmt.Fprintln(w, s.title)
	for i, rows := range s.tables {
		if len(rows) < 2 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := table(w, rows[0], rows[1:]); err != nil {
			return err
		}
	}
	return nil
}
