package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// saying is a ledger that takes one fact after another and stores what it has to.
type saying struct {
	*testing.T
	*ledger.Ledger
	cfg  ledger.Config
	disk disk
	now  time.Duration
	seq  uint64
}

// says is one of a busy application, whose second executor runs nothing.
func says(t *testing.T, cfg ledger.Config) *saying {
	s := &saying{T: t, cfg: cfg, disk: disk{}, seq: 1}
	s.restart()
	for _, f := range facts() {
		s.know(f)
	}
	return s
}

func (s *saying) restart() {
	s.Helper()
	var err error
	if s.Ledger, err = ledger.New(s.cfg, s.disk.pairs()); err != nil {
		s.Fatal(err)
	}
	s.Ledger.Begin(units.Instant(time.Second + s.now))
}

func (s *saying) know(f ledger.Fact) {
	s.Helper()
	s.now += 100 * time.Millisecond
	s.Ledger.Begin(units.Instant(time.Second + s.now))
	if err := s.Record(f); err != nil {
		s.Fatal(err)
	}
	s.disk.take(s.Close())
}

// works has the node tell that an executor of a stage has used so much.
func (s *saying) works(stage api.StageKey, executor api.ExecutorID, used units.Work, finished int) {
	s.Helper()
	s.seq++
	told := status(s.seq, 0)
	told.Executors = []api.ExecutorStatus{{App: app, ID: executor, State: api.ExecutorRunning, CPU: used, Quota: api.Unknown}}
	told.Stages = []api.StageStatus{{App: app, StageKey: stage, Executor: executor, CPU: used, Finished: finished,
		Samples: []api.StageSample{{Progress: 0.5, Request: 1, Grant: 1, Used: 1, Running: 1}}}}
	s.know(ledger.NodeSaid{Status: told})
}

// However many stages have run, an application's samples stay within AllSamples but for two of each executor and stage,
// and come back after a restart.
func TestSamplesOfAllStagesAreBounded(t *testing.T) {
	cfg := config()
	cfg.AllSamples = 60
	s := says(t, cfg)
	for n := range 6 {
		stage := api.StageKey{Stage: 10 + n}
		s.know(ledger.StageReady{App: app, Ready: api.StageReady{StageKey: stage, Tasks: 4}, Seq: uint64(n + 2)})
		for i := range 80 {
			s.works(stage, "1", units.Work(i), 0)
		}
		s.know(ledger.StageEnded{App: app, Done: api.StageDone{StageKey: stage}, At: 9})
		s.know(ledger.Waited{For: time.Minute})
		before, sum := map[api.StageKey][]api.AppSample{}, 0
		for key, stage := range s.View().App(app).Stages {
			before[key] = stage.Samples.All()
			sum += len(before[key])
		}
		if sum > 60+4*(n+1) || len(before[stage]) == 0 {
			t.Errorf("%d samples after %d stages, %d of the last one", sum, n+1, len(before[stage]))
		}
		s.restart()
		for key, stage := range s.View().App(app).Stages {
			if d := cmp.Diff(before[key], stage.Samples.All()); d != "" {
				t.Errorf("after a restart (-before +after):\n%s", d)
			}
		}
	}
}

// Of a stage that has ended what it took is stored with its end.
func TestFiguresOfAStageThatIsDoneAreStoredWithIt(t *testing.T) {
	s := says(t, config())
	s.works(key, "1", 1, 0)
	s.works(key, "1", 15, 0)
	s.know(ledger.StageEnded{App: app, Done: api.StageDone{StageKey: key, Tasks: 4}, At: 9})
	s.restart()
	if used := s.View().App(app).Stages[key].Counters[0].CPU; used != 15 {
		t.Errorf("%v core-seconds are stored", used)
	}
}

// Executors that are lost count as lost in a row until a task has ended.
func TestLossesCountUntilATaskEnds(t *testing.T) {
	s := says(t, config())
	for n := range 3 {
		lost := api.ExecutorID(fmt.Sprint(n + 1))
		s.know(ledger.ExecutorLost{App: app, ID: lost, Node: "a"})
		s.know(ledger.ReplacementSent{App: app, ID: api.ExecutorID(fmt.Sprint(n + 3)), Lost: "a", Node: "a"})
		if got := len(s.View().App(app).Tenant.Replaced); got != n+1 {
			t.Fatalf("%d replacements count after %d", got, n+1)
		}
	}
	s.works(key, "5", 1, 0)
	if got := len(s.View().App(app).Tenant.Replaced); got != 3 {
		t.Errorf("%d count while no task has ended", got)
	}
	s.works(key, "5", 2, 1)
	if got := len(s.View().App(app).Tenant.Replaced); got != 0 {
		t.Errorf("%d count when a task has ended", got)
	}
}

// Of too many applications in the history the oldest go, and all but the newest keep few samples; so it is after a
// restart. A run that has gone cannot be taken back out of its profile.
func TestTheHistoryIsBoundedByNumber(t *testing.T) {
	cfg := config()
	cfg.History, cfg.DetailHistory = 3, 1
	s := says(t, cfg)
	s.know(ledger.ProfileSaved{Body: ledgertest.Chain("p"), By: "gone-0"})
	for n := range 6 {
		d := detail(api.AppID(fmt.Sprintf("gone-%d", n)), api.AppRefused)
		d.Profile, d.Stages = "p", []api.AppStage{{Samples: make([]api.AppSample, 1000)}}
		s.know(ledger.Refused{Detail: d})
	}
	if s.Record(ledger.RunTakenBack{Name: "p", App: "gone-0"}) == nil {
		t.Error("a run that is no history is taken back")
	}
	for range 2 {
		ended := s.View().Ended()
		if len(ended) != 3 || ended[0].Detail.ID != "gone-3" || len(ended[0].Detail.Stages[0].Samples) > 200 ||
			len(ended[2].Detail.Stages[0].Samples) != 1000 {
			t.Errorf("%d applications are kept, the first %s", len(ended), ended[0].Detail.ID)
		}
		s.restart()
	}
}
