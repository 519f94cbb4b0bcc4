package fluid

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/units"
)

// columns are those of a trace as CSV.
var columns = []string{"arrival", "time", "core", "elastic", "cores", "memory", "priority"}

// The greatest numbers that a trace may have: seconds, which are three years, and units.
const mostSeconds, mostUnits = 1e8, 1e6

// ReadTrace reads a trace as CSV: a heading, then a job a line, in order of arrival.
//
//	arrival,time,core,elastic,cores,memory,priority
//	0,600,3,20,1,4g,0
//
// Arrival is in seconds, time in seconds with all units; core and elastic are units, each of so many cores and so much
// memory in Spark's notation; a priority above 0 is that of an interactive job. The jobs are named by their lines. An
// error says file, line and what was expected.
func ReadTrace(name string, r io.Reader) ([]assign.Job, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.ReuseRecord, in.TrimLeadingSpace = len(columns), true, true
	var jobs []assign.Job
	for line := 0; ; {
		fields, err := in.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && len(jobs) > 0:
			return jobs, nil
		case errors.As(err, &broken):
			line, err = broken.Line, broken.Err
		case errors.Is(err, io.EOF) && line > 0:
			err = errors.New("no job: want one a line below the heading")
		case line == 0:
			line, err = 1, nil
			if !slices.Equal(fields, columns) {
				err = fmt.Errorf("want the heading %s", strings.Join(columns, ","))
			}
		case err == nil:
			line, _ = in.FieldPos(0)
			var j assign.Job
			if j, err = jobOf(fields); err == nil && len(jobs) > 0 && j.Arrival < jobs[len(jobs)-1].Arrival {
				err = fmt.Errorf("arrival %s is before that of the line above: want jobs in order of arrival", fields[0])
			}
			j.ID = fmt.Sprintf("line-%07d", line)
			jobs = append(jobs, j)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

// jobOf is the job of a line.
func jobOf(fields []string) (assign.Job, error) {
	var fault error
	parse := func(i int, least, most float64, kind string, is func(float64) bool) float64 {
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[i]), 64)
		if err != nil || !(v >= least && v <= most) || !is(v) {
			fault = fmt.Errorf("%s %q: want a %s from %g to %g", columns[i], fields[i], kind, least, most)
		}
		return v
	}
	number := func(i int, least, most float64) float64 {
		return parse(i, least, most, "number", func(float64) bool { return true })
	}
	whole := func(i int, least float64) int {
		return int(parse(i, least, mostUnits, "whole number", func(v float64) bool { return v == math.Trunc(v) }))
	}
	j := assign.Job{Core: whole(2, 1), Elastic: whole(3, 0), Priority: whole(6, 0)}
	j.Arrival = units.Instant(number(0, 0, mostSeconds) * float64(time.Second))
	j.Time, j.Unit.Cores = units.Seconds(number(1, 1e-3, mostSeconds)), units.Cores(number(4, 0, mostUnits))
	memory, err := units.ParseBytes(fields[5], 1)
	if err != nil {
		fault = fmt.Errorf("memory: %w", err)
	}
	j.Unit.Memory = memory
	return j, fault
}
