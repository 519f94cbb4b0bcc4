package fromlog

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Name is the name of the profile of the application of a log, as a run under Pacer would have it.
func Name(app *eventlog.Application) string {
	var program string
	words := strings.Fields(app.Command)
	for i, word := range words {
		sql := strings.HasPrefix(app.Name, "SparkSQL::") && i > 0 && words[i-1] == "-f"
		if sql || path.Base(word) == app.Name {
			program = word
		}
	}
	return profiles.Key(app.Name, program)
}

// teaches says why a log teaches no profile, nil where it does.
func teaches(app *eventlog.Application) error {
	switch {
	case app.Cut != "":
		return fmt.Errorf("it is cut off: %s", app.Cut)
	case app.Streaming:
		return fmt.Errorf("it is of a streaming query, which has no end to aim at")
	case app.Failed:
		return fmt.Errorf("its application failed")
	case len(app.Jobs) > 0 && app.Jobs[len(app.Jobs)-1].Failed: // A Python program that fails stops its context in order.
		return fmt.Errorf("its last job failed, and most likely its application with it")
	case !slices.ContainsFunc(app.Stages, func(s eventlog.Stage) bool { return s.Complete() }):
		return fmt.Errorf("it has no stage that is complete")
	}
	return nil
}

// Run returns the profile of the run that a log tells of, under that name, and what else is known of it. known is what
// earlier runs have taught, nil for nothing. An error says why the log teaches none.
func Run(app *eventlog.Application, name string, known *api.Profile) (api.Profile, profiles.Terms, error) {
	if err := teaches(app); err != nil {
		return api.Profile{}, profiles.Terms{}, err
	}
	f := factorsOf(app)
	if known != nil {
		f.learn(known, record(app, name, &f))
	}
	r := record(app, name, &f)
	if len(r.Attempts) > api.MostStages/api.MostVariants {
		r.Fold(api.MostStages / api.MostVariants) // So that it has room for variants.
	}
	run, err := r.Finish(since(app, app.End), cores(app))
	if err != nil {
		return api.Profile{}, profiles.Terms{}, err
	}
	run.Contended, run.HeadContended, run.ExitContended = true, true, true
	if declared := units.Cores(app.Settings.Number("spark.task.cpus", 1)); declared > 1 {
		for i := range run.Stages {
			run.Stages[i].TaskCores = max(min(declared, api.MostCores), run.Stages[i].TaskCores)
		}
	}
	return run, r.Terms(), run.Validate()
}

// since is a moment of a log on the deadline clock, which starts with the command where the log has that.
func since(app *eventlog.Application, at int64) units.Seconds {
	began := app.Start
	for _, name := range []string{"spark.pacer.submitted", "spark.app.submitTime"} {
		if submitted := app.Settings.Moment(name); submitted > 0 && submitted < began {
			began = submitted
			break
		}
	}
	return units.Seconds(float64(max(0, at-began)) / 1000)
}

// cores is how many cores its executors had at a time at most.
func cores(app *eventlog.Application) units.Cores {
	type change struct {
		at   int64
		more int
	}
	var changes []change
	for _, x := range app.Executors {
		changes = append(changes, change{x.Added, x.Cores})
		if x.Removed > 0 {
			changes = append(changes, change{x.Removed, -x.Cores})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.more-b.more) })
	now, most := 0, 1
	for _, c := range changes {
		now += c.more
		most = max(most, now)
	}
	return min(units.Cores(most), api.MostCores)
}

// record tells a recorder what the driver would have told, and what its groups would have used.
func record(app *eventlog.Application, name string, f *factors) *profiles.Recorder {
	type moment struct {
		at    int64
		end   bool
		stage *eventlog.Stage
		a     *eventlog.Attempt
	}
	var all []moment
	for i := range app.Stages {
		s := &app.Stages[i]
		for k := range s.Attempts {
			a := &s.Attempts[k]
			ended := cmp.Or(a.Completed, app.End) // The stop of its context has ended it.
			all = append(all, moment{a.Submitted, false, s, a}, moment{max(ended, a.Submitted), true, s, a})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	r := profiles.NewRecorder(name)
	group, open := 0, 0
	for _, m := range all {
		if m.end {
			open--
			done := done(app, m.stage, m.a)
			work, sure := f.work(m.stage, m.a)
			r.Done(since(app, m.at), done)
			r.Work(done.StageKey, work)
			r.Habit(done.StageKey, habit(&m.a.Done, sure))
			continue
		}
		if open == 0 { // Jobs at once are one, as the driver tells them.
			group = max(group, m.stage.Job)
		}
		open++
		r.Ready(since(app, m.at), ready(m.stage, m.a, group))
	}
	return r
}

func ready(s *eventlog.Stage, a *eventlog.Attempt, group int) api.StageReady {
	return api.StageReady{StageKey: api.StageKey{Stage: s.ID, Attempt: a.Attempt}, Job: group,
		Name: api.Clip(s.Name, api.MostName), Signature: s.Signature, Lineage: s.Lineage, Parents: s.Parents,
		Tasks: max(1, a.Tasks), Records: api.Unknown, Bytes: api.Unknown, Pool: s.Pool, Repeats: s.Repeats}
}

func done(app *eventlog.Application, s *eventlog.Stage, a *eventlog.Attempt) api.StageDone {
	t := &a.Done
	read, written := t.Read(), t.Written()
	d := api.StageDone{StageKey: api.StageKey{Stage: s.ID, Attempt: a.Attempt}, Failed: a.Failed != "" || a.Completed == 0,
		Reason: a.Failed, Tasks: t.Tasks, RecordsRead: read.Records, RecordsWritten: written.Records, BytesRead: read.Bytes,
		BytesWritten: written.Bytes, TaskCPU: t.CPU, TaskTime: t.Run, LongestTask: t.LongestCPU,
		FirstLaunch: since(app, t.First), LastFinish: since(app, t.Last)}
	if t.Input.Bytes == 0 { // A log does not say where other input came from.
		d.BytesRemote = new(t.RemoteBytes)
	}
	if s.Python { // The thread's time has nothing of its Python workers.
		d.LongestTask = max(t.LongestCPU, t.LongestRun)
	}
	d.FixedPart, d.TaskCost = fit(t)
	return d
}

func habit(t *eventlog.Totals, sure api.Sure) api.StageHabit {
	h := api.StageHabit{Sure: sure, Spilled: float64(t.SpilledDisk), PeakMemory: float64(t.PeakMemory)}
	if t.Run > 0 {
		h.Collector = units.Fraction(t.GC / t.Run).Clamp()
	}
	return h
}
