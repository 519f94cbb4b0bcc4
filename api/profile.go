package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sparkpacer/pacer/units"
)

// ProfileSchema is the version of the profile file format.
const ProfileSchema = 1

// Profile is the annotated DAG of an application (source section 3): what one or
// more runs at all cores showed. It is strict JSON, documented in
// docs/profile.md.
type Profile struct {
	Schema int    `json:"schema"`
	Name   string `json:"name"`
	// Runs is how many runs were merged; 0 for a hand-written profile.
	Runs int `json:"runs"`
	// Duration is from the start of the deadline clock to the driver's exit.
	Duration units.Seconds `json:"duration_s"`
	// Cores is what was offered when it was recorded.
	Cores units.Cores `json:"cores"`
	// Contended says that no run was alone so far: its times are those of a run beside
	// other applications, its work is its own.
	Contended bool `json:"contended,omitempty"`
	// ExecutorStart is the CPU time of an executor from its start until the first task,
	// 0 where it is not known.
	ExecutorStart units.Work `json:"executor_start_core_seconds,omitempty"`
	// Head passes before the first stage is ready, Tail between the last stage and the
	// context's stop, Exit between that and the exit of the driver's process.
	Head units.Seconds `json:"head_s"`
	Tail units.Seconds `json:"tail_s"`
	Exit units.Seconds `json:"exit_s"`
	// Exits are those of the newest runs, oldest first, from which Exit follows; none
	// in a profile written by hand.
	Exits []units.Seconds `json:"exits_s,omitempty"`
	// Stages are in order of ID, which is the order of submission.
	Stages []ProfileStage `json:"stages"`
}

// ProfileStage is one stage's annotation.
type ProfileStage struct {
	// ID is unique in the profile; parents have smaller ones.
	ID int `json:"id"`
	// Job groups the stages of a job; a job starts after the one before it ended.
	Job       int    `json:"job"`
	Name      string `json:"name"`
	Signature string `json:"signature"`
	Parents   []int  `json:"parents"`
	Tasks     int    `json:"tasks"`
	// Duration is from ready to done, at all cores.
	Duration units.Seconds `json:"duration_s"`
	// Gap is how long the driver took from the end of what it waited for (its
	// parents, else the job before) until the stage was ready.
	Gap units.Seconds `json:"gap_s"`
	// Records and Bytes are its input, RecordsWritten and BytesWritten its
	// output. Records is the number of tasks where Spark counts no records.
	Records        int64 `json:"records"`
	Bytes          int64 `json:"bytes"`
	RecordsWritten int64 `json:"records_written"`
	BytesWritten   int64 `json:"bytes_written"`
	// CoreSeconds is the CPU time that the stage's cgroups used.
	CoreSeconds units.Work `json:"core_seconds"`
	// NominalRate is Records / CoreSeconds.
	NominalRate units.Rate `json:"nominal_rate"`
	// LongestTask is the CPU time of its longest task.
	LongestTask units.Seconds `json:"longest_task_s"`
	// Reading is the part of its CPU time in which a large task reads its records, 0
	// where no task was large: what is read tells how much of it is done.
	Reading units.Fraction `json:"reading,omitempty"`
	// FixedPart is the part of its tasks' CPU time that is the same for each of them, whatever
	// they read; the rest goes with their sizes.
	FixedPart units.Fraction `json:"fixed_part,omitempty"`
	// TaskCost is what each task takes whatever it reads, seen at all cores; 0 where it is
	// not known.
	TaskCost units.Work `json:"task_cost_core_seconds,omitempty"`
	// Warmup is the CPU time that the stage uses besides on an executor that has run
	// nothing else, 0 where it is not known.
	Warmup units.Work `json:"warmup_core_seconds,omitempty"`
}

