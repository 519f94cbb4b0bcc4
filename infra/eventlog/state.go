package eventlog

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// reader has what a log has said so far.
type reader struct {
	app     Application
	each    func(*Task)
	started bool
	last    int64 // The newest moment.
	names   names
	// long is a line that is longer than the buffer, task the newest one.
	long []byte
	task Task
	// jobs, executors, queries and stages are the places of what has that id in app.
	jobs, stages map[int]int
	queries      map[int64]int
	executors    map[api.ExecutorID]int
	// first is the job that needed a stage first.
	first   map[int]int
	running map[api.StageKey]*running
	// writers are the stages that write a shuffle of an RDD, by that; losses counts what shuffles may have lost
	// something by, wrote has how many of these there were when a stage ended.
	writers map[int][]int
	losses  int
	wrote   map[int]int
	// shapes counts the queries of a shape that had stages.
	shapes map[string]int
}

func newReader(each func(*Task)) *reader {
	return &reader{app: Application{Settings: Settings{}, Unknown: map[string]int{}}, each: each, names: names{},
		jobs: map[int]int{}, stages: map[int]int{}, queries: map[int64]int{}, executors: map[api.ExecutorID]int{},
		first: map[int]int{}, running: map[api.StageKey]*running{}, writers: map[int][]int{}, wrote: map[int]int{},
		shapes: map[string]int{}}
}

// end is what the whole log has said.
func (r *reader) end() Application {
	if r.app.Cut == "" && r.app.End == 0 {
		r.app.Cut = "it has no end of the application"
	}
	return r.app
}

// moment is a time, and kept where it is the newest.
func (r *reader) moment(at int64) int64 {
	r.last = max(r.last, at)
	return max(0, at)
}

// event is what matters of all events but those of tasks, by Spark's names.
type event struct {
	Version    string   `json:"Spark Version"`
	App        string   `json:"App ID"`
	AppAttempt string   `json:"App Attempt ID"`
	AppName    string   `json:"App Name"`
	User       string   `json:"User"`
	Timestamp  int64    `json:"Timestamp"`
	Exit       int      `json:"ExitCode"`
	Settings   Settings `json:"Spark Properties"`
	System     struct {
		Command string `json:"sun.java.command"`
	} `json:"System Properties"`
	Executor api.ExecutorID `json:"Executor ID"`
	Info     struct {
		Cores int `json:"Total Cores"`
	} `json:"Executor Info"`
	Job        int        `json:"Job ID"`
	Submitted  int64      `json:"Submission Time"`
	Completed  int64      `json:"Completion Time"`
	Stages     []int      `json:"Stage IDs"`
	Properties properties `json:"Properties"`
	Result     struct {
		Result string `json:"Result"`
	} `json:"Job Result"`
	Stage stageInfo         `json:"Stage Info"`
	Query int64             `json:"executionId"`
	Time  int64             `json:"time"`
	Plan  profiles.PlanNode `json:"sparkPlanInfo"`
	Error string            `json:"errorMessage"`
}

// properties are those of a job or a stage that matter.
type properties struct {
	Execution string `json:"spark.sql.execution.id"`
	Pool      string `json:"spark.scheduler.pool"`
	Stream    string `json:"sql.streaming.queryId"`
	Batch     string `json:"spark.streaming.internal.batchTime"`
}

// query is the number of the SQL query.
func (p *properties) query() int64 {
	if id, err := strconv.ParseInt(p.Execution, 10, 64); err == nil {
		return id
	}
	return NoQuery
}

// The versions of Spark whose logs are read.
const oldest, newest = 305, 403

var version = regexp.MustCompile(`^(\d{1,3})\.(\d{1,2})\b`)

