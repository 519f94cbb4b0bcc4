package mesh

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// mostSeconds is the greatest number that a trace may have.
const mostSeconds = 1e8

// ReadTrace reads a trace as Hawk's simulator has it, a job a line, in order of arrival:
//
//	ARRIVAL TASKS MEAN DURATION...
//
// in seconds, with a duration for each task; the mean is the estimate. Empty lines, and what follows a #, are passed
// over. An error says file, line and what was expected.
func ReadTrace(name string, r io.Reader) ([]Job, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 64<<20)
	var jobs []Job
	line := 0
	for in.Scan() {
		line++
		text, _, _ := strings.Cut(in.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		j, err := jobOf(fields)
		if err == nil && len(jobs) > 0 && j.Arrival < jobs[len(jobs)-1].Arrival {
			err = fmt.Errorf("arrival %s is before that of the job above: want jobs in order of arrival", fields[0])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		jobs = append(jobs, j)
	}
	err := in.Err()
	if err == nil && len(jobs) == 0 {
		err = errors.New("no job: want one a line, ARRIVAL TASKS MEAN DURATION...")
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	return jobs, nil
}

// jobOf is the job of a line.
func jobOf(fields []string) (j Job, err error) {
	if len(fields) < 4 {
		return j, fmt.Errorf("%d numbers: want ARRIVAL TASKS MEAN DURATION...", len(fields))
	}
	number := func(what, field string, above float64) time.Duration {
		v, fault := strconv.ParseFloat(field, 64)
		if fault != nil || !(v >= above && v <= mostSeconds) {
			err = fmt.Errorf("%s %q: want seconds from %g to %g", what, field, above, mostSeconds)
		}
		return time.Duration(v * float64(time.Second))
	}
	const least = 1e-6
	n, fault := strconv.Atoi(fields[1])
	if fault != nil || n < 1 || n != len(fields)-3 {
		return j, fmt.Errorf("tasks %q and %d durations: want one for each of at least one task", fields[1], len(fields)-3)
	}
	j.Arrival, j.Estimate = units.Instant(number("arrival", fields[0], 0)), number("mean", fields[2], least)
	for _, f := range fields[3:] {
		j.Durations = append(j.Durations, number("duration", f, least))
	}
	return j, err
}
