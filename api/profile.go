package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"

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
	// Owner is the user whose runs alone teach it; "" is nobody: it counts for everybody who has none
	// of that name. Shared says that an operator has stored it for all, Taught that their runs teach it: else a run
	// makes of it one of its user's own.
	Owner  string `json:"owner,omitempty"`
	Shared bool   `json:"shared,omitempty"`
	Taught bool   `json:"taught,omitempty"`
	// Runs is how many runs were merged; 0 for a hand-written profile.
	Runs int `json:"runs"`
	// Duration is from the start of the deadline clock to the driver's exit.
	Duration units.Seconds `json:"duration_s"`
	// Cores is what was offered when it was recorded.
	Cores units.Cores `json:"cores"`
	// Contended says that no run had all its cores to itself so far. Its times are those of a run beside other
	// applications, capped, or of nodes that came and went; its work is its own.
	Contended bool `json:"contended,omitempty"`
	// ExecutorStart is the CPU time of an executor from its start until the first task,
	// 0 where it is not known.
	ExecutorStart units.Work `json:"executor_start_core_seconds,omitempty"`
	// Head passes before the first stage is ready, Tail between the last stage and the
	// context's stop, Exit between that and the exit of the driver's process.
	Head units.Seconds `json:"head_s"`
	// HeadContended says that no run started at once and alone so far: Head is that of one
	// that started beside others or was queued.
	HeadContended bool          `json:"head_contended,omitempty"`
	Tail          units.Seconds `json:"tail_s"`
	Exit          units.Seconds `json:"exit_s"`
	// Exits are those of the newest runs, oldest first, from which Exit follows; none
	// in a profile written by hand.
	Exits []units.Seconds `json:"exits_s,omitempty"`
	// ExitContended says that none of Exits was alone so far.
	ExitContended bool `json:"exit_contended,omitempty"`
	// Next names the profile of the context that the driver made after this one, "" where this
	// was the last: Exit passes until then.
	Next string `json:"next,omitempty"`
	// Reordered is the share of earlier runs whose queries or jobs came in another order than before, newer ones
	// counting more.
	Reordered units.Fraction `json:"reordered,omitempty"`
	// Habit is what is known of its program besides its stages.
	Habit ProfileHabit `json:"habit,omitzero"`
	// Stages are in order of ID, which is the order of submission.
	Stages []ProfileStage `json:"stages"`
	// Folds has how many stages, of as many jobs that look alike, the stage of an id stands for; others stand for
	// themselves. Its times, sizes and work are those of all of them, its tasks and the longest of them those of one.
	Folds map[int]int `json:"folds,omitempty"`
	// Residuals are what its newest runs had besides what was known of them, the newest first.
	Residuals []Residual `json:"residuals,omitempty"`
	// Share is the part of the newest runs of the name that were of this variant, newer ones counting
	// more; 0 where there is no other variant.
	Share units.Fraction `json:"share,omitempty"`
	// Variants are what the application does in other runs: profiles of the same name without variants
	// of their own, the likeliest first. This one is likelier than any of them.
	Variants []Profile `json:"variants,omitempty"`
}

// How likely an application is to be in time: where its user does not say, and what may be asked for. At the least
// nothing is kept for what nobody foresees.
const (
	UsualCertainty units.Fraction = 0.95
	LeastCertainty units.Fraction = 0.5
	MostCertainty  units.Fraction = 0.99
)

// ValidCertainty reports whether c may be asked for.
func ValidCertainty(c units.Fraction) bool { return c >= LeastCertainty && c <= MostCertainty }

const (
	// MostResiduals is how many runs a profile has residuals of.
	MostResiduals = 20
	// ReservePlaces is at how many places of the work there is one: at each eighth from 0 on.
	ReservePlaces = 9
)

// MostLogs is how many runs of event logs a profile knows.
const MostLogs = 100

// Residual is by how much a run differed from what its profile said.
type Residual struct {
	// Unforeseen is the most that it still had besides, in seconds at all cores, from each eighth of the work on.
	Unforeseen [ReservePlaces]units.Seconds `json:"unforeseen_s"`
	// End is by how much it ended after its aim, below 0 before it; 0 where it had none.
	End units.Seconds `json:"end_s,omitempty"`
}

