package ledger_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// newRuns is a ledger that keeps runs for 30 days and in so many bytes.
func newRuns(t *testing.T, most int) *shelf {
	s := &shelf{T: t, cfg: config(), disk: map[string][]byte{}}
	s.cfg.History, s.cfg.RunAge, s.cfg.RunBytes = 3, 30*24*time.Hour, most
	s.again()
	return s
}

// again starts a ledger on what was saved.
func (s *shelf) again() {
	s.Helper()
	var pairs []api.Pair
	for key, value := range s.disk {
		pairs = append(pairs, api.Pair{Key: key, Value: value})
	}
	l, err := ledger.New(s.cfg, pairs)
	if err != nil {
		s.Fatal(err)
	}
	s.Ledger = l
}

func (s *shelf) refuse(after time.Duration, i int, r ledger.Run) {
	s.Helper()
	r.App, r.State = api.AppID(fmt.Sprintf("app-%d", i)), api.AppRefused
	s.know(after, ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: r.App, State: r.State}}, Run: r})
}

func (s *shelf) runs() (ids []string) {
	for r := range s.View().Runs() {
		ids = append(ids, string(r.App))
	}
	return ids
}

// stored is how many bytes the runs take in the store, in how many records.
func (s *shelf) stored() (bytes, records int) {
	for key, value := range s.disk {
		if strings.HasPrefix(key, "runs/") {
			bytes, records = bytes+len(value), records+1
		}
	}
	return bytes, records
}

// Runs outlive the history, a restart keeps them, and the oldest go first: by their bytes, and by their age.
func TestRunsAreKeptWithinTheirBounds(t *testing.T) {
	const most = 40 << 10
	s := newRuns(t, most)
	for i := range 1000 {
		s.refuse(time.Minute, i, ledger.Run{Profile: "etl", User: "ann", Duration: 60, Deadline: 90, Work: 123.4567, Mean: 2.5, Offered: 8})
		if bytes, _ := s.stored(); bytes > most {
			t.Fatalf("run %d: %d bytes", i, bytes)
		}
	}
	kept := s.runs()
	if n := len(kept); n < 100 || kept[n-1] != "app-999" || kept[0] != fmt.Sprintf("app-%d", 1000-n) || len(s.View().Ended()) != 3 {
		t.Fatalf("%d runs, %s to %s, %d in the history", n, kept[0], kept[n-1], len(s.View().Ended()))
	}
	if bytes, records := s.stored(); records > 1+bytes/(7<<10) {
		t.Errorf("%d bytes in %d records", bytes, records)
	}
	before := slices.Collect(s.View().Runs())
	s.again()
	for i, r := range slices.Collect(s.View().Runs()) {
		if *r != *before[i] {
			t.Fatalf("restored %+v, want %+v", r, before[i])
		}
	}
	s.refuse(31*24*time.Hour, 1000, ledger.Run{})
	if kept := s.runs(); len(kept) > 100 || kept[len(kept)-1] != "app-1000" {
		t.Errorf("a month later there are %d", len(kept))
	}
	s.refuse(31*24*time.Hour, 1001, ledger.Run{})
	if kept := s.runs(); len(kept) > 2 {
		t.Errorf("two months later there are %v", kept)
	}
}

// What is known later of an end is in the run, too; a snapshot has it as it was, and the same is read after a restart.
func TestARunSaysHowItsApplicationHasEnded(t *testing.T) {
	s := newRuns(t, 1<<20)
	for i := range 100 {
		s.refuse(time.Second, i, ledger.Run{Duration: 5})
	}
	snapshot := s.View().Snapshot()
	s.know(time.Second, ledger.EndedAmended{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-98", State: api.AppFailed, Duration: 7}}})
	for i := range 2 {
		if r := slices.Collect(s.View().Runs())[98]; r.State != api.AppFailed || r.Duration != 7 || r.App != "app-98" {
			t.Errorf("after %d restarts: %+v", i, r)
		}
		s.again()
	}
	if r := slices.Collect(snapshot.Runs())[98]; r.State != api.AppRefused || r.Duration != 5 {
		t.Errorf("the snapshot has %+v", r)
	}
	if err := s.Record(ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-200", State: api.AppRefused}},
		Run: ledger.Run{App: "app-201"}}); err == nil {
		t.Error("the run of another application is taken")
	}
}

// A run takes at most MostRun bytes, whatever its names and numbers are, and two users stay two.
func TestARunIsSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(0, 1e15)
		s := &shelf{T: nil, cfg: config(), disk: map[string][]byte{}}
		l, err := ledger.New(s.cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.OneOf(rapid.StringN(0, 300, 1024), rapid.SampledFrom([]string{strings.Repeat("<", 128), strings.Repeat("\x00", 90), strings.Repeat("é", 64)}))
		r := ledger.Run{App: api.AppID("app-20261121043012-" + strings.Repeat("9", 20) + "-3fa94c-8d969eef6ecad3c2"), Profile: name.Draw(t, "profile"),
			User: name.Draw(t, "user"), Class: api.ClassInteractive, State: api.AppFinished, Killed: true,
			Duration: units.Seconds(number.Draw(t, "duration")), Deadline: units.Seconds(number.Draw(t, "deadline")), Work: units.Work(number.Draw(t, "work")),
			Compared: units.Work(number.Draw(t, "compared")), Profiled: units.Work(number.Draw(t, "profiled")),
			Mean: units.Cores(rapid.Float64Range(0, api.MostCores).Draw(t, "mean")), Offered: units.Cores(rapid.Float64Range(0, api.MostCores).Draw(t, "offered"))}
		l.Begin(units.Instant(time.Date(2200, 1, 1, 0, 0, 0, 999999999, time.UTC).UnixNano()))
		if err := l.Record(ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: r.App, State: api.AppRefused}}, Run: r}); err != nil {
			t.Fatal(err)
		}
		for kept := range l.View().Runs() {
			if b, err := json.Marshal(kept); err != nil || len(b) > ledger.MostRun {
				t.Fatalf("%d bytes, %v: %s", len(b), err, b)
			}
			if kept.User != ledger.RunName(r.User) || ledger.RunName(r.User+"x") == kept.User {
				t.Fatalf("user %q is %q", r.User, kept.User)
			}
		}
	})
}
