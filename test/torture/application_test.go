package torture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
)

// workload is the application and its argument; stock Spark's answer is in testdata.
var workload = []string{"../e2e/testdata/branches.py", "0.5"}

// noPlanner is what one is excused by that finds no planner when it starts.
const noPlanner = "no planner answers"

// answer is what it prints on stock Spark.
const answer = "testdata/answer.txt"

// application is a run of the workload.
type application struct {
	c        *cluster
	name     string
	events   string
	deadline time.Duration
	run      *sparkrun.Process

	mu      sync.Mutex
	excuses []string
}

// submit starts an application with a deadline, 0 for none, and more flags.
func (c *cluster) submit(name string, deadline time.Duration, more ...string) (*application, error) {
	a := &application{c: c, name: name, deadline: deadline, events: filepath.Join(c.dir, "events", name)}
	if err := os.MkdirAll(a.events, 0o755); err != nil {
		return nil, err
	}
	host := c.address[driverPlace]
	flags := append([]string{"--driver-memory", "512m", "--conf", "spark.executor.memory=512m",
		"--conf", "spark.driver.host=" + host, "--conf", "spark.driver.bindAddress=" + host}, sparklog.Flags(a.events)...)
	if deadline > 0 {
		flags = append(flags, "--pacer-deadline", deadline.Round(time.Millisecond).String())
	}
	command := c.system.Submit(slices.Concat(flags, more, workload)...)
	var err error
	if command.Log, err = os.Create(filepath.Join(c.dir, name+".log")); err != nil {
		return nil, err
	}
	a.run, err = sparkrun.Start(command)
	return a, err
}

// excused notes the fault by which the application may fail.
func (a *application) excused(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.excuses = append(a.excuses, why)
}

// running reports whether it has not ended.
func (a *application) running() bool {
	select {
	case <-a.run.Exited():
		return false
	default:
		return true
	}
}

// id is Pacer's name for it, "" when it has not registered.
func (a *application) id() api.AppID {
	logs, _ := filepath.Glob(filepath.Join(a.events, "*"))
	if len(logs) != 1 {
		return ""
	}
	return api.AppID(strings.TrimSuffix(filepath.Base(logs[0]), ".inprogress"))
}

// log is its event log.
func (a *application) log() (sparklog.Log, error) { return sparklog.Read(a.events, a.id()) }

// since is a time of this process, or of an event log, on the application's clock.
func (a *application) since(at time.Time) float64 { return at.Sub(a.run.Began()).Seconds() }

// undisturbed is what the workload takes on the cluster alone: core-seconds of its tasks, and
// of its executors in all, which also start and compile; seconds in which not all cores work;
// seconds from its submission to its exit.
type undisturbed struct{ tasks, work, idle, took float64 }

// record runs the workload alone, so that the planner has its profile.
func (c *cluster) record(want string) undisturbed {
	c.t.Helper()
	a, err := c.submit("recording", 0)
	if err != nil {
		c.t.Fatal(err)
	}
	c.await("the recording run to end", 2*time.Minute, func() bool { return !a.running() })
	<-a.run.Done()
	if got := realenv.Results(a.run.Answer()); got != want {
		c.t.Fatalf("the recording run answers %q, want %q:\n%s", got, want, sparkrun.Tail(a.run.Output(), 4000))
	}
	log, err := a.log()
	if err != nil {
		c.t.Fatal(err)
	}
	c.await("the profile", 20*time.Second, func() bool { return c.command("profiles", "show", "e2e-branches") != "" })
	u := undisturbed{took: a.run.Took().Seconds()}
	for _, task := range log.Tasks {
		u.tasks += float64(task.CPU)
	}
	var shown api.AppDetail
	if err := json.Unmarshal([]byte(c.command("apps", "show", string(a.id()), "-o", "json")), &shown); err != nil {
		c.t.Fatalf("pacer apps show: %v", err)
	}
	u.work = float64(shown.CoreSeconds)
	u.idle = max(0, u.took-u.work/(cores*float64(len(c.names))))
	return u
}

// ended makes a Run of an application that has ended, or was given up.
func (a *application) ended(h *history, want string, u undisturbed, hung bool) Run {
	r := Run{Name: a.name, Deadline: a.deadline.Seconds(), Want: want, Work: u.work, Idle: u.idle, Hung: hung, Exit: -1}
	a.mu.Lock()
	excuses := slices.Clone(a.excuses)
	a.mu.Unlock()
	if hung {
		return r
	}
	<-a.run.Done()
	r.Took = a.run.Took().Seconds()
	r.Exit = exitCode(a.run)
	r.Answer = realenv.Results(a.run.Answer())
	if r.Exit != 0 && a.id() == "" && strings.Contains(a.run.Output(), noPlanner) {
		excuses = append(excuses, noPlanner)
	}
	if !strings.Contains(a.run.Output(), "No space left") {
		excuses = slices.DeleteFunc(excuses, func(why string) bool { return why == string(FillDisk) })
	}
	r.Excuse = strings.Join(excuses, ", ")
	if log, err := a.log(); err == nil {
		for _, task := range log.Tasks {
			if task.OK {
				// With its part of what executors take beside their tasks.
				cpu := float64(task.CPU) * u.work / u.tasks
				r.Tasks = append(r.Tasks, Task{Finish: a.since(time.UnixMilli(task.Finish)), CPU: cpu, Executor: string(task.Executor)})
			}
		}
		for _, id := range log.Removed {
			r.Lost = append(r.Lost, Loss{At: a.since(time.UnixMilli(log.Executor(id).Removed)), Executor: string(id)})
		}
	} else if r.Exit == 0 {
		a.c.t.Errorf("%s: %v", a.name, err)
	}
	h.of(a, &r)
	return r
}

// nameOf is the name of a user's n-th application.
func nameOf(user, n int) string { return fmt.Sprintf("app-%d-%d", user+1, n+1) }

// drawDeadlines draws a user's deadlines, as multiples of the least that is possible when
// nothing happens.
func drawDeadlines(seed uint64, user int) func() float64 {
	random := rand.New(rand.NewPCG(seed, uint64(user)+1))
	return func() float64 { return 1.5 + 2*random.Float64() }
}

func (a *application) String() string {
	return fmt.Sprintf("%s (%s)", a.name, a.id())
}
