package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// over has an application of a user end in that state.
func (s *shelf) over(i int, user string, state api.AppState) {
	s.Helper()
	id := api.AppID(fmt.Sprintf("app-%d", i))
	s.know(time.Second, ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: id, State: api.AppRefused, User: user}},
		Run: ledger.Run{App: id, Profile: "etl", User: user, State: state}})
}

// Whatever a user has turned down, or runs, pushes out neither the history nor the runs of others.
func TestAttackHistoryWithoutEnd(t *testing.T) {
	for name, state := range map[string]api.AppState{"turned down": api.AppRefused, "killed at once": api.AppFailed} {
		t.Run(name, func(t *testing.T) {
			const most = 40 << 10
			s := newRuns(t, most)
			s.cfg.History = 8
			s.again()
			for i := range 10 {
				s.over(i, "ann", api.AppFinished)
			}
			for i := range 3000 {
				s.over(100+i, "mallory", state)
			}
			for _, when := range []string{"before", "after"} {
				hers, all := 0, 0
				for r := range s.View().Runs() {
					if all++; r.User == "ann" {
						hers++
					}
				}
				if bytes, _ := s.stored(); hers != 10 || all < 100 || bytes > most {
					t.Errorf("%s a restart %d runs of hers are kept, of %d in %d bytes", when, hers, all, bytes)
				}
				s.again()
			}
			ended := map[string]int{}
			for _, d := range s.View().Ended() {
				ended[d.Detail.User]++
			}
			if ended["ann"] != 4 || ended["mallory"] != 4 {
				t.Errorf("the history has %v", ended)
			}
		})
	}
}

// What one user has turned down pushes out what has run of that user last.
func TestAttackRefusalsBesideOnesOwnRuns(t *testing.T) {
	s := newRuns(t, 40<<10)
	for i := range 50 {
		s.over(i, "ann", api.AppFinished)
	}
	for i := range 3000 {
		s.over(100+i, "ann", api.AppRefused)
	}
	ran := 0
	for r := range s.View().Runs() {
		if r.State == api.AppFinished {
			ran++
		}
	}
	if ran != 50 {
		t.Errorf("%d of 50 runs are kept", ran)
	}
}
