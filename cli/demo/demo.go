package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// App is the application, a PySpark program.
//
//go:embed app.py
var App []byte

// Config says what to run and where to leave the report.
type Config struct {
	// Out is the directory for demo.jsonl, demo-*.png and the logs.
	Out string
	// Factors times the full run's duration are the deadlines; 1.3 and 1.6.
	Factors []float64
	// Scale is the application's size; 1 is about 120 core-seconds.
	Scale float64
	// Poll is how often the application is looked at, Every how often a line of
	// progress is printed.
	Poll, Every time.Duration
	// Settle is how long the planner may take to say that an application is over
	// once its driver has ended.
	Settle time.Duration
}

// Default is what `make demo` runs.
func Default() Config {
	return Config{Out: "out", Factors: []float64{1.3, 1.6}, Scale: 1, Poll: time.Second, Every: 5 * time.Second,
		Settle: 20 * time.Second}
}

// Validate reports every fault of c at once.
func (c Config) Validate() error {
	var faults []error
	if c.Out == "" {
		faults = append(faults, errors.New("the output directory is empty"))
	}
	for _, f := range c.Factors {
		if !(f > 0) {
			faults = append(faults, fmt.Errorf("factor %v, want more than 0", f))
		}
	}
	if !(c.Scale > 0) {
		faults = append(faults, fmt.Errorf("scale %v, want more than 0", c.Scale))
	}
	if c.Poll <= 0 || c.Every <= 0 || c.Settle < 0 {
		faults = append(faults, errors.New("a period is not positive"))
	}
	return errors.Join(faults...)
}

// Submission is one run as a System starts it.
type Submission struct {
	// ID is the UUID by which the application is found again.
	ID string
	// Run names the run's files: "full", "1.3".
	Run string
	// Deadline is 0 for none.
	Deadline units.Seconds
}

// Outcome is how a submission ended: its exit code and what the application
// printed.
type Outcome struct {
	Code   int
	Answer string
}

// System is a Pacer to run applications on.
type System interface {
	// Submit starts an application; the channel gives one Outcome.
	Submit(ctx context.Context, s Submission) (<-chan Outcome, error)
	// App returns what the planner knows of a submission, nil while it knows
	// nothing.
	App(ctx context.Context, submission string) (*api.AppDetail, error)
	// Close stops everything that was started.
	Close() error
}

// Run runs the demonstration on the System that start brings up, prints lines of
// progress and the table to w, and writes the files. It returns the runs that
// ended; its error lists everything that did not go as it should: a deadline that
// was missed is one.
func Run(ctx context.Context, cfg Config, w io.Writer, start func(context.Context) (System, error)) (results []Result,
	err error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	fmt.Fprintf(w, "demo: starting planner and node controller; reports go to %s\n", cfg.Out)
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	system, err := start(ctx)
	if err != nil {
		return nil, fmt.Errorf("demo: start: %w", err)
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	d := &demonstration{cfg: cfg, w: w, system: system}
	results, err = d.runs(ctx)
	if err != nil {
		return results, err
	}
	if err := d.report(results); err != nil {
		return results, err
	}
	return results, judge(results)
}

type demonstration struct {
	cfg    Config
	w      io.Writer
	system System
}

// runs runs the application once without a deadline and once for each factor.
func (d *demonstration) runs(ctx context.Context) ([]Result, error) {
	var results []Result
	total := 1 + len(d.cfg.Factors)
	full, err := d.run(ctx, Submission{ID: uuid.NewString(), Run: "full"}, fmt.Sprintf("run 1 of %d, all cores", total))
	if err != nil {
		return nil, err
	}
	results = append(results, full)
	for i, factor := range d.cfg.Factors {
		s := Submission{ID: uuid.NewString(), Run: strconv.FormatFloat(factor, 'f', -1, 64),
			Deadline: units.Seconds(factor) * full.Detail.Duration}
		title := fmt.Sprintf("run %d of %d, deadline %.1f s (%s x %.1f s)", i+2, total, float64(s.Deadline), s.Run,
			float64(full.Detail.Duration))
		r, err := d.run(ctx, s, title)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// run submits one run and watches it to its end.
func (d *demonstration) run(ctx context.Context, s Submission, title string) (Result, error) {
	fmt.Fprintf(d.w, "demo: %s\n", title)
	ended, err := d.system.Submit(ctx, s)
	if err != nil {
		return Result{}, fmt.Errorf("demo: run %s: %w", s.Run, err)
	}
	outcome, err := d.watch(ctx, s, ended)
	if err != nil {
		return Result{}, fmt.Errorf("demo: run %s: %w", s.Run, err)
	}
	if outcome.Code != 0 {
		return Result{}, fmt.Errorf("demo: run %s: pacer submit ended with exit code %d (see %s)", s.Run, outcome.Code,
			d.logFile(s))
	}
	detail, err := d.settle(ctx, s)
	if err != nil {
		return Result{}, fmt.Errorf("demo: run %s: %w (see %s)", s.Run, err, d.logFile(s))
	}
	r := Result{Run: s.Run, Detail: *detail, Answer: outcome.Answer}
	fmt.Fprintf(d.w, "demo: run %s ended after %.1f s%s\n", s.Run, float64(detail.Duration), r.short())
	return r, nil
}

func (d *demonstration) logFile(s Submission) string {
	return filepath.Join(d.cfg.Out, "demo", s.Run+".log")
}

// watch prints a line of progress now and then until the run has ended.
func (d *demonstration) watch(ctx context.Context, s Submission, ended <-chan Outcome) (Outcome, error) {
	tick := time.NewTicker(d.cfg.Poll)
	defer tick.Stop()
	begin := time.Now()
	last := begin
	for {
		select {
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		case outcome := <-ended:
			return outcome, nil
		case now := <-tick.C:
			if now.Sub(last) < d.cfg.Every {
				continue
			}
			last = now
			detail, err := d.system.App(ctx, s.ID)
			if err != nil {
				return Outcome{}, err
			}
			fmt.Fprintf(d.w, "  %s\n", progressLine(detail, now.Sub(begin)))
		}
	}
}

// settle waits until the planner has the last figures of a run.
func (d *demonstration) settle(ctx context.Context, s Submission) (*api.AppDetail, error) {
	deadline := time.Now().Add(d.cfg.Settle)
	for {
		detail, err := d.system.App(ctx, s.ID)
		switch {
		case err != nil:
			return nil, err
		case detail != nil && detail.State != api.AppRunning && detail.State != api.AppEnding:
			return detail, nil
		case time.Now().After(deadline) && detail == nil:
			return nil, errors.New("the planner never heard of the application")
		case time.Now().After(deadline):
			return nil, fmt.Errorf("the planner still calls it %s", detail.State)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(d.cfg.Poll, 200*time.Millisecond)):
		}
	}
}