// ProfileHabit is what earlier runs have shown of a program besides what its stages take.
type ProfileHabit struct {
	// FailedAt is how many times what it takes at all cores a SQL query, job or stage may take in a paced run. There is a
	// bound because one failed that does not fail at all cores; 0 for no bound. Suspected is that of the newest paced run,
	// which has failed, until a run at all cores shows whether pacing was why.
	FailedAt  float64 `json:"failed_at,omitempty"`
	Suspected float64 `json:"suspected,omitempty"`
	// Pool is the fair scheduler's pool that most of its work was submitted in, "" where jobs go in order.
	Pool string `json:"pool,omitempty"`
	// Stages are the habits of stages, by their ids.
	Stages map[int]StageHabit `json:"stages,omitempty"`
	// Logs name the newest runs that event logs have taught it, oldest first, so that none teaches it twice.
	Logs []string `json:"logs,omitempty"`
}

// StageHabit is what runs have shown of a stage besides what it takes: of one of those that it stands for.
type StageHabit struct {
	Growth Growth `json:"growth,omitzero"`
	// Spread is by which part its work differs from run to run where its input is the same, a standard deviation.
	Spread units.Fraction `json:"spread,omitempty"`
	// Collector is the part of its tasks' time in which garbage was collected. Spilled is what its tasks wrote to the disk
	// for lack of memory, PeakMemory the most that one of them had for its data, in bytes; 0 where nobody has told.
	Collector  units.Fraction `json:"collector,omitempty"`
	Spilled    float64        `json:"spilled_bytes,omitempty"`
	PeakMemory float64        `json:"peak_memory_bytes,omitempty"`
	// BytesRemote are those of its bytes that came from other hosts, nil where no run has told; BytesCached those that
	// came from blocks in memory. The rest is of disks.
	BytesRemote *int64 `json:"bytes_remote,omitempty"`
	BytesCached int64  `json:"bytes_cached,omitempty"`
	// Sure says how its work is known where no run under Pacer has measured it. Factor is how many times the CPU time of
	// its tasks' threads its groups used under Pacer: compiler, collector and Python are no such threads; 0 for unknown.
	Sure   Sure    `json:"sure,omitempty"`
	Factor float64 `json:"factor,omitempty"`
	Jump   Jump    `json:"jump,omitzero"`
}

// Sure is how the work of a stage is known.
type Sure string

const (
	// SureMeasured is work that groups have used, or work of a log by a factor that was measured so.
	SureMeasured Sure = ""
	// SureDerived follows from the time for which the tasks of its application ran without waiting.
	SureDerived Sure = "derived"
	// SureGuessed follows from nothing of the application.
	SureGuessed Sure = "guessed"
)

// Growth is how the work of a stage goes with its size, what it reads: as the power Power of that, from 0 to 2, within
// the standard deviation Doubt.
type Growth struct {
	Power float64 `json:"power"`
	Doubt float64 `json:"doubt"`
	// By is what sizes are counted in, "bytes" or "records", "" where nobody counts.
	By string `json:"by,omitempty"`
	// Runs have shown it. Size and Work are the means of their logarithms, and the others sums of products of how far
	// these were from them, newer ones counting more; all are 0 where only the power is known, and runs begin anew.
	Runs   int     `json:"runs"`
	Size   float64 `json:"size,omitempty"`
	Work   float64 `json:"work,omitempty"`
	Sizes  float64 `json:"sizes,omitempty"`
	Common float64 `json:"common,omitempty"`
	Works  float64 `json:"works,omitempty"`
}

// Jump says that a stage takes Times what it took before for the same input, in Runs runs since then.
type Jump struct {
	Times float64 `json:"times"`
	// Since is a day (2006-01-02), "" where it is not known.
	Since string `json:"since,omitempty"`
	Runs  int    `json:"runs"`
}