// DecodeProfile reads a strict JSON profile and validates it. Unknown fields and
// trailing data are errors.
func DecodeProfile(r io.Reader) (Profile, error) {
	var p Profile
	if err := decodeStrict(r, &p); err != nil {
		return Profile{}, Errorf(KindInvalid, "profile: %v", err)
	}
	if err := p.Validate(); err != nil {
		return Profile{}, err
	}
	return p, nil
}

// decodeStrict reads exactly one JSON value without unknown fields.
func decodeStrict(r io.Reader, v any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the end of the value")
	}
	return nil
}

// Validate reports every fault of p at once as one KindInvalid error: schema,
// name, stage ids that repeat, parents that are unknown or do not precede their
// stage (so a graph that passes is acyclic), numbers that are not positive.
func (p Profile) Validate() error {
	var faults faults
	faults.check(p.Schema == ProfileSchema, "schema is %d, want %d", p.Schema, ProfileSchema)
	faults.check(p.Name != "", "name is empty")
	faults.check(p.Runs >= 0, "runs is negative")
	faults.finite("duration_s", float64(p.Duration))
	faults.finite("cores", float64(p.Cores))
	faults.finite("executor_start_core_seconds", float64(p.ExecutorStart))
	faults.finite("head_s", float64(p.Head))
	faults.finite("tail_s", float64(p.Tail))
	faults.finite("exit_s", float64(p.Exit))
	for i, exit := range p.Exits {
		faults.finite(fmt.Sprintf("exits_s[%d]", i), float64(exit))
	}
	faults.check(len(p.Stages) > 0, "there are no stages")
	seen := make(map[int]bool, len(p.Stages))
	for i, s := range p.Stages {
		s.validate(&faults, fmt.Sprintf("stages[%d] (id %d): ", i, s.ID), seen)
		if i > 0 {
			faults.check(s.ID > p.Stages[i-1].ID, "stages[%d]: id %d does not follow %d", i, s.ID, p.Stages[i-1].ID)
			faults.check(s.Job >= p.Stages[i-1].Job, "stages[%d]: job %d after job %d", i, s.Job, p.Stages[i-1].Job)
		}
		seen[s.ID] = true
	}
	return faults.err("profile " + p.Name)
}

func (s ProfileStage) validate(f *faults, at string, earlier map[int]bool) {
	for _, parent := range s.Parents {
		f.check(earlier[parent], "%sparent %d is not a stage before it (a profile's graph has no cycles)", at, parent)
	}
	f.check(s.Tasks > 0, "%stasks is %d, want > 0", at, s.Tasks)
	f.check(s.Records > 0, "%srecords is %d, want > 0 (the number of tasks where Spark counts none)", at, s.Records)
	f.check(s.Bytes >= 0 && s.RecordsWritten >= 0 && s.BytesWritten >= 0, "%sa size is negative", at)
	f.positive(at+"duration_s", float64(s.Duration))
	f.finite(at+"gap_s", float64(s.Gap))
	f.positive(at+"core_seconds", float64(s.CoreSeconds))
	f.positive(at+"nominal_rate", float64(s.NominalRate))
	f.finite(at+"longest_task_s", float64(s.LongestTask))
	f.finite(at+"warmup_core_seconds", float64(s.Warmup))
	f.finite(at+"task_cost_core_seconds", float64(s.TaskCost))
	f.check(s.Reading >= 0 && s.Reading <= 1, "%sreading is %v, want 0 to 1", at, float64(s.Reading))
	f.check(s.FixedPart >= 0 && s.FixedPart <= 1, "%sfixed_part is %v, want 0 to 1", at, float64(s.FixedPart))
}

// Work is what all stages use, in core-seconds.
func (p Profile) Work() units.Work {
	var sum units.Work
	for _, s := range p.Stages {
		sum += s.CoreSeconds
	}
	return sum
}

// Encode returns p as indented JSON that DecodeProfile reads back.
func (p Profile) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("encode profile %s: %w", p.Name, err)
	}
	return b.Bytes(), nil
}