func logStart(r *reader, e *event) error {
	parts := version.FindStringSubmatch(e.Version)
	if parts == nil {
		return fmt.Errorf("Spark Version is %q, want one such as 4.3.0", api.Clip(e.Version, api.MostToken))
	}
	major, _ := strconv.Atoi(parts[1])
	minor, _ := strconv.Atoi(parts[2])
	if v := 100*major + minor; v < oldest || v > newest {
		return fmt.Errorf("Spark Version is %s, want 3.5 to 4.3: the log may say other things", e.Version)
	}
	r.app.Spark = e.Version
	return nil
}

func applicationStart(r *reader, e *event) error {
	if r.started && (e.App != r.app.ID || e.AppAttempt != r.app.Attempt) {
		return fmt.Errorf("App ID is %q after %q: the log is of two applications", e.App, r.app.ID)
	}
	r.started, r.app.Start = true, r.moment(e.Timestamp)
	r.app.ID, r.app.Attempt, r.app.Name, r.app.User = e.App, e.AppAttempt, e.AppName, e.User
	return nil
}

func applicationEnd(r *reader, e *event) error {
	r.app.End, r.app.Failed = r.moment(e.Timestamp), e.Exit != 0
	return nil
}

func environment(r *reader, e *event) error {
	r.app.Settings, r.app.Command = e.Settings, e.System.Command
	return nil
}

func executorAdded(r *reader, e *event) error {
	r.executors[e.Executor] = len(r.app.Executors)
	r.app.Executors = append(r.app.Executors,
		Executor{ID: e.Executor, Cores: e.Info.Cores, Added: r.moment(e.Timestamp)})
	return nil
}

func executorRemoved(r *reader, e *event) error {
	if i, known := r.executors[e.Executor]; known && r.app.End == 0 {
		r.app.Executors[i].Removed = r.moment(e.Timestamp)
		r.losses++
	}
	return nil
}

func jobStart(r *reader, e *event) error {
	p := &e.Properties
	job := Job{ID: e.Job, Submitted: r.moment(e.Submitted), Stages: e.Stages, Query: p.query(), Pool: p.Pool}
	r.app.Streaming = r.app.Streaming || p.Stream != "" || p.Batch != ""
	for _, stage := range job.Stages {
		if _, known := r.first[stage]; !known {
			r.first[stage] = job.ID
		}
	}
	r.jobs[job.ID] = len(r.app.Jobs)
	r.app.Jobs = append(r.app.Jobs, job)
	return nil
}

func jobEnd(r *reader, e *event) error {
	if i, known := r.jobs[e.Job]; known {
		r.app.Jobs[i].Ended, r.app.Jobs[i].Failed = r.moment(e.Completed), e.Result.Result != "JobSucceeded"
	}
	return nil
}

// mostNodes is how many nodes a plan with a shape has at most; the driver finds none of a larger one either.
const mostNodes = 20000

func queryStart(r *reader, e *event) error {
	q := Query{ID: e.Query, Start: r.moment(e.Time), Nth: -1}
	if nodes(&e.Plan) <= mostNodes {
		q.Shape = e.Plan.Shape()
	}
	r.queries[q.ID] = len(r.app.Queries)
	r.app.Queries = append(r.app.Queries, q)
	return nil
}

// nodes is how many nodes a plan has.
func nodes(plan *profiles.PlanNode) int {
	n := 1
	for i := range plan.Children {
		n += nodes(&plan.Children[i])
	}
	return n
}

func queryEnd(r *reader, e *event) error {
	if i, known := r.queries[e.Query]; known {
		r.app.Queries[i].End, r.app.Queries[i].Failed = r.moment(e.Time), e.Error != ""
	}
	return nil
}

// stage is the stage of that id, nil for one that was not submitted.
func (r *reader) stage(id int) *Stage {
	i, known := r.stages[id]
	if !known {
		return nil
	}
	return &r.app.Stages[i]
}

// attempt is that attempt of a stage, nil where it was not submitted.
func (s *Stage) attempt(n int) *Attempt {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Attempts, func(a Attempt) bool { return a.Attempt == n })
	if i < 0 {
		return nil
	}
	return &s.Attempts[i]
}