// ProfileStage is one stage's annotation.
type ProfileStage struct {
	// ID is unique in the profile; parents have smaller ones.
	ID int `json:"id"`
	// Job groups the stages of a job; a job starts after the one before it ended.
	Job       int    `json:"job"`
	Name      string `json:"name"`
	Signature string `json:"signature"`
	// Lineage is that of StageReady, "" where the driver has not said it.
	Lineage string `json:"lineage,omitempty"`
	// Query is that of StageReady, without the number that its query had in a run.
	Query   *QueryStage `json:"query,omitempty"`
	Parents []int       `json:"parents"`
	Tasks   int         `json:"tasks"`
	// Missed is how many runs in a row have lacked it.
	Missed int `json:"missed,omitempty"`
	// LeftOut is the share of earlier runs that have lacked it, newer ones counting more.
	LeftOut units.Fraction `json:"left_out,omitempty"`
	// Failed says that it fails in each run, whose program goes on without it: what it takes
	// is what it takes until then.
	Failed bool `json:"failed,omitempty"`
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
	// TaskCores is how many cores one of its tasks can use, 1 where it is left out: what it says
	// (spark.task.cpus), or what it was seen to use by several threads.
	TaskCores units.Cores `json:"task_cores,omitempty"`
	// Reading is the part of its CPU time in which a large or long task reads its records, 0
	// where none was: what is read tells how much of it is done.
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

// Count is how many stages the one of that id stands for.
func (p *Profile) Count(id int) int { return max(1, p.Folds[id]) }

// Part is s with that many times its times, sizes and work.
func (s ProfileStage) Part(part float64) ProfileStage {
	if part == 1 {
		return s
	}
	whole := func(n int64) int64 { return int64(math.Round(part * float64(n))) }
	s.Duration, s.Gap = s.Duration*units.Seconds(part), s.Gap*units.Seconds(part)
	s.CoreSeconds *= units.Work(part)
	s.Records, s.Bytes = max(1, whole(s.Records)), whole(s.Bytes)
	s.RecordsWritten, s.BytesWritten = whole(s.RecordsWritten), whole(s.BytesWritten)
	if s.CoreSeconds > 0 {
		s.NominalRate = units.Rate(float64(s.Records) / float64(s.CoreSeconds))
	}
	return s
}

// Width is how many cores one of s's tasks can use, 1 at least.
func (s *ProfileStage) Width() units.Cores { return max(1, s.TaskCores) }

// DecodeProfile reads a strict JSON profile by its schema (ProfileJSONSchema) and validates it: unknown fields and
// trailing data are errors; of a profile of a later version its version is.
func DecodeProfile(r io.Reader) (Profile, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Profile{}, Errorf(KindInvalid, "profile: %v", err)
	}
	var f faults
	checkProfile(&f, text)
	p, err := ReadProfile(text)
	if err == nil && len(f.list) == 0 {
		if err := p.Validate(); err != nil {
			return Profile{}, err
		}
		return *p, nil
	}
	var of struct {
		Schema int `json:"schema"`
	}
	switch {
	case json.Unmarshal(text, &of) == nil && of.Schema > ProfileSchema:
		return Profile{}, Errorf(KindInvalid, "profile: schema is %d, want %d: it is of a later version of Pacer",
			of.Schema, ProfileSchema)
	case err == nil:
		p.follow(&f)
	case len(f.list) == 0:
		f.add("%v", err)
	}
	return Profile{}, f.err("profile")
}

// Validate reports every fault of p at once as one KindInvalid error. Faults are schema, name, stage ids that repeat,
// parents that are unknown or do not precede their stage (so a graph that passes is acyclic). So are numbers that are
// not positive, more variants than MostVariants, more stages or parents in all of them than MostStages and MostEdges.
func (p Profile) Validate() error {
	var f faults
	f.check(p.Schema == ProfileSchema, "schema is %d, want %d", p.Schema, ProfileSchema)
	f.check(p.Name != "", "name is empty")
	f.text("name", p.Name, MostName)
	f.text("owner", p.Owner, MostName)
	f.check(!p.Shared || p.Owner == "", "it is shared and has the owner %q", Clip(p.Owner, MostToken))
	f.check(!p.Taught || p.Shared, "it is taught by all and not shared")
	f.count("the number of variants", 1+len(p.Variants), MostVariants)
	stages, edges := p.size()
	f.count("the number of stages", stages, MostStages)
	f.count("the number of parents of all stages", edges, MostEdges)
	if len(p.Variants) >= MostVariants || stages > MostStages || edges > MostEdges {
		return f.err("profile " + p.Name) // There is no end to what else may be wrong.
	}
	p.validate(&f)
	for i := range p.Variants {
		v := &p.Variants[i]
		f.in("variants", i)
		f.check(v.Schema == ProfileSchema, "schema is %d, want %d", v.Schema, ProfileSchema)
		f.check(len(v.Variants) == 0, "it has variants of its own")
		f.text("name", v.Name, MostName)
		f.text("owner", v.Owner, MostName)
		f.out()
		v.validate(&f)
	}
	return f.err("profile " + p.Name)
}

