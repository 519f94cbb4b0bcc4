package benchline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"
)

// Origin is what a figure was measured on. Lines of different origins are not mixed,
// but for the commit: it may change without the sources.
type Origin struct {
	// Sources is the hash of the product's sources.
	Sources string `json:"sources"`
	// Spark, Java and Kernel are versions, Spark and Java "none" where there is none.
	Spark  string `json:"spark"`
	Java   string `json:"java"`
	Kernel string `json:"kernel"`
	// Cores are those of the machine.
	Cores int `json:"cores"`
}

// Line is one figure.
type Line struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// N is of how many values Value was taken, Spread the least and the greatest of
	// them, in Unit.
	N      int        `json:"n"`
	Spread [2]float64 `json:"spread"`
	// Commit is the commit of the tree, with "-dirty" behind it where files differed.
	Commit string    `json:"commit"`
	Date   time.Time `json:"date"`
	Origin
	// Campaign tells what belongs together: it is when its first cell began. Seed is
	// that of its order of runs.
	Campaign string `json:"campaign"`
	Seed     uint64 `json:"seed"`
	// Cell is the part of the campaign that has measured it.
	Cell string `json:"cell"`
	// Machines is of how many machines the runs are that a figure over several workloads
	// was taken of; those of one workload are all of one.
	Machines int `json:"machines,omitempty"`
	// Run is what else is known of a single run; nil for a figure.
	Run *Run `json:"run,omitempty"`
}

// Run is one run of an application.
type Run struct {
	Workload string `json:"workload"`
	// Variant is what differs from the default way of measuring, such as a size, "" for
	// nothing.
	Variant string `json:"variant,omitempty"`
	// Phase and Round are when it ran within its workload's order.
	Phase string `json:"phase"`
	Round int    `json:"round"`
	// Baseline is what ran: stock, tuned, full (Pacer at all cores) or paced.
	Baseline string `json:"baseline"`
	// Slack is that of the deadline, in per cent.
	Slack *int `json:"slack_pct,omitempty"`
	// Wall is from the start of the command to its exit, in seconds, by the
	// benchmark's own clock; CoreSeconds is all that was used meanwhile.
	Wall        float64 `json:"wall_s"`
	CoreSeconds float64 `json:"core_seconds"`
	// Archive says that it has mapped a class-data archive, whose making is not in
	// CoreSeconds.
	Archive bool `json:"archive"`
	// At is when it was started, in seconds from the start of the first of several
	// applications at once; nil for one alone.
	At *float64 `json:"at_s,omitempty"`
	// Beside is the part of CoreSeconds that executors of other applications used; nil for
	// a run alone.
	Beside *float64 `json:"beside_core_seconds,omitempty"`
	// Machine is what the machine's CPUs were not idle for meanwhile, in core-seconds:
	// CoreSeconds and what the kernel, all else that ran and the hypervisor took.
	Machine *float64 `json:"machine_core_seconds,omitempty"`
	// Deadline is in seconds from the start of the command; nil for none.
	Deadline *float64 `json:"deadline_s,omitempty"`
	// Planner is the error that the planner itself reports, in per cent, Pacing how it
	// ran and why; empty without Pacer.
	Planner *float64 `json:"planner_error_pct,omitempty"`
	Pacing  string   `json:"pacing,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

// ErrorPct is how long before its deadline the run has exited, in per cent of the
// deadline: negative when it was late. It is false for a run without a deadline.
func (r Run) ErrorPct() (float64, bool) {
	if r.Deadline == nil || *r.Deadline <= 0 {
		return 0, false
	}
	return 100 * (*r.Deadline - r.Wall) / *r.Deadline, true
}

// Check says what a line lacks.
func (l Line) Check() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	check(l.Name != "", "no name")
	check(l.Unit != "", "no unit")
	check(finite(l.Value), "value %v is not finite", l.Value)
	check(l.N > 0, "n is %d, want 1 or more", l.N)
	check(finite(l.Spread[0]) && finite(l.Spread[1]) && l.Spread[0] <= l.Spread[1], "spread %v, want the least and the greatest", l.Spread)
	check(!l.Date.IsZero(), "no date")
	for key, value := range map[string]string{"commit": l.Commit, "sources": l.Sources, "spark": l.Spark, "java": l.Java, "kernel": l.Kernel,
		"campaign": l.Campaign, "cell": l.Cell} {
		check(value != "", "no %s", key)
	}
	check(l.Cores > 0, "cores is %d, want 1 or more", l.Cores)
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("bench line %q: %w", l.Name, oneLine(err))
	}
	return nil
}

func oneLine(err error) error {
	return errors.New(string(bytes.ReplaceAll([]byte(err.Error()), []byte("\n"), []byte("; "))))
}

// Log is a file of lines.
type Log struct{ path string }

// Open returns the log at path; its directory is made. The file appears with the
// first line.
func Open(path string) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("bench log: %w", err)
	}
	return &Log{path: path}, nil
}

// Path is where the file is.
func (l *Log) Path() string { return l.path }

// Add appends lines, all in one write or, when one of them lacks something, none.
func (l *Log) Add(lines ...Line) error {
	var body bytes.Buffer
	for _, line := range lines {
		if err := line.Check(); err != nil {
			return err
		}
		text, err := json.Marshal(line)
		if err != nil {
			return fmt.Errorf("bench line %s: %w", line.Name, err)
		}
		body.Write(append(text, '\n'))
	}
	if body.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("bench log: %w", err)
	}
	text := body.Bytes()
	if torn(f) { // What an interrupted write has left stays a line of its own.
		text = append([]byte("\n"), text...)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("bench log: %w", err)
	}
	return nil
}

// torn reports whether a file ends within a line.
func torn(f *os.File) bool {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], st.Size()-1)
	return err == nil && last[0] != '\n'
}

// Fault is a line of a file that is no figure.
type Fault struct {
	Number int // From 1.
	Err    error
}

// Read returns all lines in order, and what is none of them. A log without a file is
// empty.
func (l *Log) Read() (lines []Line, faults []Fault, err error) {
	body, err := os.ReadFile(l.path)
	if os.IsNotExist(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bench log: %w", err)
	}
	number := 0
	for text := range bytes.SplitSeq(body, []byte("\n")) {
		number++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var line Line
		err := json.Unmarshal(text, &line)
		if err == nil {
			err = line.Check()
		}
		if err != nil {
			faults = append(faults, Fault{number, err})
			continue
		}
		lines = append(lines, line)
	}
	return lines, faults, nil
}

// Newest returns the last figure of each name, in the order in which the names first
// appeared. Single runs are none.
func Newest(lines []Line) []Line {
	var out []Line
	at := map[string]int{}
	for _, l := range lines {
		if l.Run != nil {
			continue
		}
		i, seen := at[l.Name]
		switch {
		case !seen:
			at[l.Name] = len(out)
			out = append(out, l)
		case !l.Date.Before(out[i].Date):
			out[i] = l
		}
	}
	return out
}
