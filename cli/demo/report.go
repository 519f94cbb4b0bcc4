package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Result is one run that has ended.
type Result struct {
	Run    string
	Detail api.AppDetail
	// Answer is what the application printed.
	Answer string
}

// Line is a run's line in demo.jsonl. Deadline and ErrorPct are null without a
// deadline, ErrorPct also of a run that has failed: that was not early.
type Line struct {
	Run          string         `json:"run"`
	Deadline     *units.Seconds `json:"deadline_s"`
	Duration     units.Seconds  `json:"duration_s"`
	EndedBy      api.EndedBy    `json:"ended_by"`
	ErrorPct     *float64       `json:"error_pct"`
	MeanCores    units.Cores    `json:"mean_cores"`
	CoreSeconds  units.Work     `json:"core_seconds"`
	QuotaChanges int            `json:"quota_changes"`
}

// Line returns the run as demo.jsonl has it.
func (r Result) Line() Line {
	l := Line{Run: r.Run, Duration: r.Detail.Duration, EndedBy: r.Detail.EndedBy, MeanCores: r.Detail.MeanCores,
		CoreSeconds:  r.Detail.CoreSeconds,
		QuotaChanges: r.Detail.QuotaChanges}
	if d := r.Detail.Deadline; d > 0 {
		l.Deadline = &d
	}
	if e, ok := r.errorPct(); ok {
		l.ErrorPct = &e
	}
	return l
}

// errorPct is Eq 4 of a run that had a deadline and did not fail, the planner's where it
// gave one.
func (r Result) errorPct() (pct float64, ok bool) {
	switch {
	case r.Detail.ErrorPct != nil:
		return *r.Detail.ErrorPct, true
	case r.Detail.Deadline <= 0 || r.Detail.State != api.AppFinished:
		return 0, false
	}
	return 100 * float64((r.Detail.Deadline-r.Detail.Duration)/r.Detail.Deadline), true
}

// short is what a line about the end of a run adds.
func (r Result) short() string {
	used := fmt.Sprintf(", %.1f core-seconds", float64(r.Detail.CoreSeconds))
	if pct, ok := r.errorPct(); ok {
		return fmt.Sprintf(", error %+.2f %%", pct) + used
	}
	return used
}

// report prints the table and writes the files.
func (d *demonstration) report(results []Result) error {
	lines, err := os.Create(filepath.Join(d.cfg.Out, "demo.jsonl"))
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	encoder := json.NewEncoder(lines)
	for _, r := range results {
		err = errors.Join(err, encoder.Encode(r.Line()))
	}
	if err := errors.Join(err, lines.Close()); err != nil {
		return fmt.Errorf("demo: write %s: %w", lines.Name(), err)
	}
	fmt.Fprintln(d.w)
	if err := Table(d.w, results); err != nil {
		return err
	}
	fmt.Fprintln(d.w)
	for _, r := range results {
		path := filepath.Join(d.cfg.Out, "demo-"+r.Run+".png")
		if err := Draw(path, r); err != nil {
			return err
		}
		fmt.Fprintf(d.w, "picture of run %s: %s\n", r.Run, path)
	}
	fmt.Fprintf(d.w, "JSON lines: %s\n", lines.Name())
	return nil
}

// Table prints the runs in columns.
func Table(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "run\tdeadline\tfinish\terror %\tmean cores\tcore-seconds\tquota changes\t")
	for _, r := range results {
		deadline, miss := "-", "-"
		if r.Detail.Deadline > 0 {
			deadline = fmt.Sprintf("%.1f s", float64(r.Detail.Deadline))
		}
		if pct, ok := r.errorPct(); ok {
			miss = fmt.Sprintf("%+.2f", pct)
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f s\t%s\t%.2f\t%.1f\t%d\t\n", r.Run, deadline, float64(r.Detail.Duration), miss,
			float64(r.Detail.MeanCores), float64(r.Detail.CoreSeconds), r.Detail.QuotaChanges)
	}
	return t.Flush()
}

// judge returns what did not go as it should, nil if everything did.
func judge(results []Result) error {
	var faults []error
	for _, r := range results {
		if r.Detail.State != api.AppFinished {
			faults = append(faults, fmt.Errorf("demo: run %s is %s: %s", r.Run, r.Detail.State,
				strings.Join(r.Detail.Notices, "; ")))
		}
		if r.Detail.EndedBy != api.EndedByExit {
			faults = append(faults,
				fmt.Errorf("demo: run %s: the planner was not told of the exit of pacer submit (its end is taken from: %q)", r.Run,
					r.Detail.EndedBy))
		}
		if r.Answer != results[0].Answer {
			faults = append(faults, fmt.Errorf("demo: run %s answers differently from run %s", r.Run, results[0].Run))
		}
		if r.Detail.Deadline <= 0 {
			continue
		}
		if r.Detail.Pacing != "paced" {
			faults = append(faults, fmt.Errorf("demo: run %s was %s, not paced: %s", r.Run, r.Detail.Pacing, r.Detail.Reason))
		}
		if late := r.Detail.Duration - r.Detail.Deadline; late > 0 {
			faults = append(faults, fmt.Errorf("demo: run %s missed its deadline by %.2f s", r.Run, float64(late)))
		}
	}
	return errors.Join(faults...)
}

// progressLine says in one line how far an application is; a is nil before it
// has registered.
func progressLine(a *api.AppDetail, since time.Duration) string {
	if a == nil {
		return fmt.Sprintf("%3.0f s: the driver is starting", since.Seconds())
	}
	running, done := 0, 0
	// A sample is of an executor, which ungated stages share; the last tick's count.
	used := map[api.ExecutorID]api.AppSample{}
	var newest units.Seconds
	for _, s := range a.Stages {
		if s.Stage < 0 {
			continue // It is of the profile, and has not come.
		}
		if s.Duration > 0 && s.State != "running" {
			done++
			continue
		}
		running++
		for _, sample := range s.Samples {
			if sample.At >= used[sample.Executor].At {
				used[sample.Executor] = sample
				newest = max(newest, sample.At)
			}
		}
	}
	cores := 0.0
	for _, sample := range used {
		if newest-sample.At < 1 {
			cores += float64(sample.Used)
		}
	}
	line := fmt.Sprintf("%3.0f s: ", math.Max(float64(a.Duration), 0))
	if done+running == 0 {
		line += "the executors are starting"
	} else {
		line += fmt.Sprintf("stages: %d done, %d running on %.2f cores", done, running, cores)
	}
	if a.Deadline > 0 {
		line += fmt.Sprintf(", deadline at %.0f s", float64(a.Deadline))
	}
	if a.Predicted > 0 {
		line += fmt.Sprintf(", predicted finish %.0f s", float64(a.Predicted))
	}
	return line
}