// size is how many stages p and its variants have, and how many parents these have.
func (p *Profile) size() (stages, edges int) {
	stages = len(p.Stages)
	for i := range p.Stages {
		edges += len(p.Stages[i].Parents)
	}
	for i := range p.Variants {
		s, e := p.Variants[i].size()
		stages, edges = stages+s, edges+e
	}
	return stages, edges
}

// validate looks at what p says of a run.
func (p *Profile) validate(f *faults) {
	f.text("next", p.Next, MostName)
	f.text("habit.pool", p.Habit.Pool, MostName)
	f.count("runs", p.Runs, MostCount)
	f.finite("duration_s", float64(p.Duration))
	f.between("cores", float64(p.Cores), 0, MostAmount)
	f.between("share", float64(p.Share), 0, 1)
	f.count("the number of residuals", len(p.Residuals), MostResiduals)
	for i, r := range p.Residuals[:min(len(p.Residuals), MostResiduals)] {
		f.in("residuals", i)
		for _, s := range r.Unforeseen {
			f.finite("unforeseen_s", float64(s))
		}
		f.between("end_s", float64(r.End), -MostAmount, MostAmount)
	}
	f.out()
	f.between("reordered", float64(p.Reordered), 0, 1)
	f.between("habit.failed_at", p.Habit.FailedAt, 0, MostAmount)
	f.between("habit.suspected", p.Habit.Suspected, 0, MostAmount)
	for _, h := range p.Habit.Stages {
		h.validate(f)
	}
	f.count("the number of habit.logs", len(p.Habit.Logs), MostLogs)
	for _, run := range p.Habit.Logs[:min(len(p.Habit.Logs), MostLogs)] {
		f.text("habit.logs", run, MostToken)
	}
	f.finite("executor_start_core_seconds", float64(p.ExecutorStart))
	f.finite("head_s", float64(p.Head))
	f.finite("tail_s", float64(p.Tail))
	f.finite("exit_s", float64(p.Exit))
	f.count("the number of exits_s", len(p.Exits), MostEvents)
	for i, exit := range p.Exits[:min(len(p.Exits), MostEvents)] {
		f.in("exits_s", i)
		f.finite("it", float64(exit))
	}
	f.out()
	f.check(len(p.Stages) > 0, "there are no stages")
	for i := range p.Stages {
		f.in("stages", i)
		p.Stages[i].validate(f)
	}
	f.out()
	p.follow(f)
}

// follow looks at how the stages of p follow one another.
func (p *Profile) follow(f *faults) {
	seen := make(map[int]bool, len(p.Stages))
	for i := range p.Stages {
		s := &p.Stages[i]
		f.in("stages", i)
		for _, parent := range s.Parents {
			f.check(seen[parent], "parent %d is not a stage before it (a profile's graph has no cycles)", parent)
		}
		if i > 0 {
			f.check(s.ID > p.Stages[i-1].ID, "id %d does not follow %d", s.ID, p.Stages[i-1].ID)
			f.check(s.Job >= p.Stages[i-1].Job, "job %d after job %d", s.Job, p.Stages[i-1].Job)
		}
		seen[s.ID] = true
	}
	f.out()
	for id := range p.Habit.Stages {
		f.check(seen[id], "habit.stages has stage %d, which is not there", id)
	}
	for id, n := range p.Folds {
		f.check(seen[id], "folds has stage %d, which is not there", id)
		f.between("folds", float64(n), 1, MostCount)
	}
}

func (s *ProfileStage) validate(f *faults) {
	f.between("id", float64(s.ID), -MostCount, MostCount)
	f.between("job", float64(s.Job), -MostCount, MostCount)
	f.text("name", s.Name, MostName)
	f.text("signature", s.Signature, MostName)
	f.text("lineage", s.Lineage, MostName)
	if s.Query != nil {
		s.Query.validate(f)
	}
	f.check(s.Tasks > 0, "tasks is %d, want > 0", s.Tasks)
	f.count("tasks", s.Tasks, MostCount)
	f.count("missed", s.Missed, MostCount)
	f.between("left_out", float64(s.LeftOut), 0, 1)
	f.check(s.Records > 0, "records is %d, want > 0 (the number of tasks where Spark counts none)", s.Records)
	least := min(s.Bytes, s.RecordsWritten, s.BytesWritten)
	most := max(s.Records, s.Bytes, s.RecordsWritten, s.BytesWritten)
	f.check(least >= 0, "a size is negative")
	f.check(most <= MostNumber, "a size is %d, at most %d is taken", most, int64(MostNumber))
	f.positive("duration_s", float64(s.Duration))
	f.finite("gap_s", float64(s.Gap))
	f.positive("core_seconds", float64(s.CoreSeconds))
	f.positive("nominal_rate", float64(s.NominalRate))
	f.finite("longest_task_s", float64(s.LongestTask))
	f.between("task_cores", float64(s.TaskCores), 0, MostCores)
	f.finite("warmup_core_seconds", float64(s.Warmup))
	f.finite("task_cost_core_seconds", float64(s.TaskCost))
	f.between("reading", float64(s.Reading), 0, 1)
	f.between("fixed_part", float64(s.FixedPart), 0, 1)
}

// aDay is what Jump.Since may be.
var aDay = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})?$`)

func (h *StageHabit) validate(f *faults) {
	g, j := &h.Growth, &h.Jump
	f.between("spread", float64(h.Spread), 0, MostAmount)
	f.between("collector", float64(h.Collector), 0, 1)
	f.finite("spilled_bytes", h.Spilled)
	f.finite("peak_memory_bytes", h.PeakMemory)
	if h.BytesRemote != nil {
		f.size("bytes_remote", *h.BytesRemote)
	}
	f.size("bytes_cached", h.BytesCached)
	f.check(h.Sure == SureMeasured || h.Sure == SureDerived || h.Sure == SureGuessed,
		"sure is %q, want derived or guessed", Clip(string(h.Sure), MostToken))
	f.finite("factor", h.Factor)
	f.between("growth.power", g.Power, 0, 2)
	f.finite("growth.doubt", g.Doubt)
	f.check(g.By == "" || g.By == "bytes" || g.By == "records", "growth.by is %q, want bytes or records",
		Clip(g.By, MostToken))
	f.count("growth.runs", g.Runs, MostCount)
	f.bounded("growth.size", g.Size)
	f.bounded("growth.work", g.Work)
	f.finite("growth.sizes", g.Sizes)
	f.bounded("growth.common", g.Common)
	f.finite("growth.works", g.Works)
	f.finite("jump.times", j.Times)
	f.check(aDay.MatchString(j.Since), "jump.since is %q, want a day such as 2026-11-20", Clip(j.Since, MostToken))
	f.count("jump.runs", j.Runs, MostCount)
}

// Work is what all stages use, in core-seconds.
func (p Profile) Work() units.Work {
	var sum units.Work
	for _, s := range p.Stages {
		sum += s.CoreSeconds
	}
	return sum
}

// Split returns the variants of p, p itself first, each with p's name and owner and no variants.
func (p Profile) Split() []Profile {
	all := append([]Profile{p}, p.Variants...)
	for i := range all {
		v := &all[i]
		v.Schema, v.Name, v.Owner, v.Shared, v.Variants = p.Schema, p.Name, p.Owner, p.Shared, nil
		v.Taught, v.Habit.FailedAt, v.Habit.Suspected = p.Taught, p.Habit.FailedAt, p.Habit.Suspected
		v.Habit.Logs = p.Habit.Logs
	}
	return all
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
